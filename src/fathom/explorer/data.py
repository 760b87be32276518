"""The data of a page: what its first screen needs at once, and compressed blocks for the rest."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom import __version__
from fathom.config.scoring import Summary
from fathom.config.short_names import shorten_names
from fathom.explorer.advice import FEWEST_PAIRS, TOO_MANY, UNKNOWN_RANK, describe_advice
from fathom.explorer.analyses import collect_analyses
from fathom.explorer.answers import LABELS, answer, describe_answers, list_pieces
from fathom.explorer.attachments import collect_figures, collect_models, collect_tables
from fathom.explorer.encoding import pack_file, pack_json, pack_numbers
from fathom.explorer.question_sets import list_questions
from fathom.explorer.run import CORRELATIONS, ORDERS, SUMMARY, Benchmark, Row, Run, choose_order
from fathom.explorer.subfields import describe_keywords, group_domains, sum_keywords
from fathom.explorer.terms import define_terms, define_variants, warn_of_vocabularies
from fathom.explorer.wording import to_text
from fathom.jobs.program import log
from fathom.statistics.aggregates import MEAN
from fathom.statistics.metrics import BASELINES, BITS, RANK

if TYPE_CHECKING:
    import polars as pl

LIMIT = 12_000_000
"""Characters of compressed pairs and questions in a page; benchmarks and sets beyond it are shown without."""

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
    subfields = group_domains(run)
    summary = run.rows.get(SUMMARY, [])
    for number, benchmark in enumerate(run.benchmarks):
        described = _describe_benchmark(benchmark) | describe_answers(benchmark, run.benchmarks, run.origins)
        for name, each in described["statistics"].items():
            each["advice"] = describe_advice(benchmark, ORDERS[name], summary, settings)
            ceiling = benchmark.rankings[name].ceiling
            each["terms"] = define_terms(ORDERS[name], settings.trim, ceiling)
            each["vocabularies"] = list_pieces(warn_of_vocabularies(benchmark, ORDERS[name]))
        described["keywordsBlock"] = f"keywords-{number}"
        own = subfields.get(benchmark.domain, ([], {}))
        found = {
            metric.name: describe_keywords(
                sum_keywords(benchmark, metric), own, settings, len(run.benchmarks)
            )
            for metric in (BITS, RANK)
        }
        blocks[described["keywordsBlock"]] = pack_json(found)
        benchmarks.append(described | _add_pairs(benchmark, number, blocks, missing))
    sets = _add_questions(run, blocks, missing)
    analyses, (figures, images) = collect_analyses(run), collect_figures(run)
    for name, block in (
        ("tables", collect_tables(run)),
        ("analyses", analyses),
        ("models", collect_models(run)),
        ("figure-list", figures),
    ):
        blocks[name] = pack_json(block)
    blocks |= {name: pack_file(path) for name, path in images.items()}
    overview = {
        "run": run.name,
        "version": __version__,
        "confidence": settings.confidence,
        "trim": settings.trim,
        "unknownRank": UNKNOWN_RANK,
        "fewestPairs": FEWEST_PAIRS,
        "tooMany": TOO_MANY,
        "models": list(run.models),
        "short": shorten_names(dict.fromkeys(name for each in run.benchmarks for name in each.ranks)),
        "statistics": _list_orders(),
        "variants": define_variants([each.variant for each in run.benchmarks]),
        "benchmarks": benchmarks,
        "metrics": _list_metrics(summary),
        "baselines": [[each.name, each.label, each.sign] for each in BASELINES],
        "correlations": [
            [row[name] for name in ("domain", "x", "y", "value", "ci_low", "ci_high", "models")]
            for row in run.rows.get(CORRELATIONS, [])
            if row["statistic"] == "kendall" and "bits_per_byte" in (row["x"], row["y"])
        ],
        "computed": run.computed,
        "analyses": list(analyses),
        "questions": sets,
        "figures": len(figures),
        "missing": missing,
    }
    first = to_text(answer(run.benchmarks[0], choose_order(run.benchmarks[0]))) if run.benchmarks else ""
    return PageData(overview, blocks, first)


def _list_orders() -> list[dict[str, Any]]:
    """Return what models can be ordered by: name and label, metric and statistic, and which end is good."""
    return [
        {
            "name": name,
            "label": each.label,
            "metric": [each.metric.name, each.metric.label],
            "aggregate": [each.statistic.name, each.statistic.label],
            "sign": each.metric.sign,
        }
        for name, each in ORDERS.items()
    ]


def _add_pairs(
    benchmark: Benchmark, number: int, blocks: dict[str, str], missing: list[str]
) -> dict[str, str]:
    """Add the blocks of pairs, and of rivals with bits, if the page has room for them; return their ids."""
    kinds = {
        "pairs": ({"texts": f"texts-{number}", "ranks": f"ranks-{number}"}, _pack_pairs(benchmark)),
        "rivals": (
            {"rivals": f"rivals-{number}", "rivalRanks": f"rival-ranks-{number}", "bits": f"bits-{number}"},
            _pack_rivals(benchmark),
        ),
    }  # fmt: skip
    found: dict[str, str] = {}
    for what, (ids, packed) in kinds.items():
        if packed and has_room(blocks, *packed):
            blocks |= dict(zip(ids.values(), packed, strict=True))
            found |= ids
        elif packed:
            missing.append(leave_out(f"{benchmark.domain}, {benchmark.variant}", what))
            break  # rivals are shown with their pairs
    return found


def _add_questions(run: Run, blocks: dict[str, str], missing: list[str]) -> dict[str, str]:
    """Add a block for each set of questions; return their ids by set."""
    found = {}
    for number, asked in enumerate(run.questions):
        packed = pack_json(list_questions(asked))
        if has_room(blocks, packed):
            found[asked.name] = f"questions-{number}"
            blocks[found[asked.name]] = packed
        else:
            missing.append(leave_out(asked.name, "questions"))
    return found


def has_room(blocks: Mapping[str, str], *more: str) -> bool:
    """Return whether a page has room for further blocks."""
    return sum(map(len, blocks.values())) + sum(map(len, more)) <= LIMIT


def leave_out(name: str, what: str) -> str:
    """Return, and log, that the pairs or questions of something are not in the page."""
    log.info("%s: its %s are left out of the page, which would be too large", name, what)
    return f"{name}: its {what} are left out of this page, which would be too large with them."


def _describe_benchmark(benchmark: Benchmark) -> dict[str, Any]:
    """Return size, dates and manifest of one benchmark."""
    kept, manifest = benchmark.kept, benchmark.manifest
    dates = sorted(date for date in kept["date"].unique().to_list() if date)
    return {
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
        "heldOut": _count_held_out(manifest),
        "dates": [dates[0], dates[-1]] if dates else [],
        "manifest": {
            name: manifest[name] for name in ("files", "inputs", "packages", "parameters") if name in manifest
        },
        "texts": "",
        "ranks": "",
        "rivals": "",
        "rivalRanks": "",
        "bits": "",
    }


def _count_held_out(manifest: Mapping[str, Any]) -> list[int]:
    """Return how many words of held-out text occur in training text, and of how many; or nothing."""
    counts = manifest.get("reports", {}).get("held_out_overlap") or {}
    found = [counts.get(name, 0) for name in ("words_in_training_text", "words")]
    return found if found[0] else []


def _list_metrics(summary: Sequence[Row]) -> list[list[Any]]:
    """Return domain, variant, model, metric, aggregate, value, low, high of what the heat map shows."""
    shown = {(each.metric.name, each.statistic.name) for each in ORDERS.values()}
    shown |= {(each.name, MEAN.name) for each in BASELINES}
    names = ("domain", "variant", "model", "metric", "aggregate", "value", "ci_low", "ci_high")
    return [[row[name] for name in names] for row in summary if (row["metric"], row["aggregate"]) in shown]


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
        # nothing: no pair has one, as in a reference
        "association": [] if pairs["association"].is_nan().all() else _round(pairs["association"]),
        "leftOut": np.flatnonzero(benchmark.left_out).tolist(),
    }
    ranks = np.array(list(benchmark.ranks.values())).reshape(len(benchmark.ranks), len(pairs))
    return pack_json(texts), pack_numbers(ranks)


def _pack_rivals(benchmark: Benchmark) -> tuple[str, str, str] | None:
    """Return words that win, ranks among rivals and bits, by model as blocks; None if no rival is known."""
    import numpy as np

    ranks = np.array([each["rival_rank"].to_numpy() for each in benchmark.rivals.values()])
    if list(benchmark.rivals) != list(benchmark.ranks) or not np.isfinite(ranks).any():
        return None
    said = [each["rival"].to_list() for each in benchmark.rivals.values()]
    words = sorted({word for each in said for word in each if word})
    places = {word: place for place, word in enumerate(words)}
    first = [[places.get(word, -1) for word in each] for each in said]
    # a page shows two decimals; more would be most of the block
    bits = np.round([each["bits"].to_numpy() for each in benchmark.rivals.values()], 2)
    return pack_json({"words": words, "first": first}), pack_numbers(ranks), pack_numbers(bits)


def _round(numbers: "pl.Series") -> list[float | None]:
    """Return numbers with one decimal, as a page shows them; None for NaN."""
    return numbers.round(1).fill_nan(None).to_list()


def link_document(doc_id: str, source: str) -> str:
    """Return the address of a document, on arXiv or as its id says it; or nothing."""
    if source == "arxiv" and _ARXIV.fullmatch(doc_id):
        return f"https://arxiv.org/abs/{doc_id}"
    return doc_id if re.fullmatch(r"https?://[^\s<>\"']+", doc_id) else ""
