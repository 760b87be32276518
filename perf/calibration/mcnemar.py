"""How often the page of logs and McNemar's exact test decide alike on two models, and where they differ.

Simulates pairs of models on right and wrong items: equal ones, and ones of which a McNemar test finds about
half apart. The page asks more: the t test over clusters and the bootstrap must find a difference, too.
"""

import argparse

import numpy as np
from perf.calibration.case import Shape
from perf.calibration.of_items import ACCURACIES, draw_pair, rank_scores
from perf.turns import print_table
from scipy.stats import binomtest

from fathom.config.scoring import Summary
from fathom.jobs.program import run_program

SIZES = (20, 50, 200, 1000)


def main(arguments: argparse.Namespace) -> None:
    """Print a line for each number of items, of equal models and of unequal ones."""
    rows = []
    for count in SIZES:
        for what, gap in (("equal", 0.0), ("unequal", 2.0)):
            decided = np.array([
                decide(number, Shape(count), gap) for number in range(arguments.rounds)
            ])  # fmt: skip
            page, mcnemar = decided.T
            rows.append([
                f"{count:,}", what, f"{len(decided):,}",
                f"{100 * (page == mcnemar).mean():.1f} %", int((page & ~mcnemar).sum()),
                int((~page & mcnemar).sum()), f"{100 * page.mean():.1f} %", f"{100 * mcnemar.mean():.1f} %",
            ])  # fmt: skip
    print_table(
        ["items", "models", "pairs", "decided alike", "apart for the page alone", "for McNemar alone",
         "apart for the page", "for McNemar"], rows,
    )  # fmt: skip


def decide(number: int, shape: Shape, gap: float) -> tuple[bool, bool]:
    """Return whether two simulated models are apart for the page, and by McNemar's exact test."""
    random = np.random.default_rng([7, shape.clusters, number])
    values = draw_pair(random, shape.clusters, ACCURACIES[number % len(ACCURACIES)], gap)
    *_, ranking = rank_scores(values, [""] * shape.clusters, [""] * shape.clusters, Summary(seed=number))
    better, worse = (int((sign * (values[0] - values[1]) > 0).sum()) for sign in (1, -1))
    p = binomtest(better, better + worse).pvalue if better + worse else 1.0
    return ranking.comparisons[0].apart, p <= 0.05


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000, help="pairs of models for each line")
    run_program(parser, main)
