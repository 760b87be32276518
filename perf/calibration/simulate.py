"""Simulated scores of the demo's shape.

The logarithm of a rank is the sum of a mean, an effect of the keyword and one of the pair, as large as the
demo's; models share part of both.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray
from perf.calibration.case import Shape
from scipy.stats import norm

from fathom.statistics.aggregates import STATISTICS, measure_values

Array = NDArray[np.float64]
PAIRS = 640
"""Of the demo's benchmarks."""
MEAN, BETWEEN, WITHIN = 5.5, 0.8, 1.3
"""Of log ranks: mean, standard deviation of keywords' effects and of pairs'; the demo's models have 4.1 to
6.5, 0.6 to 0.95 and 1.1 to 1.4."""
SHARED = 0.6
"""Correlation of two models; the demo's have 0.3 to 0.95."""
VOCABULARY = 50_000


def draw_clusters(random: np.random.Generator, shape: Shape, pairs: int = PAIRS) -> NDArray[np.int64]:
    """Return the cluster of each item: their sizes vary as an exponential, as the demo's do."""
    weights = random.exponential(size=shape.clusters)
    more = max(0, pairs * shape.times - shape.clusters)
    sizes = 1 + random.multinomial(more, weights / weights.sum())
    return np.repeat(np.arange(shape.clusters), sizes)


def draw_effects(
    random: np.random.Generator, clusters: NDArray[np.int64], models: int, shared: float = SHARED
) -> Array:
    """Return deviations of log ranks from their means, of shape (n_models, n_items)."""
    parts = []
    for count, spread, codes in ((int(clusters.max()) + 1, BETWEEN, clusters), (len(clusters), WITHIN, ...)):
        common, own = random.normal(0, spread, count), random.normal(0, spread, (models, count))
        parts.append((math.sqrt(shared) * common + math.sqrt(1 - shared) * own)[:, codes])
    return np.asarray(parts[0] + parts[1])


def make_ranks(logs: Array) -> Array:
    """Return ranks for their logarithms."""
    return np.minimum(np.floor(np.exp(logs)) + 1, VOCABULARY)


def make_probabilities(logs: Array) -> Array:
    """Return probabilities that go with the logarithms of ranks, most of them tiny."""
    return 1 / (1 + np.exp(logs))


MAKE = {"rank": make_ranks, "probability": make_probabilities}


def name_models(count: int) -> list[str]:
    """Return names of models."""
    return [f"model-{place:03d}" for place in range(count)]


def draw_scores(
    random: np.random.Generator, shape: Shape, means: Sequence[float] = (MEAN,)
) -> dict[tuple[str, str, str], pl.DataFrame]:
    """Return scores of models with these means of log ranks on one benchmark, by domain, variant, model."""
    clusters = draw_clusters(random, shape)
    effects = draw_effects(random, clusters, len(means))
    columns = {
        "pair_id": [f"{place:06d}" for place in range(len(clusters))],
        "keyword": [f"keyword {code:04d}" for code in clusters.tolist()],
    }
    found = {}
    for model, mean, own in zip(name_models(len(means)), means, effects, strict=True):
        values = {name: make(mean + own) for name, make in MAKE.items()}
        others = {"log_probability": np.log(values["probability"]), "rival_rank": np.full(len(own), np.nan)}
        found["domain", "tf", model] = pl.DataFrame(columns | values | others)
    return found


@cache
def find_truth(metric: str, aggregate: str, mean: float = MEAN) -> float:
    """Return a statistic of a metric over all pairs that there could be: a million of its quantiles."""
    places = (np.arange(1_000_000) + 0.5) / 1_000_000
    logs = norm.ppf(places, mean, math.hypot(BETWEEN, WITHIN))
    return measure_values(MAKE[metric](logs), STATISTICS[aggregate], 0.2)
