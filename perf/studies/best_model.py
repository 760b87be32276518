"""What `fathom best` saves on the scores of finished runs, and how often it is wrong in simulated studies.

A study draws the keywords of a benchmark with replacement, with the ranks of all their sentences, which come
in random order; looks and decisions are those of the library. A study is wrong if any verdict differs from
that of all pairs. Prints tables. How often one of equal models is called worse: `perf.calibration`.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from perf.turns import DEMO

from fathom.config.scoring import Summary
from fathom.jobs.program import run_program
from fathom.scoring.best_model import APART, Contest, order_pairs, plan_looks
from fathom.scoring.pair_files import read_pairs
from fathom.statistics.anytime import Order
from fathom.statistics.left_out import leave_out_overlap
from fathom.statistics.sizing import find_overlaps, find_scores
from fathom.statistics.summaries import read_scores

Array = NDArray[np.float64]
Measure = Callable[[int, int], Array]
"""What a model, by its place, has on so many first pairs: low is good."""


class Benchmark(NamedTuple):
    """Log ranks in the order of scoring, of shape (n_models, n_pairs)."""

    name: str
    models: list[str]
    order: Order
    losses: Array

    def measure(self, place: int, end: int) -> Array:
        """Return what a model has on the first pairs, which more pairs do not change."""
        return self.losses[place, :end]


class Outcome(NamedTuple):
    """What came of a study: the share that was read, models called worse, whether all pairs say otherwise."""

    read: float
    worse: tuple[str, ...]
    otherwise: bool


def read_run(run: Path) -> list[Benchmark]:
    """Return the benchmarks of a run with all scores, without the pairs that summaries leave out."""
    files = find_scores(run)
    scores = leave_out_overlap(read_scores(files), find_overlaps(run, files), Summary())
    found = []
    for domain, variant in sorted({key[:2] for key in scores}):
        models = sorted(key[2] for key in scores if key[:2] == (domain, variant))
        kept = scores[domain, variant, models[0]]["pair_id"]
        pairs = read_pairs(run / domain / "benchmark" / variant / "pairs.parquet")
        ordered, order = order_pairs(pairs.filter(pl.col("pair_id").is_in(kept.implode())))
        names = ordered.select("pair_id")
        ranks = [
            names.join(scores[domain, variant, model], on="pair_id", how="left", maintain_order="left")[
                "rank"
            ]
            for model in models
        ]
        found.append(Benchmark(f"{domain} {variant}", models, order, np.log(np.array(ranks, dtype=float))))
    return found


def run_contest(models: Sequence[str], order: Order, measure: Measure) -> tuple[Contest, float]:
    """Look until the best is known; return the contest and the share of all pairs that was read."""
    contest, total = Contest(models, order), len(order.places)
    going: Sequence[str] = models
    read = dict.fromkeys(models, 0)
    for share in plan_looks(total):
        end = order.find_end(share)
        read |= dict.fromkeys(going, end)
        contest.look({model: measure(models.index(model), end) for model in going}, share)
        going = contest.going
        if not going:
            break
    return contest, sum(read.values()) / (total * len(models))


def run_study(models: Sequence[str], order: Order, measure: Measure) -> Outcome:
    """Compare the verdicts on the best with those of all pairs."""
    whole, total = Contest(models, order), len(order.places)
    whole.look({model: measure(place, total) for place, model in enumerate(models)}, 1.0)
    contest, read = run_contest(models, order, measure)
    verdicts = contest.verdicts[contest.best]
    full = whole.verdicts[contest.best]
    others = np.arange(len(verdicts)) != contest.best
    worse = tuple(contest.models[place] for place in np.flatnonzero(verdicts == APART))
    return Outcome(read, worse, bool((verdicts != full)[others].any()))


def draw_study(benchmark: Benchmark, random: np.random.Generator, times: int) -> Benchmark:
    """Return a benchmark of drawn keywords; `times`: so many times the sentences of each, drawn too."""
    order = benchmark.order
    _, sentences = np.unique(order.keywords + order.places, return_inverse=True)
    rows = np.argsort(sentences, kind="stable")
    members: list[list[NDArray[np.int64]]] = [[] for _ in range(int(order.keywords.max()) + 1)]
    for each in np.split(rows, np.flatnonzero(np.diff(sentences[rows])) + 1):
        members[order.keywords[each[0]]].append(each)
    chosen, keywords, places = [], [], []
    for keyword, source in enumerate(random.integers(len(members), size=len(members))):
        own = members[source]
        size = times * len(own)
        drawn = random.permutation(size) if times == 1 else random.integers(len(own), size=size)
        shift = random.random()
        for number, place in enumerate(drawn):
            chosen.append(own[place])
            keywords.append(np.full(len(own[place]), keyword))
            places.append(np.full(len(own[place]), (number + shift) / size))
    losses, codes, where = (
        benchmark.losses[:, np.concatenate(chosen)],
        np.concatenate(keywords),
        np.concatenate(places),
    )
    rows = np.argsort(where, kind="stable")
    return benchmark._replace(losses=losses[:, rows], order=Order(codes[rows], where[rows]))


def simulate(benchmark: Benchmark, rounds: int, times: int) -> Sequence[str]:
    """Return the cells of a row: studies with a verdict unlike that of all pairs, with a worse one; read."""
    random = np.random.default_rng(0)
    drawn = (draw_study(benchmark, random, times) for _ in range(rounds))
    found = [run_study(each.models, each.order, each.measure) for each in drawn]
    parts = [[each.otherwise, bool(each.worse), each.read] for each in found]
    return [f"{mean:.1%}" for mean in np.mean(np.array(parts, dtype=float), axis=0)]


def main(arguments: argparse.Namespace) -> None:
    """Read the runs; print what `fathom best` does on them, and on studies drawn from them."""
    benchmarks = [each for run in arguments.runs for each in read_run(run)]
    print("| benchmark | models | pairs | read | best | worse | alike | as by all pairs |")
    print("|---|--:|--:|--:|---|--:|--:|---|")
    for each in benchmarks:
        contest, read = run_contest(each.models, each.order, each.measure)
        worse = int((contest.verdicts[contest.best] == APART).sum())
        alike = len(each.models) - 1 - worse
        cells = [
            f"{each.losses.shape[1]:,}",
            f"{read:.1%}",
            contest.models[contest.best],
            f"{worse} | {alike}",
        ]
        same = "no" if run_study(each.models, each.order, each.measure).otherwise else "yes"
        print(f"| {each.name} | {len(each.models)} | {' | '.join(cells)} | {same} |")
    print("\n| benchmark | keywords' sentences | otherwise | a model is worse | read |")
    print("|---|--:|--:|--:|--:|")
    for each in benchmarks:
        for times in arguments.times:
            print(f"| {each.name} | x {times} | {' | '.join(simulate(each, arguments.rounds, times))} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, nargs="+", default=[DEMO])
    parser.add_argument("--rounds", type=int, default=1000, help="simulated studies of each kind")
    parser.add_argument(
        "--times", type=int, nargs="+", default=[1], help="multiples of a keyword's sentences"
    )
    run_program(parser, main)
