"""Hold `scoring.until: settled` against scores of finished runs: pairs saved, decisions, groups.

First the scores of the runs themselves: tables are written as the workflow writes them from the pairs that
each model would have been scored on, and compared with those from all pairs.

Then simulated studies, which draw the keywords of a benchmark with replacement, with the scores of all their
sentences, which come in random order; looks and decisions are those of the library. A decision is wrong if
the bootstrap over all pairs of the study says otherwise. In other studies all models are made equal: their
scores are exchanged at random, keyword by keyword, so that two models that differ significantly do so
wrongly, by looks or by all pairs.

Last, the same pairs in other orders: how far the first ones are from all, against the variance that is
estimated at each look, and how often a sequence at the error of `settled` misses at any look. Prints tables.
"""

import argparse
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from perf.turns import DEMO

from fathom.config.scoring import Settled, Summary
from fathom.io.contracts.statistics import SETTLED
from fathom.io.delimited import write_rows
from fathom.jobs.program import run_program
from fathom.scoring.pair_files import read_pairs
from fathom.scoring.settled_scoring import SettledBenchmark, tabulate_look
from fathom.scoring.settling import RANK, Settling, order_pairs, place_pairs, plan_looks
from fathom.statistics.aggregates import COMPARED, measure_values
from fathom.statistics.anytime import Order, estimate_models, find_reach, measure_growth
from fathom.statistics.bootstrap import find_interval
from fathom.statistics.comparisons import read_settled, resample_scores, tabulate_comparisons
from fathom.statistics.left_out_pairs import leave_out_overlap
from fathom.statistics.metrics import SUMMARIZED
from fathom.statistics.sizing import find_overlaps, find_scores
from fathom.statistics.summaries import read_scores, resample_values

SUMMARY = Summary()
NAMES = [statistic.name for statistic in COMPARED]
Array = NDArray[np.float64]
Signs = Mapping[str, Array]


class Benchmark(NamedTuple):
    """Scores in the order of scoring: by metric, of shape (n_models, n_pairs)."""

    name: str
    models: list[str]
    order: Order
    values: Mapping[str, Array]
    pairs: pl.DataFrame


class Outcome(NamedTuple):
    """What came of one study: a share of the pairs, numbers of comparisons by all statistics."""

    read: float
    settled: int
    wrong: int
    apart: int
    full: int


def read_run(run: Path) -> list[Benchmark]:
    """Return the benchmarks of a run with all scores, without the pairs that summaries leave out."""
    files = find_scores(run)
    scores = leave_out_overlap(read_scores(files), find_overlaps(run, files), SUMMARY)
    found = []
    for domain in sorted({key[0] for key in scores}):
        variants = sorted({key[1] for key in scores if key[0] == domain})
        pairs = []
        for variant in variants:
            kept = next(frame for key, frame in scores.items() if key[:2] == (domain, variant))
            path = run / domain / "benchmark" / variant / "pairs.parquet"
            pairs.append(read_pairs(path).join(kept, on="pair_id", how="semi"))
        for variant, each, places in zip(variants, pairs, place_pairs(pairs), strict=True):
            own, order = order_pairs(each, places)
            frames = {
                model: own.select("pair_id").join(frame, on="pair_id", how="left", maintain_order="left")
                for (*where, model), frame in sorted(scores.items())
                if where == [domain, variant]
            }
            values = {
                metric: np.stack([f[metric].to_numpy() for f in frames.values()]) for metric in SUMMARIZED
            }
            found.append(Benchmark(f"{run.name} {domain} {variant}", list(frames), order, values, own))
    return found


def look_until_settled(
    benchmark: Benchmark, settings: Settled, watch: Callable[[Settling, list[str], int], None]
) -> tuple[Settling, NDArray[np.int64]]:
    """Look as the workflow does, at scores that are there; return the looks and the pairs each model read."""
    order, models = benchmark.order, benchmark.models
    settling = Settling(models, order, settings, SUMMARY, list(benchmark.values))
    read = np.zeros(len(models), dtype=np.int64)
    going = set(models)
    for number, share in enumerate(plan_looks(len(order.places), settings.block), start=1):
        end = order.find_end(share)
        here = [model for model in models if model in going]
        read[[models.index(model) for model in here]] = end
        if share >= 1 or not here:
            break
        values = {
            metric: {model: each[models.index(model), :end] for model in here}
            for metric, each in benchmark.values.items()
        }
        settling.look(values, share)
        watch(settling, here, number)
        going = set(settling.open)
    return settling, read


def compare_tables(benchmark: Benchmark, settings: Settled) -> list[str]:
    """Return cells of a row: what scoring until settled does to the tables of a finished run."""
    rows: list[tuple[Any, ...]] = []

    def watch(settling: Settling, here: list[str], number: int) -> None:
        whole = SettledBenchmark("d", "v", Path(), benchmark.pairs, benchmark.order, 0, settling)
        rows.extend(tabulate_look(whole, here, number, SUMMARY))

    settling, read = look_until_settled(benchmark, settings, watch)
    columns = benchmark.pairs.select("pair_id", "keyword")
    full, scores = {}, {}
    for place, model in enumerate(benchmark.models):
        full["d", "v", model] = columns.with_columns(
            **{metric: each[place] for metric, each in benchmark.values.items()}
        )
        scores["d", "v", model] = full["d", "v", model][: read[place]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "settled.csv"
        write_rows(path, rows, SETTLED)
        settled = read_settled(path, scores)
    tables = tabulate_comparisons(resample_scores(full, SUMMARY), SUMMARY)
    early = tabulate_comparisons(resample_scores(scores, SUMMARY, True), SUMMARY, settled)
    said = [
        {(row[3], frozenset(row[4:6])): row[4] if row[10] == "yes" else "" for row in each if row[2] == RANK}
        for each, _ in (tables, early)
    ]
    models, decided = benchmark.models, 0
    for a, b in combinations(range(len(models)), 2):
        names = [(name, frozenset((models[a], models[b]))) for name in NAMES]
        decided += settling.settled[a, b] and any(said[0][name] != said[1][name] for name in names)
    groups = [
        [[(row[3], row[6]) for row in each if row[2] == name] for _, each in (tables, early)]
        for name in NAMES
    ]
    best = [[[model for model, group in one if set(group) & set(one[0][1])] for one in two] for two in groups]
    return [
        f"{read.sum() / (len(models) * len(columns)):.1%}",
        f"{np.triu(settling.settled).sum()} of {len(models) * (len(models) - 1) // 2}",
        str(decided),
        *(f"{sum(two[0] == two[1] for two in each)} of {len(NAMES)}" for each in (groups, best)),
    ]


def draw_study(
    benchmark: Benchmark, sources: NDArray[np.int64], random: np.random.Generator, equal: bool, times: int
) -> Benchmark:
    """Return a benchmark of some keywords in a new order; `equal`: models are exchanged by keyword.

    With `times` above 1 each keyword has so many times its sentences, drawn with replacement.
    """
    order = benchmark.order
    _, sentences = np.unique(order.keywords + order.places, return_inverse=True)
    rows = np.argsort(sentences, kind="stable")
    pairs = np.split(rows, np.flatnonzero(np.diff(sentences[rows])) + 1)
    members: list[list[NDArray[np.int64]]] = [[] for _ in range(int(order.keywords.max()) + 1)]
    for each in pairs:
        members[order.keywords[each[0]]].append(each)
    chosen, keywords, places = [], [], []
    for keyword, source in enumerate(sources):
        own = members[source]
        size = times * len(own)
        drawn = random.permutation(size) if times == 1 else random.integers(len(own), size=size)
        shift = random.random()
        for number, place in enumerate(drawn):
            chosen.append(own[place])
            keywords.append(np.full(len(own[place]), keyword))
            places.append(np.full(len(own[place]), (number + shift) / size))
    ranks = benchmark.values[RANK][:, np.concatenate(chosen)]
    codes, where = np.concatenate(keywords), np.concatenate(places)
    if equal:
        turns = np.argsort(random.random((len(sources), len(ranks))), axis=1)
        ranks = np.take_along_axis(ranks, turns[codes].T, axis=0)
    rows = np.argsort(where, kind="stable")
    return benchmark._replace(values={RANK: ranks[:, rows]}, order=Order(codes[rows], where[rows]))


def decide_by_all(study: Benchmark) -> dict[str, Array]:
    """Return what the bootstrap over all pairs says of every two models: 1 or -1 if apart, else 0."""
    keywords = study.order.keywords
    drawn = [resample_values(row, keywords, SUMMARY, NAMES) for row in study.values[RANK]]
    found = {}
    for name in NAMES:
        each = np.stack([sample[name].drawn for sample in drawn], axis=1)
        low, high = find_interval(each[:, :, None] - each[:, None, :], SUMMARY.confidence)
        found[name] = np.sign(low) * (np.sign(low) == np.sign(high))
    return found


def run_study(study: Benchmark, whole: Signs, settings: Settled) -> Outcome:
    """Look at one study; a verdict counts as wrong at whichever look it was."""
    count = len(study.models)
    wrong = np.zeros((count, count), dtype=bool)
    early: dict[str, Array] = {name: np.zeros((count, count)) for name in NAMES}

    def watch(settling: Settling, here: list[str], _: int) -> None:
        for name in NAMES:
            found = settling.found[RANK, name]
            early[name] = np.where(found.apart, np.sign(found.differences), 0)
            known = settling.settled & (found.apart | found.alike)
            wrong[known & (early[name] != whole[name])] = True

    settling, read = look_until_settled(study, settings, watch)
    apart = [np.triu(np.where(settling.settled, early[name], whole[name])) for name in NAMES]
    return Outcome(
        float(read.sum() / study.values[RANK].size),
        int(np.triu(settling.settled).sum()),
        int(np.triu(wrong).sum()),
        int(sum(np.abs(each).sum() for each in apart)),
        int(sum(np.abs(np.triu(whole[name])).sum() for name in NAMES)),
    )


def simulate(
    benchmark: Benchmark, kinds: Sequence[Settled], rounds: int, equal: bool, times: int
) -> list[list[str]]:
    """Return cells of a row for each kind of settings, from the same studies."""
    random = np.random.default_rng(int(equal))
    outcomes: list[list[Outcome]] = [[] for _ in kinds]
    count = int(benchmark.order.keywords.max()) + 1
    for _ in range(rounds):
        study = draw_study(benchmark, random.integers(count, size=count), random, equal, times)
        whole = decide_by_all(study)
        for settings, found in zip(kinds, outcomes, strict=True):
            found.append(run_study(study, whole, settings))
    comparisons = rounds * len(benchmark.models) * (len(benchmark.models) - 1) / 2
    rows = []
    for found in outcomes:
        sums = Outcome(*(sum(column) for column in zip(*found, strict=True)))
        numbers = [
            sum(each.wrong > 0 for each in found) / rounds,
            sums.wrong / max(1, sums.settled),
            sums.settled / comparisons,
            sums.read / rounds,
            sums.apart / comparisons / len(NAMES),
            sums.full / comparisons / len(NAMES),
        ]
        rows.append([f"{number:.1%}" for number in numbers])
    return rows


def check_orders(benchmark: Benchmark, settings: Settled, orders: int) -> list[list[str]]:
    """Return cells of a row for each statistic: squared distances over variances, and sequences that miss."""
    random, looks = np.random.default_rng(2), plan_looks(len(benchmark.pairs), settings.block)[:-1]
    first, second = np.triu_indices(len(benchmark.models), 1)
    keywords, rows = np.arange(int(benchmark.order.keywords.max()) + 1), []
    studies = [draw_study(benchmark, keywords, random, False, 1) for _ in range(orders)]
    for statistic in COMPARED:
        ranks = benchmark.values[RANK]
        whole = np.array([measure_values(row, statistic, SUMMARY.trim) for row in ranks])
        distances, variances = np.zeros((2, len(looks), len(first)))
        missed = np.zeros(len(first))
        for study in studies:
            misses = np.zeros(len(first), dtype=bool)
            ends = [study.order.find_end(share) for share in looks]
            for look, (share, end) in enumerate(zip(looks, ends, strict=True)):
                some = study.values[RANK][:, :end]
                found = estimate_models(some, study.order, share, statistic, SUMMARY.trim)
                off = (found.values - whole)[first] - (found.values - whole)[second]
                ahead = found.ahead[first, second]
                growth = measure_growth(end, ends[0], len(benchmark.pairs))
                misses |= np.abs(off) > find_reach(ahead, growth, settings.error)
                distances[look] += off**2
                variances[look] += ahead
            missed += misses
        ratios = np.median(distances / variances, axis=1)
        share = missed / orders
        cells = [f"{ratios.min():.2f} to {ratios.max():.2f}", f"{share.mean():.1%}", f"{share.max():.1%}"]
        rows.append([statistic.name, *cells])
    return rows


def main(arguments: argparse.Namespace) -> None:
    """Read the runs; print what scoring until settled does on them, and on studies drawn from them."""
    benchmarks = [each for run in arguments.runs for each in read_run(run)]
    kinds = [Settled(block=arguments.block, compare=compare) for compare in arguments.compare]
    print("| benchmark | compare | models | pairs | read | settled | otherwise | equal groups | equal best |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for each in benchmarks:
        for settings in kinds:
            cells = " | ".join(compare_tables(each, settings))
            print(
                f"| {each.name} | {settings.compare} | {len(each.models)} | {len(each.pairs):,} | {cells} |"
            )
    print("\n| benchmark | models | compare | studies wrong | wrong | settled | read | apart | by all |")
    print("|---|---|---|--:|--:|--:|--:|--:|--:|")
    for each in benchmarks:
        if each.name.split(" ", 1)[1] not in arguments.studies:
            continue
        for kind in arguments.models:
            found = simulate(each, kinds, arguments.rounds, kind == "equal", arguments.times)
            for settings, row in zip(kinds, found, strict=True):
                print(f"| {each.name} | {kind} | {settings.compare} | {' | '.join(row)} |", flush=True)
    print("\n| benchmark | statistic | squared distance / variance, by look | missed, mean | worst |")
    print("|---|---|--:|--:|--:|")
    for each in benchmarks:
        for cells in check_orders(each, kinds[0], arguments.orders) if arguments.orders else []:
            print(f"| {each.name} | {' | '.join(cells)} |", flush=True)


def _read_compare(text: str) -> str | int:
    return int(text) if text.isdigit() else text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, nargs="+", default=[DEMO])
    parser.add_argument("--block", type=int, default=Settled().block, help="pairs before the first look")
    parser.add_argument("--compare", type=_read_compare, nargs="+", default=["all", "neighbours", 1])
    parser.add_argument("--studies", nargs="*", default=["machine-learning tf"], help="DOMAIN VARIANT")
    parser.add_argument("--models", nargs="+", choices=("real", "equal"), default=["real", "equal"])
    parser.add_argument("--rounds", type=int, default=1000, help="simulated studies of each kind")
    parser.add_argument("--orders", type=int, default=0, help="orders of the same pairs, of each benchmark")
    parser.add_argument(
        "--times", type=int, default=1, help="sentences of a keyword, as a multiple of what it has"
    )
    run_program(parser, main)
