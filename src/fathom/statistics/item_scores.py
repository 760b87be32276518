"""Scores of models on single items, such as right or wrong: means, and tests of every two models.

Accuracies are whole numbers of items. If two models differ on few of them, neither a bootstrap nor a t test
is valid: with four such items, all on one side, it is wrong in an eighth of all cases. So no p is below the
exact test of signs, which is McNemar's for right or wrong items that are their own clusters.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fathom.config.scoring import Summary
from fathom.statistics.aggregates import MEAN
from fathom.statistics.bootstrap import Estimate, Resampled, draw_resamples, resample_ratio
from fathom.statistics.clustered_tests import compare_clustered
from fathom.statistics.clusters import Clusters
from fathom.statistics.comparisons import Difference, ResampledMetric, compare_models
from fathom.statistics.metrics import Metric

Array = NDArray[np.float64]

_FINEST = 64
"""Fractions of a point to look for in scores, such as averages over epochs of an item."""
_ROUNDING = 1e-9


def resample_items(
    task: str, scores: Mapping[str, Array], clusters: Clusters, metric: Metric, settings: Summary
) -> ResampledMetric:
    """Resample the mean score of every model over clusters of items, the same ones for all models.

    `scores` has values of shape (n_items,) by model, items in one order. `tested` has the larger p of the t
    test over clusters and of :func:`compare_signs`.
    """
    _, codes = np.unique(np.array(clusters.names), return_inverse=True)
    sizes = np.bincount(codes).astype(np.float64)
    drawn = _draw(len(sizes), settings.rounds, settings.seed)
    models = {}
    for model, each in scores.items():
        sums = np.bincount(codes, each).astype(np.float64)
        models[model] = replace(resample_ratio(sums, sizes, drawn), items=len(codes))
    values = np.stack(list(scores.values()))
    tested = np.maximum(compare_clustered(values, codes, MEAN, settings.trim), compare_signs(values, codes))
    return ResampledMetric(task, metric.name, metric, MEAN.name, models, tested, clusters.kind)


@lru_cache(maxsize=1)  # metrics of a task, and tasks of a size, follow each other
def _draw(count: int, rounds: int, seed: int) -> Array:
    return draw_resamples(count, Summary(rounds=rounds, seed=seed)).astype(np.float64)


def compare_signs(values: Array, clusters: NDArray[np.int64]) -> Array:
    """Return the two-sided p of the exact test of signs of every two models [McNemar].

    If two models are alike, each cluster's difference could as well have the other sign. The test counts
    the signs that make the sum of differences at least as large as it is. Scores that are not such
    fractions have too many sums to count; p is then the least possible with so many clusters.

    Parameters
    ----------
    values : ndarray of shape (n_models, n_items), float64
    clusters : ndarray of shape (n_items,), int64
        Numbers from 0 of which none is missing.

    Returns
    -------
    ndarray of shape (n_models, n_models), float64
        1 on the diagonal.
    """
    sums = np.stack([np.bincount(clusters, row) for row in values])
    parts = find_parts(values)
    found = np.ones((len(values), len(values)))
    for one, other in combinations(range(len(values)), 2):
        gaps = sums[one] - sums[other]
        known = gaps[np.abs(gaps) > _ROUNDING]
        p = _count_signs(np.rint(known * parts).astype(np.int64)) if parts else 2.0 ** (1 - len(known))
        found[one, other] = found[other, one] = min(1.0, p)
    return found


def compare_items(
    resampled: ResampledMetric, signs: Array, settings: Summary
) -> list[tuple[Difference, float]]:
    """Return the difference of every two models with its p by the exact test of signs, in ranking order.

    As :func:`fathom.statistics.comparisons.compare_models`, but neither p nor interval of two models alone is
    surer than the tests of items: p is the largest of all, and an interval holds 0 where p is above
    1 - confidence.
    """
    places = {model: place for place, model in enumerate(resampled.models)}
    found = []
    for each in compare_models(resampled, settings):
        pair = places[each.better], places[each.worse]
        p = max(each.p, float(resampled.tested[pair]))
        low = min(each.low, 0.0) if p > 1 - settings.confidence else each.low
        found.append((replace(each, p=p, low=low), float(signs[pair])))
    return found


def find_parts(values: Array) -> int:
    """Return the smallest denominator of which all scores are multiples; 0 if there is none."""
    levels = np.unique(values)
    for parts in range(1, _FINEST + 1):
        scaled = levels * parts
        if (np.abs(scaled - np.rint(scaled)) < _ROUNDING).all():
            return parts
    return 0


def _count_signs(gaps: NDArray[np.int64]) -> float:
    """Return the share of all signs whose sum lies at least as far from 0 as that of some whole numbers."""
    if not len(gaps):
        return 1.0
    sizes, counts = np.unique(np.abs(gaps), return_counts=True)
    reach = int((sizes * counts).sum())
    # the sum of random signs has the product of cosines as its characteristic function
    angles = 2 * np.pi * np.arange(2 * reach + 1) / (2 * reach + 1)
    product = np.prod(
        [np.cos(size * angles) ** count for size, count in zip(sizes, counts, strict=True)], axis=0
    )
    shares = np.fft.ifft(product).real.clip(0)
    far = abs(int(gaps.sum()))
    return float(shares[far : 2 * reach + 2 - far].sum()) if far else 1.0


def estimate_mean(resampled: Resampled, clusters: int, metric: Metric, confidence: float) -> Estimate:
    """Return the mean score of a model with its interval.

    A bootstrap of nearly perfect scores has almost no width. A share between 0 and 1 therefore gets the
    wider of its interval and of Wilson's [Wilson], for as many independent items as have the error of the
    bootstrap.
    """
    from scipy.special import ndtri

    found = resampled.estimate(confidence)
    if (metric.least, metric.most) != (0.0, 1.0) or clusters < 2:
        return found
    value, spread = found.value, float(resampled.drawn.var()) * clusters / (clusters - 1)
    count = clusters if spread <= 0 else min(max(clusters, value * (1 - value) / spread), resampled.items)
    z = float(-ndtri((1 - confidence) / 2))
    middle = (value + z * z / (2 * count)) / (1 + z * z / count)
    reach = z / (1 + z * z / count) * math.sqrt(value * (1 - value) / count + (z / (2 * count)) ** 2)
    low, high = min(found.low, max(0.0, middle - reach)), max(found.high, min(1.0, middle + reach))
    return Estimate(value, low, high)
