"""Predicts the comparison of two models on all pairs from those scored so far, validly at every look.

Sentences of a keyword come in random order without replacement: given a longer prefix, the expectation of the
mean over a shorter one is that over the longer [NoReplacement, Sec. 3]. Consider its distance from the mean
over all pairs. Over all looks it has the covariance of a Brownian motion, whose time is one over
the variance of the distance. In that time an asymptotic confidence sequence holds [AsympCS, Sec. 2]. All
keywords take part from the start, so only two things add to the variance: the sentences within keywords, and
shares of a keyword's sentences that are not whole numbers. The differences between keywords decide how wide
the interval over all pairs will be.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Order(NamedTuple):
    """Pairs of a benchmark in the order in which they are scored.

    `places` (ndarray of shape (n_pairs,), float64): from 0 up to 1, ascending; the pairs of one sentence of a
    keyword have the same, and a share of all is drawn with each first part of the sentences of every keyword.
    """

    keywords: NDArray[np.int64]  # shape (n_pairs,), int64: the keyword of each pair, numbers from 0
    places: Array

    def find_end(self, share: float) -> int:
        """Return how many pairs are in the first share of the order."""
        return len(self.places) if share >= 1 else int(self.places.searchsorted(share))


class Estimates(NamedTuple):
    """Means of several models on the first pairs, and variances of their differences.

    `ahead` (ndarray of shape (n_models, n_models), float64): variance of the distance of a difference of two
    models from its value over all pairs. `whole` (ndarray of shape (n_models, n_models), float64): variance
    of a difference over all pairs, with keywords as clusters. NaN if a variance is unknown: with a single
    keyword, or a single pair of each keyword with more.
    """

    values: Array  # shape (n_models,), float64
    ahead: Array
    whole: Array


def estimate_models(values: Array, order: Order, share: float) -> Estimates:
    """Return means of several models, shape (n_models, n_first_pairs), on the first share of the order."""
    found = values.mean(axis=1)
    names = order.keywords + order.places  # one number for each sentence of a keyword
    pairs, keywords = values.shape[1], int(order.keywords.max()) + 1
    _, first = np.unique(names, return_index=True)
    sizes = np.bincount(order.keywords[first], minlength=keywords)
    _, first, sentences = np.unique(names[:pairs], return_index=True, return_inverse=True)
    owners = order.keywords[first]
    drawn = np.bincount(owners, minlength=keywords)
    some = drawn > 0
    count = int(some.sum())
    if count < 2 or (len(owners) == count and sizes.max() > 1):
        unknown = np.full((len(values), len(values)), np.nan)
        return Estimates(found, unknown, unknown)
    moves = np.array([np.bincount(sentences, row) for row in values - found[:, None]])
    sums = np.array([np.bincount(owners, row, keywords) for row in moves])
    means = sums / np.maximum(drawn, 1)
    inner = moves - means[:, owners]
    within = _subtract(inner @ inner.T) / max(1, len(owners) - count)  # none within where each has one
    left = 1 - drawn / sizes
    # variance of keywords' means, beyond the sentences drawn
    among = _subtract(means @ means.T) / count - within * (left[some] / drawn[some]).mean()
    part = share * sizes % 1  # whether one more is drawn depends on chance
    ahead = within * (drawn * left).sum() + np.maximum(among, 0.0) * (part * (1 - part)).sum()
    ahead /= pairs**2
    # the jackknife: the mean without a large keyword moves by more than its sum
    weights = np.bincount(order.keywords[:pairs], minlength=keywords) / pairs
    left_out = sums / (1 - weights)
    clusters = _subtract(left_out @ left_out.T) * ((count - 1) / count) / pairs**2
    return Estimates(found, ahead, np.maximum(clusters - ahead, within * sizes.sum() / len(names) ** 2))


def _subtract(products: Array) -> Array:
    own = np.diag(products)
    both = own[:, None] + own[None, :]
    squares = both - 2 * products
    # two models with the same scores differ by 0, not by rounding errors
    return np.asarray(np.where(squares < 1e-12 * both, 0.0, squares))


def find_reach(ahead: Array, growth: float, error: float) -> Array:
    """Return how far differences over all pairs can be from those at a look.

    The sequence of Robbins' normal mixture for a Brownian motion at time 1 / `ahead` [AsympCS, Sec. 2].

    Parameters
    ----------
    ahead : ndarray of float64
        Variances at this look, see :class:`Estimates`.
    growth : float
        How many times the information of the first look this one has, see :func:`measure_growth`; the
        sequence is narrowest for the first look.
    error : float
        Probability that the sequence misses at any look.

    Returns
    -------
    ndarray of the same shape, float64
        NaN where a variance is unknown; 0 where it is 0.
    """
    twice = -2 * math.log(error)
    best = twice + math.log(twice) + 1  # information of the prior that is narrowest for 1 [AsympCS, App. B]
    time = best * growth
    return np.asarray(np.sqrt(ahead * (1 + 1 / time) * (math.log1p(time) - 2 * math.log(error))))


def measure_growth(pairs: int, first: int, total: int) -> float:
    """Return how many times the information of the first look one at more pairs has; below `total`.

    It depends only on numbers of pairs, as the tuning of a sequence must not depend on scores.
    """
    return (1 / first - 1 / total) / (1 / pairs - 1 / total)
