"""Count how often seven equal models show a significant difference, and how often two of them do.

Draws benchmarks as `perf.calibration` does, and exchanges the models of a finished run: their scores on a
keyword change places at random, so models are equal and keywords as unequal as they are. The p of the
bootstrap, below which a corrected one never is, is left out: with it there can only be fewer.
"""

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray
from perf.calibration.case import SMALL
from perf.calibration.of_statistics import MODELS
from perf.calibration.simulate import MAKE, MEAN, draw_clusters, draw_effects
from perf.turns import DEMO, print_table

from fathom.config.benchmark import VARIANTS
from fathom.config.scoring import Summary
from fathom.jobs.program import run_program
from fathom.statistics.aggregates import COMPARED
from fathom.statistics.clustered_tests import adjust_holm, compare_clustered

Array = NDArray[np.float64]
Drawn = tuple[Array, NDArray[np.int64]]
DOMAIN, ERROR = "machine-learning", 0.05


def draw_models(metric: str, rounds: int) -> Iterator[tuple[str, Iterator[Drawn]]]:
    """Yield simulated scores and keywords of equal models, by number of keywords."""
    for shape in SMALL:
        seeds = (np.random.default_rng([*shape, number]) for number in range(rounds))
        clusters = ((seed, draw_clusters(seed, shape)) for seed in seeds)
        make = MAKE[metric]
        yield str(shape.clusters), ((make(MEAN + draw_effects(*each, MODELS)), each[1]) for each in clusters)


def exchange_models(metric: str, rounds: int) -> Iterator[tuple[str, Iterator[Drawn]]]:
    """Yield scores of the demo with models exchanged keyword by keyword, by benchmark."""
    for variant in VARIANTS:
        files = sorted((DEMO / DOMAIN / "scores" / variant).glob("*.parquet"))
        frames = [pl.read_parquet(file).sort("pair_id") for file in files]
        values = np.stack([frame[metric].cast(pl.Float64).to_numpy() for frame in frames])
        names = frames[0]["keyword"].to_numpy().astype(str)
        yield f"demo, {variant}", _exchange(values, np.unique(names, return_inverse=True)[1], rounds)


def _exchange(values: Array, clusters: NDArray[np.int64], rounds: int) -> Iterator[Drawn]:
    for number in range(rounds):
        drawn = np.random.default_rng(number).random((clusters.max() + 1, len(values)))
        yield values[np.argsort(drawn)[clusters].T, np.arange(values.shape[1])], clusters


def main(arguments: argparse.Namespace) -> None:
    """Print the shares."""
    trim, rows = Summary().trim, []
    for draw, metric in product((draw_models, exchange_models), MAKE):
        for where, benchmarks in draw(metric, arguments.rounds):
            found = [
                [
                    compare_clustered(*drawn, each, trim)[np.triu_indices(len(drawn[0]), 1)]
                    for each in COMPARED
                ]
                for drawn in benchmarks
            ]
            for place, each in enumerate(COMPARED):
                one = np.mean([p[place][0] <= ERROR for p in found])
                alone = np.mean([p[place].min() <= ERROR for p in found])
                together = np.mean([adjust_holm(p[place]).min() <= ERROR for p in found])
                shares = [f"{100 * share:.1f} %" for share in (one, alone, together)]
                rows.append((where, f"{each.label} {metric}", *shares))
    print_table(["keywords", "statistic", "one comparison", "any, each alone", "any, corrected"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    run_program(parser, main)
