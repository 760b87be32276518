"""The data of a page: data for its first screen, and compressed blocks for the rest.

Blocks are in base64, and JSON cannot end its script. Finished tables and figures of a run appear beside the
page's own charts.
"""

import base64
import gzip
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
import polars as pl
from numpy.typing import NDArray

from fathom import __version__
from fathom.config.scoring import Summary
from fathom.explorer.advice import FEWEST_PAIRS, TOO_MANY, UNKNOWN_RANK, describe_advice
from fathom.explorer.analyses import collect_analyses, list_questions
from fathom.explorer.answers import (
    answer,
    define_terms,
    define_variants,
    describe_answers,
    list_pieces,
    to_text,
    warn_of_vocabularies,
)
from fathom.explorer.checks import LEFT_OUT
from fathom.explorer.run import CORRELATIONS, ORDERS, SUMMARY, Benchmark, Row, Run, choose_order
from fathom.explorer.subfields import describe_keywords, group_domains, sum_keywords
from fathom.figures.catalogue import CATALOGUE, find_figure
from fathom.io import paths
from fathom.io.contracts import list_contracts
from fathom.io.run_path import RunPath
from fathom.jobs.program import log
from fathom.statistics.aggregates import LEADING, MEAN, STATISTICS
from fathom.statistics.metrics import BASELINES, Metric

LIMIT = 12_000_000
"""Most characters of compressed pairs and questions in a page; further ones are left out."""

_ARXIV = re.compile(r"(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7})")


class PageData(NamedTuple):
    """Content of a page: the first screen, compressed blocks in base64 by id, the answer as plain text."""

    overview: dict[str, Any]
    blocks: dict[str, str]
    answer: str


def collect_data(run: Run, settings: Summary) -> PageData:
    """Collect the data of a page; equal tables give equal data."""
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
            unit: describe_keywords(sum_keywords(benchmark, metric), own, settings, len(run.benchmarks))
            for unit, metric in _list_units().items()
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
    names = run.names
    overview = {
        "run": run.name,
        "version": __version__,
        "confidence": settings.confidence,
        "trim": settings.trim,
        "unknownRank": UNKNOWN_RANK,
        "fewestPairs": FEWEST_PAIRS,
        "tooMany": TOO_MANY,
        "models": list(run.models),
        "short": names,
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
    first = answer(run.benchmarks[0], choose_order(run.benchmarks[0])) if run.benchmarks else []
    called = [each._replace(text=names.get(each.text, each.text)) for each in first]
    return PageData(overview, blocks, to_text(called))


def _list_units() -> dict[str, Metric]:
    """Return units of the orders, each with the first metric in it, which keywords are summed by."""
    return {order.metric.unit: order.metric for order in reversed(ORDERS.values())}


def _list_orders() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "label": each.label,
            "metric": [each.metric.name, each.metric.label],
            "aggregate": [each.statistic.name, each.statistic.label],
            "sign": each.metric.sign,
            "unit": each.metric.unit,
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
    """Log and return that the pairs or questions of something are not in the page."""
    log.info("%s: its %s are left out of the page, which would get too large", name, what)
    return f"{name}: its {what} are left out of this page, which would get too large."


def _describe_benchmark(benchmark: Benchmark) -> dict[str, Any]:
    kept, manifest = benchmark.kept, benchmark.manifest
    dates = sorted(date for date in kept["date"].unique().to_list() if date)
    return {
        "id": f"{benchmark.domain}/{benchmark.variant}",
        "domain": benchmark.domain,
        "title": benchmark.title,
        "variant": benchmark.variant,
        "label": benchmark.label,
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
        **dict.fromkeys(("texts", "ranks", "rivals", "rivalRanks", "bits"), ""),
    }


def _count_held_out(manifest: Mapping[str, Any]) -> list[int]:
    """Return how many words of held-out text occur in training text, and the total; or nothing."""
    counts = manifest.get("reports", {}).get("held_out_overlap") or {}
    found = [counts.get(name, 0) for name in ("words_in_training_text", "words")]
    return found if found[0] else []


def _list_metrics(summary: Sequence[Row]) -> list[list[Any]]:
    shown = {(each.metric.name, each.statistic.name) for each in ORDERS.values()}
    shown |= {(each.name, MEAN.name) for each in BASELINES}
    names = ("domain", "variant", "model", "metric", "aggregate", "value", "ci_low", "ci_high")
    return [[row[name] for name in names] for row in summary if (row["metric"], row["aggregate"]) in shown]


def _pack_pairs(benchmark: Benchmark) -> tuple[str, str]:
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
        # empty if no pair has one, as in a reference
        "association": [] if pairs["association"].is_nan().all() else _round(pairs["association"]),
        "leftOut": np.flatnonzero(benchmark.left_out).tolist(),
    }
    ranks = np.array(list(benchmark.ranks.values())).reshape(len(benchmark.ranks), len(pairs))
    return pack_json(texts), pack_numbers(ranks)


def _pack_rivals(benchmark: Benchmark) -> tuple[str, str, str] | None:
    """Return leading words, ranks among rivals and bits, by model as blocks; None if no rival is known."""
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


def _round(numbers: pl.Series) -> list[float | None]:
    return numbers.round(1).fill_nan(None).to_list()


def link_document(doc_id: str, source: str) -> str:
    """Return the address of a document, on arXiv or its id; or nothing."""
    if source == "arxiv" and _ARXIV.fullmatch(doc_id):
        return f"https://arxiv.org/abs/{doc_id}"
    return doc_id if re.fullmatch(r"https?://[^\s<>\"']+", doc_id) else ""


_LEVEL = 6  # a higher level takes three times as long and saves a twentieth
_ESCAPES = {b"<": b"\\u003c", b">": b"\\u003e", b"&": b"\\u0026", b"\xe2\x80\xa8": b"\\u2028"}


def dump_script(value: Any) -> str:
    """Return a value as JSON for a `<script>`: nothing in it ends or opens an element."""
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    for sign, escape in _ESCAPES.items():
        text = text.replace(sign, escape)
    return text.decode("utf-8")


def pack_file(path: Path) -> str:
    """Return a file in base64, as it is."""
    return base64.b64encode(path.read_bytes()).decode("ascii")


def pack_json(value: Any) -> str:
    """Return a value as JSON, compressed, in base64."""
    return _pack(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))


def pack_numbers(values: NDArray[np.float64]) -> str:
    """Return numbers as little-endian float32, row by row, compressed, in base64."""
    return _pack(np.ascontiguousarray(values, dtype="<f4").tobytes())


def _pack(content: bytes) -> str:
    # no date in the block: the same tables give the same bytes
    return base64.b64encode(gzip.compress(content, _LEVEL, mtime=0)).decode("ascii")


MOST_ROWS = 5_000
"""Most rows of a table to show; longer ones are linked."""

FIGURE_BYTES = 3_000_000
"""Most bytes of figures inside a page; further ones are linked."""

OTHER = "Other"
"""Section of figures that the catalogue does not know."""

_REPEATING = tuple(f".{name}" for name in STATISTICS if name != LEADING.name)


def collect_tables(run: Run) -> list[dict[str, Any]]:
    """Return the tables of a run: name, descriptions, columns, rows; long ones without rows."""
    meanings = [(path, path.meaning) for path in paths.ALL.values()]
    contracts = [
        (RunPath(file), contract.about)
        for _, contract in list_contracts()
        for file in contract.files.split(", ")
    ]
    contracts.sort(key=lambda each: len(each[0].fields))  # of several that fit, the most specific
    meanings.append((RunPath(f"{LEFT_OUT}.csv"), "what was left out of the corpus, by reason"))
    found = [
        {
            "name": name,
            "about": _find_text(name, meanings),
            "lines": _find_text(name, contracts),
            "count": len(rows),
            "columns": list(rows[0]) if rows else [],
            "rows": [list(row.values()) for row in rows] if len(rows) <= MOST_ROWS else [],
        }
        for name, rows in (run.tables | _tabulate_coverage(run)).items()
    ]
    order = [text for _, text in meanings]
    return sorted(found, key=lambda each: order.index(each["about"]) if each["about"] else len(order))


def _tabulate_coverage(run: Run) -> dict[str, list[dict[str, str]]]:
    return {
        paths.COVERAGE.of(domain=each.domain, variant=each.variant).below: [
            {"what": key, "value": str(value)}
            for key, value in sorted(each.numbers.items())
            if isinstance(value, str | int | float)
        ]
        for each in run.coverage
    }


def _find_text(name: str, known: Sequence[tuple[RunPath, str]]) -> str:
    return next((text for path, text in known if path.is_of(name)), "")


def collect_figures(run: Run) -> tuple[list[dict[str, str]], dict[str, Path]]:
    """Return the figures of a run, in the order of the catalogue, and the images inside the page by id.

    Each has the name of its file, kind, section, title, caption and id of its image. Beyond FIGURE_BYTES
    figures have no image, first those that repeat others with another statistic.
    """
    found, images, used = [], {}, 0
    figures = sorted(run.figures, key=lambda path: (path.stem.endswith(_REPEATING), path.name))
    for number, path in enumerate(figures):
        used += path.stat().st_size
        image = f"figure-{number}" if used <= FIGURE_BYTES else ""
        if image:
            images[image] = path
        found.append({"name": path.name, "image": image, **_describe(path.stem)})
    sections = [*dict.fromkeys(figure.section for figure in CATALOGUE.values()), OTHER]
    kinds = [*CATALOGUE, OTHER]
    found.sort(key=lambda each: (sections.index(each["section"]), kinds.index(each["kind"])))
    return found, images


def _describe(name: str) -> dict[str, str]:
    known = find_figure(name)
    if known is None:
        return {"kind": OTHER, "section": OTHER, "title": name, "caption": ""}
    figure, parts = known
    return {
        "kind": figure.name,
        "section": figure.section,
        "title": figure.entitle(parts),
        "caption": figure.describe(parts),
    }


def collect_models(run: Run) -> list[dict[str, str]]:
    """Return a run's data on its models: kind, base, number format, revision, fingerprint."""
    names = ("kind", "base", "dtype", "quantization", "revision", "fingerprint")
    return [
        {"model": model, **{name: str(known.get(name) or "") for name in names}}
        for model, known in run.models.items()
    ]
