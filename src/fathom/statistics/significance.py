"""Significant differences between models: the published unpaired z test, paired tests on examples.

Source: [TrainBeforeTest, App. C.2].

The unpaired test assumes that the errors of two models are independent. On the same examples they are not, so
it has less power than a paired test of the differences.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.statistics.aggregates import TRIMMED_MEAN, Resamples
from fathom.statistics.clusters import number_clusters

Array = NDArray[np.float64]

ROUNDS = 1000
"""Bootstrap resamples of a paired test."""

_TOLERANCE = 1e-12  # relative: smaller differences are rounding


def order_pairs(scores: Array) -> Array:
    """Return which model of each pair is ahead.

    `scores` (ndarray of shape (..., n_models, n_benchmarks)): high is good; NaN where missing.

    Returns
    -------
    ndarray of shape (..., n_benchmarks, n_model_pairs)
        1 if the first of a pair is ahead, -1 if the second, 0 for a tie, NaN where one has no score. Pairs in
        the order of `numpy.triu_indices(models, 1)`.
    """
    first, second = np.triu_indices(scores.shape[-2], 1)
    return np.sign(np.swapaxes(scores[..., first, :] - scores[..., second, :], -1, -2))


def compare_unpaired(scores: Array, errors: Array, significance: float) -> Array:
    """Return :func:`order_pairs` with 0 where a difference is not significant [TrainBeforeTest, App. C.2].

    Parameters
    ----------
    scores, errors : ndarray of shape (..., n_models, n_benchmarks)
        Scores, high is good, and their standard errors.
    significance : float
        Two-sided p above which a difference counts as a tie.

    Returns
    -------
    ndarray of shape (..., n_benchmarks, n_model_pairs)
        NaN where a score or a standard error is missing.
    """
    from scipy.stats import norm

    first, second = np.triu_indices(scores.shape[-2], 1)
    threshold = norm.isf(significance / 2)
    apart = scores[..., first, :] - scores[..., second, :]
    spread = np.hypot(errors[..., first, :], errors[..., second, :])
    found = np.where(np.abs(apart) > threshold * spread, np.sign(apart), 0.0)
    return np.swapaxes(np.where(np.isnan(apart + spread), np.nan, found), -1, -2)


class ExampleScores(NamedTuple):
    """Scores of single examples of one benchmark, and how they make up its score.

    `keywords`: examples of one keyword are drawn together, others alone; without two keywords, all alone.
    """

    values: Array  # shape (n_examples, n_models): NaN leaves the model untested
    weights: Array  # shape (n_examples,): the score is their weighted mean, unless it is trimmed
    keywords: list[str]
    trim: float | None = None  # share cut from each end if the score is a trimmed mean, as for ranks


def compare_paired(examples: ExampleScores, significance: float) -> Array:
    """Return which model of each pair is significantly ahead on the same examples, 0 if neither is.

    The test uses the reported statistic: a paired t test for a plain mean of independent examples; a paired
    bootstrap for a trimmed or weighted mean, or if examples share keywords. Signs are those of high-is-good
    scores; `significance` is the two-sided p above which it is a tie.
    """
    if examples.trim is not None or any(examples.keywords) or np.ptp(examples.weights) > 0:
        return _compare_resampled(examples, significance)
    return _compare_means(examples.values, significance)


def _compare_means(values: Array, significance: float) -> Array:
    from scipy.stats import t

    count, models = values.shape
    first, second = np.triu_indices(models, 1)
    covariance = np.atleast_2d(np.cov(values, rowvar=False))
    spread = np.diag(covariance)
    # by rounding, a constant difference may have a variance a little below 0
    variance = np.maximum(spread[first] + spread[second] - 2 * covariance[first, second], 0.0) / count
    means = values.mean(axis=0)
    apart = means[first] - means[second]
    tolerance = _TOLERANCE * np.maximum(np.abs(means[first]), np.abs(means[second]))
    threshold = t.isf(significance / 2, count - 1) * np.sqrt(variance)
    found = np.where(np.abs(apart) > np.maximum(threshold, tolerance), np.sign(apart), 0.0)
    return np.where(np.isnan(apart + variance), np.nan, found)


def _compare_resampled(examples: ExampleScores, significance: float) -> Array:
    """Test differences by a bootstrap that draws the same keywords for all models."""
    clusters = number_clusters(examples.keywords)
    number = int(clusters.max()) + 1
    random = np.random.default_rng(0)
    drawn = np.stack([np.bincount(random.integers(number, size=number), minlength=number)
                      for _ in range(ROUNDS)])  # fmt: skip
    counts = np.concatenate([np.ones((1, number), dtype=drawn.dtype), drawn])[:, clusters]
    scores = np.stack([average_examples(values, examples, counts) for values in examples.values.T], axis=1)
    first, second = np.triu_indices(scores.shape[1], 1)
    apart = scores[:, first] - scores[:, second]
    low, high = np.quantile(apart[1:], [significance / 2, 1 - significance / 2], axis=0)
    # by pair: a model without a score leaves the others tested
    tolerance = _TOLERANCE * np.maximum(np.abs(scores[0, first]), np.abs(scores[0, second]))
    found = np.where((low > tolerance) | (high < -tolerance), np.sign(apart[0]), 0.0)
    return np.where(np.isnan(apart[0]), np.nan, found)


def average_examples(values: Array, examples: ExampleScores, counts: NDArray[np.int64]) -> Array:
    """Return the trimmed or weighted mean of one model's values in each resample, of shape (n_rounds,).

    `counts`, of shape (n_rounds, n_examples), says how often each resample has each example.
    """
    if examples.trim is None:
        return (counts @ (values * examples.weights)) / (counts @ examples.weights)
    order = np.argsort(values, kind="stable")
    return TRIMMED_MEAN.measure(Resamples(values[order], counts[:, order].astype(np.int32), examples.trim))
