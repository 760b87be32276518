"""Which keywords a model in training learns or forgets: tests valid over all keywords and looks together.

The sentences of a keyword are the same at every look, so looks are not new samples. Random are the
benchmark's choice among all sentences that name the keyword, and the noise of a checkpoint: scores of
neighbouring steps go up and down together. Keywords have few sentences, so their variances are shrunk to
what keywords have in common [ModeratedT]. The noise of a step is measured from the curvature of the scores
over neighbouring looks [SignalAndNoise]. Look j of those that are tested may spend the j-th part 1 / (j (j
+ 1)) of the chance of an error, Holm's method divides it among keywords: so any dependence between looks
and keywords is allowed, and any number of looks.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.statistics.clustered_tests import adjust_holm

Array = NDArray[np.float64]

ERROR = 0.05
"""Chance that any keyword is called learned or forgotten at any look if none is."""
WINDOW = 10
"""Number of last looks whose curvature gives the noise of a step, which falls with the learning rate."""
FIRST = 3
"""Fewest checkpoints, including the reference, to measure the noise of a step."""
_OVERLAP = 0.51
"""What a second difference is worth beside its neighbours, which have checkpoints in common."""
_LEAST = 1e-5  # of the median variance: one of 0 comes from few sentences, or from rounding


class Look(NamedTuple):
    """Result of a look for each keyword.

    Attributes
    ----------
    change : ndarray of shape (n_keywords,), float64
        Mean over sentences, this checkpoint less the reference.
    error : ndarray of shape (n_keywords,), float64
        Standard error, with the noise of both checkpoints; NaN where it is not known.
    p, p_adjusted : ndarray of shape (n_keywords,), float64
        Of the test alone, and for all keywords and looks together; NaN where none can be made.
    found : ndarray of shape (n_keywords,), int64
        1 for learned, -1 for forgotten, 0 for neither, by `p_adjusted`.
    noise : float
        Standard deviation that the noise of a step gives the score of a typical keyword; NaN if not known.
    """

    change: Array
    error: Array
    p: Array
    p_adjusted: Array
    found: NDArray[np.int64]
    noise: float


def look_at(
    scores: Array, keywords: NDArray[np.int64], can_be_named: NDArray[np.bool_] | None = None
) -> Look:
    """Test whether the keywords' scores at the last checkpoint differ from those at the first one.

    Parameters
    ----------
    scores : ndarray of shape (n_checkpoints, n_sentences), float64
        Higher is better, such as bits; the reference first, then one row for each look so far.
    keywords : ndarray of shape (n_sentences,), int64
        The keyword of each sentence, numbers from 0 of which none is missing.
    can_be_named : ndarray of shape (n_keywords,), bool, optional
        Keywords to test; by default all. The others also serve to measure the noise.
    """
    from scipy.stats import t

    sizes = np.bincount(keywords)
    change = _average(scores[-1] - scores[0], keywords, sizes)
    unknown = np.full(len(sizes), np.nan)
    if len(scores) < FIRST or sizes.max() < 2:
        return Look(change, unknown, unknown, unknown, np.zeros(len(sizes), dtype=np.int64), np.nan)
    own, freedom = moderate_variances(scores[-1] - scores[0] - change[keywords], keywords, sizes)
    means = np.stack([_average(row, keywords, sizes) for row in scores[-WINDOW - 2 :]])
    noises = measure_noise(means)
    parts = [(own / sizes, freedom), *((2 * part, np.full(len(sizes), worth)) for part, worth in noises)]
    variance = np.sum([part for part, _ in parts], axis=0)
    fixed = variance == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        # Satterthwaite's degrees of freedom of a sum of variances
        joint = variance**2 / np.sum([part**2 / worth for part, worth in parts], axis=0)
        p = 2 * t.sf(abs(change) / np.sqrt(variance), joint)
    p = np.where(fixed, np.where(change == 0, 1.0, np.nan), p)
    if can_be_named is not None:
        p = np.where(can_be_named, p, np.nan)
    tested = len(scores) - FIRST + 1
    adjusted = np.minimum(adjust_holm(p) * tested * (tested + 1), 1.0)
    found = np.where(adjusted <= ERROR, np.sign(change), 0).astype(np.int64)
    noise = float(np.sqrt(np.median(np.sum([part for part, _ in noises], axis=0))))
    return Look(change, np.sqrt(variance), p, adjusted, found, noise)


def confirm(found: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return which keywords are learned (1) or forgotten (-1) at the last look and at the one before it.

    A single look is not enough to act on: the next checkpoint has to confirm it.
    """
    if len(found) < 2:
        return np.zeros_like(found[-1])
    return np.asarray(np.where(found[-1] == found[-2], found[-1], 0))


def _average(values: Array, keywords: NDArray[np.int64], sizes: NDArray[np.int64]) -> Array:
    return np.asarray(np.bincount(keywords, values, len(sizes)) / sizes)


def moderate_variances(
    apart: Array, keywords: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[Array, Array]:
    """Return the variance of each keyword's sentences, shrunk to what keywords share, and its freedom.

    Variances are taken as drawn from a scaled inverse chi-squared distribution, whose scale and freedom are
    fitted to the moments of their logarithms [ModeratedT, Sec. 6.2].

    Parameters
    ----------
    apart : ndarray of shape (n_sentences,), float64
        Values less their keyword's mean.
    keywords : ndarray of shape (n_sentences,), int64
    sizes : ndarray of shape (n_keywords,), int64
        Sentences of each keyword. One with a single sentence has the common variance.
    """
    from scipy.special import digamma, polygamma

    own = sizes - 1.0
    several = own > 0
    variances = np.bincount(keywords, apart**2, len(sizes)) / np.maximum(own, 1)
    some, half = variances[several], own[several] / 2
    if not some.any():
        return np.zeros(len(sizes)), np.full(len(sizes), own.sum())
    some = np.maximum(some, _LEAST * np.median(some[some > 0]))
    if len(some) < 2:
        return np.where(several, variances, np.nan), np.where(several, own, np.nan)
    logs = np.log(some) - digamma(half) + np.log(half)
    beyond = logs.var(ddof=1) - polygamma(1, half).mean()
    if beyond <= 0:  # no more apart than variances of equal keywords would be
        return np.full(len(sizes), (own[several] * some).sum() / own.sum()), np.full(len(sizes), own.sum())
    prior = 2 * _invert_trigamma(float(beyond))
    scale = np.exp(logs.mean() + digamma(prior / 2) - np.log(prior / 2))
    shrunk = (prior * scale + own * variances) / (prior + own)
    return shrunk, np.minimum(prior + own, own.sum())


def _invert_trigamma(value: float) -> float:
    """Return where the trigamma function has a positive value, by Newton's method [ModeratedT, App.]."""
    from scipy.special import polygamma

    found = 0.5 + 1 / value
    for _ in range(50):
        now = float(polygamma(1, found))
        step = now * (1 - now / value) / float(polygamma(2, found))
        found += step
        if -step / found < 1e-8:
            break
    return found


def measure_noise(means: Array) -> list[tuple[Array, float]]:
    """Return the variances that the noise of a step gives to scores, and their degrees of freedom.

    A trend has no second difference; noise of variance v has one of variance 6 v. `means` (ndarray of shape
    (n_checkpoints, n_keywords), float64): at least three checkpoints in a row.

    Returns
    -------
    list of (ndarray of shape (n_keywords,), float)
        Of the part common to all keywords, and of each one's own part, the larger of its own variance and
        the common one.
    """
    bends = means[2:] - 2 * means[1:-1] + means[:-2]
    looks, count = bends.shape
    common = bends.mean(axis=1)
    found = [(np.full(count, np.square(common).mean() / 6), max(0.5, _OVERLAP * looks))]
    if count > 1:
        rest = np.square(bends - common[:, None]) * count / (count - 1) / 6
        found.append((np.maximum(rest.mean(axis=0), rest.mean()), max(0.5, _OVERLAP * looks * (count - 1))))
    return found
