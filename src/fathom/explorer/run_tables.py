"""What a run has: its benchmarks with every model's ranks, and its finished tables; and what is missing.

A run need not be finished. What is not there is named, and what follows from the scores that are there is
computed in the place of a missing summary.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.contracts.scoring import (
    COMPARISON_COLUMNS,
    CORRELATION_COLUMNS,
    GROUP_COLUMNS,
    OLDER_COMPARISON_COLUMNS,
    OLDER_GROUP_COLUMNS,
    SCORES,
    SUMMARY_COLUMNS,
)
from fathom.io.files import read_delimited, read_json
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.statistics.comparisons import count_settled, resample_scores, tabulate_comparisons
from fathom.statistics.summaries import Key, summarize_scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Row = dict[str, str]

_NUMBERS = frozenset((
    "value", "ci_low", "ci_high", "difference", "p", "accuracy", "change", "change_low", "change_high",
    "direct", "chosen", "direct_error", "chosen_error",
))  # fmt: skip
_COUNTS = frozenset(("pairs", "items", "layer", "k", "list_length"))
"""Columns of tables that hold numbers, and whole ones; either may be empty."""

PAIR_COLUMNS = ("pair_id", "keyword", "prompt", "target", "doc_id", "date")
"""What a page shows of a pair."""


@dataclass(frozen=True)
class Benchmark:
    """One benchmark of a run and the ranks of all models on it.

    Attributes
    ----------
    domain, variant : str
    pairs : DataFrame
        Columns PAIR_COLUMNS, shape (n_pairs, n_columns).
    left_out : ndarray of shape (n_pairs,), bool
        Pairs that the summary leaves out, for they stand in training text.
    ranks : mapping of str to ndarray of shape (n_pairs,), float64
        By model, in the order of the pairs; models by name.
    manifest : mapping
        What the benchmark was made from; empty if it is not there yet.
    """

    domain: str
    variant: str
    pairs: pl.DataFrame
    left_out: "NDArray[np.bool_]"
    ranks: Mapping[str, "NDArray[np.float64]"]
    manifest: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What the domain is called."""
        section = self.manifest.get("parameters", {}).get("domain") or {}
        return str(section.get("title") or self.domain)

    @property
    def kept(self) -> pl.DataFrame:
        """Pairs that count."""
        return self.pairs.filter(~pl.Series(self.left_out))


@dataclass(frozen=True)
class Run:
    """What a run has.

    Attributes
    ----------
    folder : Path
        Its results.
    benchmarks : list of Benchmark
        By domain, then variant.
    summary, comparisons, groups, correlations : list of dict
        Rows of the tables of the same names; for a run without a summary, computed from its scores.
    computed : bool
        Whether they were computed here.
    missing : list of str
        Sentences on what a finished run has and this one has not.
    """

    folder: Path
    benchmarks: list[Benchmark]
    summary: list[Row] = field(default_factory=list)
    comparisons: list[Row] = field(default_factory=list)
    groups: list[Row] = field(default_factory=list)
    correlations: list[Row] = field(default_factory=list)
    computed: bool = False
    missing: list[str] = field(default_factory=list)

    @property
    def models(self) -> list[str]:
        """All models that were scored or measured, by name."""
        scored = {model for benchmark in self.benchmarks for model in benchmark.ranks}
        return sorted(scored | {row["model"] for row in self.summary})

    def compare(self, benchmark: Benchmark, aggregate: str) -> list[Row]:
        """Return the comparisons of two models each by rank on one benchmark, in the order of the table."""
        wanted = (benchmark.domain, benchmark.variant, "rank", aggregate)
        names = ("domain", "variant", "metric", "aggregate")
        return [row for row in self.comparisons if tuple(row[name] for name in names) == wanted]

    def rank(self, benchmark: Benchmark, aggregate: str) -> list[Row]:
        """Return the rows of groups.csv on one benchmark, best first; from the summary without them."""
        wanted = (benchmark.domain, benchmark.variant, aggregate)
        names = ("domain", "variant", "aggregate")
        rows = [row for row in self.groups or self.summary if tuple(row[name] for name in names) == wanted]
        if self.groups:
            return rows
        ranked = [row | {"groups": ""} for row in rows if row["metric"] == "rank" and row["value"]]
        return sorted(ranked, key=lambda row: (float(row["value"]), row["model"]))


def read_run(folder: Path, settings: Summary) -> Run:
    """Read what there is of a run.

    Parameters
    ----------
    folder : Path
        The run's results, results/RUN.
    settings : Summary
        For what has to be computed.

    Raises
    ------
    InputError
        If the folder is not that of a run, or a table in it is damaged.
    """
    if not folder.is_dir():
        raise InputError("there is no such folder", str(folder), "give the folder of a run: results/RUN")
    missing: list[str] = []
    tables = {
        name: read_rows(folder / f"{name}.csv", columns, missing)
        for name, columns in (
            ("summary", SUMMARY_COLUMNS),
            ("comparisons", OLDER_COMPARISON_COLUMNS),
            ("groups", OLDER_GROUP_COLUMNS),
            ("correlations", CORRELATION_COLUMNS),
        )
    }
    paths = sorted(folder.glob("*/benchmark/*/pairs.parquet"), key=_order_benchmark)
    counted = _count_pairs(tables["summary"] or [], count_settled(folder / "settled.csv"))
    benchmarks = [
        _read_benchmark(path.parents[2], path.parent.name, counted, settings, missing) for path in paths
    ]
    if not benchmarks and not any(
        any(folder.glob(name)) for name in ("*.csv", "ranking/*.csv", "choices/*.csv")
    ):
        raise InputError(
            "no benchmark and no table in this folder", str(folder), "give the folder of a run: results/RUN"
        )
    bare = [f"{each.domain} {each.variant}" for each in benchmarks if not each.manifest]
    if bare:
        missing.append(f"No manifest yet: {', '.join(bare)}.")
    _name_missing_models(benchmarks, missing)
    computed = not tables["summary"] and any(benchmark.ranks for benchmark in benchmarks)
    if computed:
        missing.append(
            "Without a summary.csv the ranking was computed for this page, from the scores that"
            " are there. Perplexity and attribute rates are left out."
        )
        tables.update(_compute_tables(benchmarks, settings))
    elif benchmarks and not tables["summary"]:
        missing.append("No model has been scored yet.")
    else:
        absent = [f"{name}.csv" for name in ("comparisons", "groups", "correlations") if tables[name] is None]
        if benchmarks and absent:
            missing.append(f"Not there yet: {', '.join(absent)}.")
    rows = {name: found or [] for name, found in tables.items()}
    return Run(folder, benchmarks, **rows, computed=computed, missing=missing)


def read_rows(path: Path, columns: Sequence[str], missing: list[str]) -> list[Row] | None:
    """Read a table; None if it is not there, or was written by a version with other columns.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        Those that it must have.
    missing : list of str
        Where a table of another version is named.

    Raises
    ------
    InputError
        If the table is damaged, or a number in it is none.
    """
    if not path.is_file():
        return None
    rows = read_delimited(path, ",")
    if rows and not set(columns) <= set(rows[0]):
        missing.append(f"{path.name} was written by another version of Fathom and is left out.")
        return None
    for name in (each for each in columns if each in _NUMBERS | _COUNTS):
        parse = int if name in _COUNTS else float
        for number, row in enumerate(rows, start=2):
            try:
                parse(row[name] or "0")
            except ValueError as error:
                where = f"{path}, line {number}, column {name}"
                raise InputError(f"not a number: {row[name]!r}", where, "create it again") from error
    return rows


def read_number(text: str) -> float | None:
    """Return a number of a table; None for an empty field."""
    value = float(text or "nan")
    return value if math.isfinite(value) else None


def _order_benchmark(path: Path) -> tuple[str, int, str]:
    """Sort benchmarks by domain, then in the order of the variants."""
    order = (*VARIANTS, REFERENCE)
    variant = path.parent.name
    return path.parents[2].name, order.index(variant) if variant in order else len(order), variant


def _count_pairs(
    summary: Sequence[Row], settled: Mapping[tuple[str, str], int]
) -> dict[tuple[str, str], int]:
    """Return how many pairs the summary counts on each benchmark, or would if no model had stopped early."""
    counted: dict[tuple[str, str], int] = {}
    for row in summary:
        if row["metric"] == "rank":
            place = row["domain"], row["variant"]
            counted[place] = max(counted.get(place, settled.get(place, 0)), int(row["pairs"] or 0))
    return counted


def _read_benchmark(
    domain: Path,
    variant: str,
    counted: Mapping[tuple[str, str], int],
    settings: Summary,
    missing: list[str],
) -> Benchmark:
    """Read one benchmark with the scores that belong to it."""
    folder = domain / "benchmark" / variant
    pairs = read_table(folder / "pairs.parquet", PAIRS, PAIR_COLUMNS)
    manifest = read_json(folder / "manifest.json") if (folder / "manifest.json").is_file() else {}
    ranks = {}
    for path in sorted((domain / "scores" / variant).glob("*.parquet")):
        scores = read_table(path, SCORES, ["pair_id", "rank"])
        matched = pairs.select("pair_id").join(scores, on="pair_id", how="left", maintain_order="left")
        if len(scores) != len(pairs) or matched["rank"].null_count():
            what = f"the scores of {path.stem} belong to other pairs and are left out."
            if _is_settled(path.with_suffix(".json")):
                what = f"{path.stem} was scored on {len(scores):,} pairs, until settled: see the tables."
            missing.append(f"{domain.name}, {variant}: {what}")
            continue
        ranks[path.stem] = matched["rank"].to_numpy()
    if not ranks:
        missing.append(f"{domain.name}, {variant}: no model has been scored on it yet.")
    expected = counted.get((domain.name, variant))
    left_out = _find_left_out(pairs, folder / "overlap.parquet", expected, settings)
    if expected is not None and expected != len(pairs) - int(left_out.sum()):
        missing.append(f"{domain.name}, {variant}: summary.csv was made from other pairs ({expected:,}).")
    return Benchmark(domain.name, variant, pairs, left_out, ranks, manifest)


def _is_settled(report: Path) -> bool:
    """Return whether scoring stopped where comparisons were settled (`scoring.until`)."""
    return report.is_file() and read_json(report).get("until") == "settled"


def _find_left_out(
    pairs: pl.DataFrame, path: Path, expected: int | None, settings: Summary
) -> "NDArray[np.bool_]":
    """Return which pairs the summary leaves out: those that explain the number it counts."""
    import numpy as np

    none = np.zeros(len(pairs), dtype=bool)
    if not path.is_file() or expected == len(pairs):
        return none
    overlap = pairs.select("pair_id").join(
        read_table(path, OVERLAP), on="pair_id", how="left", maintain_order="left"
    )
    flagged = {name: overlap[name].fill_null(False).to_numpy() for name in ("ending", "sentence")}
    if expected is None:
        return flagged.get(settings.overlap, none)
    fitting = [found for found in flagged.values() if len(pairs) - int(found.sum()) == expected]
    return fitting[0] if fitting else none


def _name_missing_models(benchmarks: Sequence[Benchmark], missing: list[str]) -> None:
    """Say which models were scored on some benchmarks only."""
    every = sorted({model for benchmark in benchmarks for model in benchmark.ranks})
    for benchmark in benchmarks:
        absent = [model for model in every if model not in benchmark.ranks]
        if absent and benchmark.ranks:
            missing.append(f"{benchmark.domain}, {benchmark.variant}: no scores of {', '.join(absent)} yet.")


def _compute_tables(benchmarks: Sequence[Benchmark], settings: Summary) -> dict[str, list[Row] | None]:
    """Summarize and compare the scores that are there, as a finished run does."""
    scores: dict[Key, pl.DataFrame] = {}
    for benchmark in benchmarks:
        if not len(benchmark.kept):
            continue
        for model in benchmark.ranks:
            path = benchmark_scores(benchmark, model)
            frame = path.with_columns(probability=pl.lit(0.0))
            scores[benchmark.domain, benchmark.variant, model] = frame
    log.info("summary.csv is not there: %d tables of scores are summed up for the page", len(scores))
    summary = summarize_scores(scores, settings)
    comparisons, groups = tabulate_comparisons(
        [each for each in resample_scores(scores, settings) if each.metric == "rank"], settings
    )
    named = {
        "summary": (SUMMARY_COLUMNS, [row for row in summary if row[3] == "rank"]),
        "comparisons": (COMPARISON_COLUMNS, comparisons),
        "groups": (GROUP_COLUMNS, groups),
    }
    return {
        name: [dict(zip(columns, map(str, row), strict=True)) for row in rows]
        for name, (columns, rows) in named.items()
    } | {"correlations": None}


def benchmark_scores(benchmark: Benchmark, model: str) -> pl.DataFrame:
    """Return pair_id, keyword and rank of one model on the pairs that count."""
    frame = benchmark.pairs.select("pair_id", "keyword").with_columns(
        rank=pl.Series(benchmark.ranks[model], dtype=pl.Float64)
    )
    return frame.filter(~pl.Series(benchmark.left_out))
