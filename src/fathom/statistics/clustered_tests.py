"""Tests of every two models on one benchmark, with dependent pairs of a keyword and many tests."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fathom.statistics.aggregates import GEOMETRIC_MEAN, MEAN, TRIMMED_MEAN, Statistic
from fathom.statistics.bootstrap import Resampled

Array = NDArray[np.float64]

_ROUNDING = 1e-12


def measure_influence(values: Array, statistic: Statistic, trim: float) -> tuple[Array, Array]:
    """Return a statistic of each model, and the influence of each value.

    Ranks and probabilities of models differ by factors: of a trimmed or geometric mean it is the logarithm.
    On this scale errors do not depend on how good a model is [HuberRonchetti, Ch. 3]. A mean is not
    transformed: accuracies differ by points.

    Parameters
    ----------
    values : ndarray of shape (n_models, n_pairs), float64
    statistic : Statistic
        The mean, the trimmed or the geometric mean.
    trim : float
        Share that the trimmed mean cuts from each end.

    Returns
    -------
    found : ndarray of shape (n_models,), float64
        NaN for a trimmed or geometric mean of 0, which has no logarithm.
    influence : ndarray of shape (n_models, n_pairs), float64
        The error of a statistic is the mean of its row, which has a mean of 0.
    """
    if statistic == MEAN:
        found = values.mean(axis=1)
        return found, values - found[:, None]
    if statistic == GEOMETRIC_MEAN:
        logarithms = np.log(np.where(values > 0, values, np.nan))
        found = logarithms.mean(axis=1)
        return found, logarithms - found[:, None]
    if statistic != TRIMMED_MEAN:
        raise ValueError(f"no influence function for {statistic.name}")
    count = values.shape[1]
    cut = int(trim * count)
    kept = np.sort(values, axis=1)[:, cut : count - cut]
    pulled = np.clip(values, kept[:, :1], kept[:, -1:])
    means = kept.mean(axis=1)
    means = np.where(means > 0, means, np.nan)
    influence = (pulled - pulled.mean(axis=1, keepdims=True)) / (1 - 2 * cut / count)
    return np.log(means), influence / means[:, None]


def compare_clustered(values: Array, clusters: NDArray[np.int64], statistic: Statistic, trim: float) -> Array:
    """Return the two-sided p of the difference of every two models, not corrected for many tests.

    Student's t with the jackknife's variance over clusters [ClusterJackknife]. `clusters` (ndarray of shape
    (n_pairs,), int64): the keyword of each pair, numbers from 0 of which none is missing.

    Returns
    -------
    ndarray of shape (n_models, n_models), float64
        NaN with a single keyword, and for a mean of 0 that has no logarithm.
    """
    from scipy.special import stdtr

    sizes = np.bincount(clusters)
    if len(sizes) == 1:
        return np.full((len(values), len(values)), np.nan)
    found, influence = measure_influence(values, statistic, trim)
    sums = np.stack([np.bincount(clusters, row) for row in influence])
    count = len(sizes)
    # without a large keyword a mean moves by more than the keyword's sum
    moves = sums / (sizes.sum() - sizes)
    products = moves @ moves.T
    both = np.diag(products)[:, None] + np.diag(products)
    variances = (count - 1) / count * (both - 2 * products)
    gaps = abs(found[:, None] - found)
    fixed = variances <= _ROUNDING * both  # the same difference on all pairs
    errors = np.sqrt(np.where(fixed, 1.0, variances))
    p = 2 * stdtr(count_freedom(sizes), -gaps / errors)
    return np.asarray(np.where(fixed, np.where(gaps > _ROUNDING, 0.0, 1.0), p))


def bound_mean(values: Array, clusters: NDArray[np.int64], confidence: float) -> tuple[float, float]:
    """Return the interval of a mean: values not rejected by the test of :func:`compare_clustered`.

    Parameters
    ----------
    values : ndarray of shape (n_pairs,), float64
        Such as differences of two models.

    Returns
    -------
    tuple of float
        NaN with a single keyword.
    """
    from scipy.special import stdtrit

    sizes = np.bincount(clusters)
    count, mean = len(sizes), float(values.mean())
    if count == 1:
        return math.nan, math.nan
    moves = np.bincount(clusters, values - mean) / (sizes.sum() - sizes)
    error = math.sqrt((count - 1) / count * float(moves @ moves))
    reach = float(stdtrit(count_freedom(sizes), (1 + confidence) / 2)) * error
    return mean - reach, mean + reach


def count_freedom(sizes: NDArray[np.int64]) -> float:
    """Return the degrees of freedom of a variance over clusters; with equal sizes one less than clusters.

    The variance of a cluster's sum goes with its size if its items are independent, with the size squared if
    they are alike. Between Satterthwaite's degrees of freedom for both it is their geometric mean.
    """
    independent, alike = (
        max(1.0, float(each.sum() ** 2 / np.square(each).sum()) - 1) for each in (sizes**1.0, sizes**2.0)
    )
    return float(np.sqrt(independent * alike))


def correct_family(tests: "Sequence[tuple[Resampled | None, float]]") -> list[tuple[float, float]]:
    """Return p of each test alone, and corrected for all by Holm's method; NaN for None.

    A test is a number with the threshold that it may differ from.
    """
    alone = np.array([number.test(level) if number else np.nan for number, level in tests])
    far = np.array([number.test_far(level) if number else np.nan for number, level in tests])
    return list(zip(alone.tolist(), np.maximum(adjust_holm(far), alone).tolist(), strict=True))


def adjust_holm(p: Array) -> Array:
    """Return p corrected for the number of tests: the chance of any false discovery [Holm]."""
    order = np.argsort(p)  # NaN last
    tests = int((~np.isnan(p)).sum())
    found = np.empty_like(p)
    found[order] = np.maximum.accumulate((tests - np.arange(len(p))) * p[order])
    return np.minimum(found, 1.0)
