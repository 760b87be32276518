"""Measure how often intervals of agreement hold the truth, and how often they leave out their own estimate.

Scores of many models are a model's quality and the noise of each benchmark, less of it after tuning, so that
the tau of every two benchmarks over infinitely many models is known: 2 / pi times the arcsine of their
correlation. Of each drawn table the intervals over models are made in several ways. Prints a line for each
shape of the table, statistic and way.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from perf.turns import print_table
from scipy.stats import t

from fathom.config.scoring import Summary
from fathom.ranking.components import find_components
from fathom.statistics.bootstrap import find_interval
from fathom.statistics.correlations import (
    average,
    draw_models,
    estimate_over_models,
    pick_pairs,
    share_improved,
    spread_left_out,
    weigh_pairs,
)
from fathom.statistics.significance import order_pairs

MODELS, BENCHMARKS = (10, 20, 61), (8, 24)
NOISE = {"all improve": (1.1, 0.55), "some improve": (0.8, 0.7), "none improves": (0.8, 0.8)}
"""Mean noise of benchmarks, in standard deviations of quality, before and after tuning."""

Array = NDArray[np.float64]


class Interval(NamedTuple):
    """An interval of one drawn table, with its estimate and what is true of infinitely many models."""

    statistic: str
    way: str
    truth: float
    value: float
    low: float
    high: float


def draw_noise(benchmarks: int, case: str) -> Array:
    """Return the noise of each benchmark before and after tuning, shape (2, benchmarks); always the same."""
    before, after = NOISE[case]
    factors = np.random.default_rng(benchmarks).uniform(0.5, 1.5, size=(2, benchmarks))
    return np.stack([before * factors[0], after * factors[0 if before == after else 1]])


def find_truths(noise: Array) -> dict[str, float]:
    """Return the statistics of infinitely many models."""
    loads = 1 / np.sqrt(1 + noise**2)
    correlations = loads[:, :, None] * loads[:, None, :]
    taus = pick_pairs(2 / np.pi * np.arcsin(correlations))
    index = np.arange(noise.shape[1])
    correlations[:, index, index] = 1
    largest = np.linalg.eigvalsh(correlations)[:, -1] / noise.shape[1]
    return {
        "mean_tau": float(taus[0].mean()),
        "change of mean_tau": float((taus[1] - taus[0]).mean()),
        "share_improved_tau": float(share_improved(taus[:1], taus[1:])[0]),
        "pc1_share": float(largest[0]),
        "change of pc1_share": float(largest[1] - largest[0]),
    }


def measure_pairs(signs: Array, weights: Array) -> Array:
    """Return what `measure_tau` does of every two benchmarks, in one product: no score is missing or tied."""
    first, second = np.triu_indices(len(signs), 1)
    return weights @ (signs[first] * signs[second]).T / weights.sum(axis=1)[:, None]


def measure_statistics(scores: Array, counts: Array) -> dict[str, Array]:
    """Return the same statistics of drawn scores (2, n_models, n_benchmarks), for each resample."""
    weights = weigh_pairs(counts)
    before, after = (measure_pairs(signs, weights) for signs in order_pairs(scores))
    shares = [find_components(each, counts, 1).shares[:, 0] for each in scores]
    return {
        "mean_tau": average(before),
        "change of mean_tau": average(after - before),
        "share_improved_tau": share_improved(before, after),
        "pc1_share": shares[0],
        "change of pc1_share": shares[1] - shares[0],
    }


def make_percentile(rows: Array, left_out: Array) -> tuple[float, float]:
    """Return the percentiles of the resamples."""
    return find_interval(rows[1:], 0.95, math.inf)


def make_wide(rows: Array, left_out: Array) -> tuple[float, float]:
    """Return the percentiles, and the estimate as an end where it lies outside."""
    low, high = find_interval(rows[1:], 0.95, math.inf)
    return min(low, rows[0]), max(high, rows[0])


def make_centred(rows: Array, left_out: Array) -> tuple[float, float]:
    """Return the percentiles, moved so that the median of the resamples is the estimate."""
    shift = rows[0] - np.median(rows[1:])
    low, high = find_interval(rows[1:], 0.95, math.inf)
    return low + shift, high + shift


def make_reflected(rows: Array, left_out: Array) -> tuple[float, float]:
    """Return the basic bootstrap's interval."""
    low, high = find_interval(rows[1:], 0.95, math.inf)
    return 2 * rows[0] - high, 2 * rows[0] - low


def make_normal(rows: Array, left_out: Array) -> tuple[float, float]:
    """Return so many standard errors of the bootstrap to either side, as t has it."""
    half = t.ppf(0.975, len(left_out) - 1) * rows[1:].std(ddof=1)
    return rows[0] - half, rows[0] + half


def make_jackknife(rows: Array, left_out: Array) -> tuple[float, float]:
    """Return so many standard errors of the jackknife to either side, as t has it."""
    count = len(left_out)
    half = t.ppf(0.975, count - 1) * np.sqrt((count - 1) * left_out.var())
    return rows[0] - half, rows[0] + half


def make_bounded(rows: Array, left_out: Array) -> tuple[float, float]:
    """Return the jackknife's interval on the scale of Fisher's z, where -1 and 1 are infinitely far."""
    moved = np.arctanh(np.clip(np.concatenate([rows[:1], left_out]), -1 + 1e-9, 1 - 1e-9))
    low, high = make_jackknife(moved, moved[1:])
    return np.tanh(low), np.tanh(high)


def make_scaled(rows: Array, left_out: Array) -> tuple[float, float]:
    """Return the bootstrap's standard errors on the scale of Fisher's z."""
    low, high = make_normal(np.arctanh(np.clip(rows, -1 + 1e-9, 1 - 1e-9)), left_out)
    return np.tanh(low), np.tanh(high)


def make_odds(rows: Array, left_out: Array) -> tuple[float, float]:
    """Return the jackknife's interval on the scale of log-odds, as a share between 0 and 1 has it."""
    spread = spread_left_out(rows[0], left_out)
    return estimate_over_models(spread, len(left_out), 0.95, 0.0, 1.0, odds=True)[1:]


WAYS: dict[str, Callable[[Array, Array], tuple[float, float]]] = {
    "percentile": make_percentile, "wide": make_wide, "centred": make_centred,
    "reflected": make_reflected, "normal": make_normal, "jackknife": make_jackknife,
    "bounded": make_bounded, "scaled": make_scaled, "odds": make_odds,
}  # fmt: skip


def simulate_intervals(
    models: int, benchmarks: int, case: str, trials: int, rounds: int
) -> Iterator[Interval]:
    """Yield the intervals of so many drawn tables."""
    noise = draw_noise(benchmarks, case)
    truths = find_truths(noise)
    for trial in range(trials):
        random = np.random.default_rng([models, benchmarks, trial])
        scores = (
            random.normal(size=(1, models, 1)) + random.normal(size=(2, models, benchmarks)) * noise[:, None]
        )
        counts = draw_models(np.ones(models, dtype=bool), Summary(rounds=rounds, seed=trial))
        found = measure_statistics(scores, np.concatenate([counts, 1 - np.eye(models)]))
        for name, values in found.items():
            rows, left_out = values[: 1 + rounds], values[1 + rounds :]
            for way, make in WAYS.items():
                yield Interval(name, way, truths[name], float(rows[0]), *map(float, make(rows, left_out)))


def main(arguments: argparse.Namespace) -> None:
    """Simulate every shape, print the table."""
    for case, models, benchmarks in product(NOISE, arguments.models, BENCHMARKS):
        found: dict[tuple[str, str], list[Interval]] = {}
        for each in simulate_intervals(models, benchmarks, case, arguments.trials, arguments.rounds):
            found.setdefault((each.statistic, each.way), []).append(each)
        lines = []
        for (name, way), some in found.items():
            if name == "share_improved_tau" and case == "none improves":
                continue
            held = np.mean([each.low - 1e-12 <= each.truth <= each.high + 1e-12 for each in some])
            without = np.mean([not each.low - 1e-12 <= each.value <= each.high + 1e-12 for each in some])
            width = np.mean([each.high - each.low for each in some])
            bias = np.mean([each.value - each.truth for each in some])
            lines.append((case, models, benchmarks, name, way, f"{held:.3f}", f"{without:.3f}",
                          f"{width:.3f}", f"{bias:+.3f}"))  # fmt: skip
        print_table(("case", "models", "benchmarks", "statistic", "way", "holds", "leaves out its estimate",
                     "width", "bias"), lines)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, nargs="+", default=MODELS)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=200)
    main(parser.parse_args())
