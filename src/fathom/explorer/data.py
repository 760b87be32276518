"""The data of a page: what its first screen needs at once, and compressed blocks for the rest."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom import __version__
from fathom.config.scoring import Summary
from fathom.explorer.advice import (
    FEWEST_PAIRS,
    UNKNOWN_RANK,
    find_disagreements,
    find_unknown_keywords,
    find_unsettled,
)
from fathom.explorer.answers import LABELS, Sentence, answer, explain, to_text
from fathom.explorer.attachments import collect_figures, collect_models, collect_tables
from fathom.explorer.encoding import pack_json, pack_numbers
from fathom.explorer.run_tables import Benchmark, Row, Run, read_number
from fathom.explorer.study_data import collect_studies
from fathom.explorer.subfields import (
    Keywords,
    assign_subfields,
    measure_strengths,
    read_vectors,
    sum_keywords,
)
from fathom.jobs.program import log
from fathom.statistics.aggregates import COMPARED, MEAN
from fathom.statistics.metrics import BASELINES, RANK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LIMIT = 12_000_000
"""Characters of compressed pairs in a page; benchmarks beyond it are shown without their pairs."""

_ARXIV = re.compile(r"(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7})")


class PageData(NamedTuple):
    """What a page holds.

    Attributes
    ----------
    overview : dict
        For the first screen.
    blocks : dict of str to str
        Compressed, in base64, by id.
    answer : str
        The first answer as plain text.
    """

    overview: dict[str, Any]
    blocks: dict[str, str]
    answer: str


def collect_data(run: Run, settings: Summary) -> PageData:
    """Collect the data of a page.

    Parameters
    ----------
    run : Run
    settings : Summary
        For the intervals of sub-fields; `confidence` and `trim` are named in the page.

    Returns
    -------
    PageData
        Equal tables give equal data.
    """
    missing = list(run.missing)
    blocks: dict[str, str] = {}
    benchmarks = []
    groups = _group_domains(run)
    for number, benchmark in enumerate(run.benchmarks):
        described = _describe_benchmark(run, benchmark)
        keywords = sum_keywords(benchmark) if benchmark.ranks else None
        subfields = _describe_keywords(benchmark, keywords, groups[benchmark.domain], settings)
        texts, ranks = _pack_pairs(benchmark)
        used = sum(map(len, blocks.values()))
        if used + len(texts) + len(ranks) > LIMIT:
            name = f"{benchmark.domain}, {benchmark.variant}"
            log.info("%s: its pairs are left out of the page, which would be too large", name)
            missing.append(
                f"{name}: its pairs are left out of this page, which would be too large with them."
            )
            described["texts"] = ""
        else:
            described["texts"], described["ranks"] = f"texts-{number}", f"ranks-{number}"
            blocks[described["texts"]], blocks[described["ranks"]] = texts, ranks
        described["keywordsBlock"] = f"keywords-{number}"
        blocks[described["keywordsBlock"]] = pack_json(subfields)
        described["advice"] = _describe_advice(run, benchmark, keywords)
        benchmarks.append(described)
    blocks["tables"] = pack_json(collect_tables(run.folder))
    studies = collect_studies(run, missing)
    blocks["studies"] = pack_json(studies)
    blocks["models"] = pack_json(collect_models(run.folder, run.models))
    figures, images = collect_figures(run.folder)
    blocks.update(images, figures=pack_json(figures))
    overview = {
        "run": run.folder.resolve().name,
        "version": __version__,
        "confidence": settings.confidence,
        "trim": settings.trim,
        "unknownRank": UNKNOWN_RANK,
        "fewestPairs": FEWEST_PAIRS,
        "models": run.models,
        "statistics": [{"name": each.name, "label": each.label} for each in COMPARED],
        "benchmarks": benchmarks,
        "metrics": _list_metrics(run.summary),
        "baselines": [[each.name, each.label, each.sign] for each in BASELINES],
        "correlations": [
            [row[name] for name in ("domain", "x", "y", "value", "ci_low", "ci_high", "models")]
            for row in run.correlations
            if row["statistic"] == "kendall" and "bits_per_byte" in (row["x"], row["y"])
        ],
        "computed": run.computed,
        "studies": list(studies),
        "figures": len(figures),
        "missing": missing,
    }
    first = to_text(answer(run, run.benchmarks[0], COMPARED[0].name)) if run.benchmarks else ""
    return PageData(overview, blocks, first)


def _describe_benchmark(run: Run, benchmark: Benchmark) -> dict[str, Any]:
    """Return size, dates, ranking, comparisons and answers of one benchmark."""
    kept = benchmark.kept
    dates = sorted(date for date in kept["date"].unique().to_list() if date)
    manifest = benchmark.manifest
    found: dict[str, Any] = {
        "id": f"{benchmark.domain}/{benchmark.variant}",
        "domain": benchmark.domain,
        "title": benchmark.title,
        "variant": benchmark.variant,
        "label": LABELS.get(benchmark.variant, benchmark.variant),
        "models": list(benchmark.ranks),
        "pairs": len(benchmark.pairs),
        "kept": len(kept),
        "keywords": kept["keyword"].n_unique(),
        "documents": kept["doc_id"].n_unique(),
        "dates": [dates[0], dates[-1]] if dates else [],
        "manifest": {
            name: manifest[name] for name in ("files", "inputs", "packages", "parameters") if name in manifest
        },
        "statistics": {},
        "ranks": "",
    }
    for statistic in COMPARED:
        ranked = run.rank(benchmark, statistic.name)
        if ranked:
            found["statistics"][statistic.name] = {
                "ranking": _list_ranking(run, benchmark, ranked),
                "comparisons": _list_comparisons(run.compare(benchmark, statistic.name)),
                "answer": _list_pieces(answer(run, benchmark, statistic.name)),
                "details": [_list_pieces(each) for each in explain(run, benchmark, statistic.name)],
            }
    if not found["statistics"]:
        found["answer"] = _list_pieces(answer(run, benchmark, COMPARED[0].name))
    return found


def _list_ranking(run: Run, benchmark: Benchmark, ranked: Sequence[Row]) -> list[list[Any]]:
    """Return model, value, low, high and letters, best model first."""
    aggregate = ranked[0]["aggregate"]
    ends = {
        row["model"]: (read_number(row["ci_low"]), read_number(row["ci_high"]))
        for row in run.summary
        if (row["domain"], row["variant"]) == (benchmark.domain, benchmark.variant)
        and (row["metric"], row["aggregate"]) == ("rank", aggregate)
    }
    return [
        [row["model"], read_number(row["value"]), *ends.get(row["model"], (None, None)), row["groups"]]
        for row in ranked
    ]


def _list_comparisons(rows: Sequence[Row]) -> list[list[Any]]:
    """Return better, worse, difference, low, high, p, apart."""
    names = ("difference", "ci_low", "ci_high", "p")
    return [
        [row["better"], row["worse"], *(read_number(row[name]) for name in names), row["apart"] == "yes"]
        for row in rows
    ]


def _list_pieces(sentence: Sentence) -> list[list[Any]]:
    """Return a sentence as JSON: text, and whether it is a name."""
    return [[piece.text, piece.name] for piece in sentence]


def _list_metrics(summary: Sequence[Row]) -> list[list[Any]]:
    """Return domain, variant, model, metric, aggregate, value, low, high of what the heat map shows."""
    shown = {(RANK.name, each.name) for each in COMPARED}
    shown |= {(each.name, MEAN.name) for each in BASELINES}
    return [
        [
            *(row[name] for name in ("domain", "variant", "model", "metric", "aggregate")),
            *(read_number(row[name]) for name in ("value", "ci_low", "ci_high")),
        ]
        for row in summary
        if (row["metric"], row["aggregate"]) in shown
    ]


def _describe_advice(run: Run, benchmark: Benchmark, keywords: Keywords | None) -> dict[str, Any]:
    """Return what to do next on one benchmark."""
    if keywords is None:
        return {"unsettled": [], "unknown": [], "disagreements": []}
    return {
        "unsettled": [list(each[2:]) for each in find_unsettled(run, benchmark)],
        "unknown": [list(each[2:]) for each in find_unknown_keywords(benchmark, keywords)],
        "disagreements": [list(each[2:]) for each in find_disagreements(run, benchmark)],
    }


def _group_domains(run: Run) -> dict[str, tuple[list[str], dict[str, int]]]:
    """Return the sub-fields of each domain and those of its keywords, the same for all its benchmarks."""
    found = {}
    for domain in sorted({benchmark.domain for benchmark in run.benchmarks}):
        vectors = read_vectors(run.folder / domain)
        names = {
            keyword
            for benchmark in run.benchmarks
            if benchmark.domain == domain
            for keyword in benchmark.kept["keyword"].unique().to_list()
        }
        known = sorted(names & set(vectors))
        labels, codes = assign_subfields(vectors, known)
        found[domain] = labels, dict(zip(known, codes, strict=True))
    return found


def _describe_keywords(
    benchmark: Benchmark,
    keywords: Keywords | None,
    groups: tuple[list[str], Mapping[str, int]],
    settings: Summary,
) -> dict[str, Any]:
    """Return keywords with ranks, and sub-fields with strengths if every keyword belongs to one."""
    if keywords is None:
        return {"keywords": [], "pairs": [], "ranks": [], "codes": [], "subfields": []}
    labels, codes = groups
    found: dict[str, Any] = {
        "keywords": keywords.names,
        "pairs": keywords.pairs.tolist(),
        "ranks": _round(keywords.ranks),
        "codes": [],
        "subfields": [],
    }
    if labels and all(name in codes for name in keywords.names):
        used = sorted({codes[name] for name in keywords.names})
        found["codes"] = [used.index(codes[name]) for name in keywords.names]
        strengths = measure_strengths(keywords, found["codes"], settings)
        columns = [_round(each) for each in strengths]
        found["subfields"] = [
            [labels[code], *(column[place] for column in columns)] for place, code in enumerate(used)
        ]
    return found


def _round(values: "NDArray[np.float64]") -> list[list[float | None]]:
    """Return numbers with five significant digits, None for what is not finite."""
    return [
        [float(f"{value:.5g}") if math.isfinite(value) else None for value in row] for row in values.tolist()
    ]


def _pack_pairs(benchmark: Benchmark) -> tuple[str, str]:
    """Return the texts of a benchmark's pairs, and the ranks of its models, as blocks."""
    import numpy as np

    pairs = benchmark.pairs
    keywords, codes = np.unique(pairs["keyword"].to_numpy(), return_inverse=True)
    documents, places = np.unique(pairs["doc_id"].to_numpy(), return_inverse=True)
    source = benchmark.manifest.get("parameters", {}).get("corpus", {}).get("source", "")
    texts = {
        "ids": pairs["pair_id"].to_list(),
        "keywords": keywords.tolist(),
        "keyword": codes.tolist(),
        "prompts": pairs["prompt"].to_list(),
        "targets": pairs["target"].to_list(),
        "documents": documents.tolist(),
        "links": [link_document(str(name), str(source)) for name in documents.tolist()],
        "document": places.tolist(),
        "dates": pairs["date"].to_list(),
        "leftOut": np.flatnonzero(benchmark.left_out).tolist(),
    }
    ranks = np.array(list(benchmark.ranks.values())).reshape(len(benchmark.ranks), len(pairs))
    return pack_json(texts), pack_numbers(ranks)


def link_document(doc_id: str, source: str) -> str:
    """Return the address of a document, on arXiv or as its id says it; or nothing."""
    if source == "arxiv" and _ARXIV.fullmatch(doc_id):
        return f"https://arxiv.org/abs/{doc_id}"
    return doc_id if re.fullmatch(r"https?://[^\s<>\"']+", doc_id) else ""
