"""Hold subsets of pairs by coverage, stratified by keyword, and at random against the ranking by all pairs.

Resamples draw a share of the keywords without replacement; the ranking by all their pairs is what subsets are
to keep. Subsets grow: each order is followed from few pairs to all. By coverage, each next pair fills the
largest gap, of the pairs themselves or of the domain's sentences. Reads finished runs; prints a table, writes
a table of curves and a figure.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from expansion import refuse
from numpy.typing import NDArray
from settling import NAMES, SUMMARY, Benchmark, decide_by_all, read_run
from turns import ROOT, print_table

from fathom.config.coverage import Coverage
from fathom.coverage.compact import measure_kernels, order_by_gaps
from fathom.coverage.density import measure_log_density
from fathom.coverage.sets import Slices, read_pairs, read_space
from fathom.figures.subset_curves import SUBSET_COLUMNS, plot_subsets
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import read_delimited, write_delimited
from fathom.io.tables import read_table
from fathom.jobs.program import run_program
from fathom.ranking.subsets import LEAST, Curve, draw_order, find_size, follow_ranking, hold_against
from fathom.scoring.settling import RANK
from fathom.statistics.aggregates import STATISTICS
from fathom.statistics.summaries import format_number

KINDS = ("at random", "stratified by keyword", "coverage of the pairs", "coverage of the domain")
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
Array = NDArray[np.float64]


class Places(NamedTuple):
    """Where the pairs of a benchmark lie: log-kernels of any two, and the domain's log-density at each."""

    kernels: Array
    domain: Array


def find_places(run: Path, domain: str, variant: str, benchmark: Benchmark) -> Places:
    """Return where the pairs of a benchmark lie, in its order, with the defaults of `coverage`."""
    settings, corpus = Coverage(), run / "corpus"
    sentences = sorted((corpus / "sentences").glob("*.parquet"))
    slices = Slices(sentences, [corpus / "embeddings" / f"{path.stem}.npy" for path in sentences])
    pairs = read_table(run / domain / "benchmark" / variant / "pairs.parquet", PAIRS)
    vectors, _ = read_pairs(slices, pairs, refuse, settings.length)
    rows = dict(zip(pairs["pair_id"], range(len(pairs)), strict=True))
    own = vectors[[rows[name] for name in benchmark.pairs["pair_id"]]]
    space = read_space(slices, corpus / "index.parquet", domain, settings)
    bandwidth = float(settings.bandwidth)
    density = measure_log_density(own, space.vectors, bandwidth)
    return Places(measure_kernels(own, bandwidth), density.astype(np.float64))


def find_orders(
    keywords: NDArray[np.int64], places: Places, random: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    """Return an order of each kind for some pairs."""

    def kernel(number: int) -> Array:
        return np.asarray(places.kernels[number])

    own = np.logaddexp.reduce(places.kernels, axis=0)
    return {
        "at random": draw_order(keywords, random, False),
        "stratified by keyword": draw_order(keywords, random, True),
        "coverage of the pairs": order_by_gaps(own, kernel),
        "coverage of the domain": order_by_gaps(places.domain, kernel),
    }


def follow(
    benchmark: Benchmark, places: Places, share: float, rounds: int
) -> tuple[list[int], dict[tuple[str, str], Curve]]:
    """Return mean sizes of subsets, and their curves by kind and statistic."""
    random, keywords = np.random.default_rng(0), benchmark.order.keywords
    count = int(keywords.max()) + 1
    first, second = np.triu_indices(len(benchmark.models), 1)
    apart = {name: signs[first, second] != 0 for name, signs in decide_by_all(benchmark).items()}
    curves: dict[tuple[str, str], list[tuple[Array, Array]]] = {}
    numbers = []
    for _ in range(rounds):
        drawn = random.permutation(count)[: round(share * count)]
        rows = np.flatnonzero(np.isin(keywords, drawn))
        values = benchmark.values[RANK][:, rows]
        sizes = [max(1, round(each * len(rows))) for each in SHARES]
        numbers.append(sizes)
        some = Places(places.kernels[np.ix_(rows, rows)], places.domain[rows])
        _, codes = np.unique(keywords[rows], return_inverse=True)
        for kind, order in find_orders(codes, some, random).items():
            for name in NAMES:
                signs = follow_ranking(values, order, sizes, STATISTICS[name], SUMMARY.trim)
                found = hold_against(signs, signs[-1], apart[name])
                curves.setdefault((kind, name), []).append(found)
    return np.mean(numbers, axis=0).round().astype(int).tolist(), {
        name: Curve(*(np.stack(part) for part in zip(*each, strict=True))) for name, each in curves.items()
    }


def tabulate(
    where: Sequence[str], sizes: Sequence[int], curves: Mapping[tuple[str, str], Curve]
) -> list[tuple[Any, ...]]:
    """Return rows under SUBSET_COLUMNS."""
    rows: list[tuple[Any, ...]] = []
    for (kind, name), curve in curves.items():
        low, high = np.quantile(curve.taus, [0.025, 0.975], axis=0)
        columns = (curve.taus.mean(axis=0), low, high, curve.exact, curve.kept.mean(axis=0))
        for place, size in enumerate(sizes):
            numbers = [format_number(float(column[place])) for column in columns]
            rows.append((*where, name, kind, size, *numbers))
    return rows


def describe(
    where: Sequence[str], sizes: Sequence[int], curves: Mapping[tuple[str, str], Curve]
) -> list[list[Any]]:
    """Return rows for people: pairs that keep the ranking, and what a half of all pairs gives."""
    rows, half = [], SHARES.index(0.5)
    for name in NAMES:
        for kind in KINDS:
            curve, other = curves[kind, name], curves[KINDS[0], name]
            each = [find_size(sizes, taus) for taus in curve.taus]
            low, high = np.quantile(each, [0.025, 0.975], method="nearest")
            gain = curve.taus[:, half] - other.taus[:, half]
            ends = np.quantile(gain, [0.025, 0.975])
            rows.append([
                " ".join(where), name, kind, sizes[-1],
                find_size(sizes, curve.taus.mean(axis=0)), f"{np.median(each):.0f} ({low} to {high})",
                f"{curve.taus[:, half].mean():.3f}", f"{curve.exact[half]:.0%}",
                f"{curve.kept[:, half].mean():.1%}", f"{gain.mean():+.3f} ({ends[0]:+.2f} to {ends[1]:+.2f})",
            ])  # fmt: skip
    return rows


def main(arguments: argparse.Namespace) -> None:
    """Follow subsets of all benchmarks of the runs; print and write what they keep."""
    rows: list[tuple[Any, ...]] = []
    told: list[list[Any]] = []
    for run in arguments.runs:
        for benchmark in read_run(run):
            where = benchmark.name.split(" ")
            if where[2] not in arguments.variants:
                continue
            places = find_places(run, where[1], where[2], benchmark)
            sizes, curves = follow(benchmark, places, arguments.share, arguments.rounds)
            rows += tabulate(where, sizes, curves)
            told += describe(where, sizes, curves)
    print_table(
        ["benchmark", "statistic", "subset", "pairs", f"mean tau >= {LEAST:g} from", f"tau >= {LEAST:g} from",
         "tau of half", "exact", "apart kept", "tau of half less that of random ones"],
        told,
    )  # fmt: skip
    write_delimited(arguments.output, SUBSET_COLUMNS, rows, ",")
    plot_subsets(read_delimited(arguments.output, ",", SUBSET_COLUMNS), NAMES[0], arguments.figure)


if __name__ == "__main__":
    results = ROOT / "docs" / "results"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, nargs="+", default=[ROOT / "results" / "demo"])
    parser.add_argument("--variants", nargs="+", default=["tf"])
    parser.add_argument("--share", type=float, default=0.8, help="of the keywords in a resample")
    parser.add_argument("--rounds", type=int, default=100, help="resamples")
    parser.add_argument("--output", type=Path, default=results / "subsets.csv")
    parser.add_argument(
        "--figure",
        type=Path,
        nargs=2,
        default=[Path("subsets.pdf"), Path("subsets.png")],
        metavar=("PDF", "PNG"),
    )
    run_program(parser, main)
