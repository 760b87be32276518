"""Which differences between models count: unpaired z test as published, paired test on examples.

Source: [TrainBeforeTest, App. C.2].

The unpaired test takes two models' errors for independent. On the same examples they are not, so it finds
less than there is; the paired test looks at the differences themselves.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def order_pairs(scores: "Array") -> "Array":
    """Return which of every two models is ahead.

    Parameters
    ----------
    scores : ndarray, shape (..., models, benchmarks)
        High is good; NaN where there is none.

    Returns
    -------
    ndarray, shape (..., benchmarks, pairs)
        1 if the first of a pair is ahead, -1 if the second, 0 for a tie, NaN where one has no score. Pairs in
        the order of `numpy.triu_indices(models, 1)`.
    """
    import numpy as np

    first, second = np.triu_indices(scores.shape[-2], 1)
    return np.sign(np.swapaxes(scores[..., first, :] - scores[..., second, :], -1, -2))


def compare_unpaired(scores: "Array", errors: "Array", significance: float) -> "Array":
    """Return :func:`order_pairs` with 0 where a difference is not significant [TrainBeforeTest, App. C.2].

    Parameters
    ----------
    scores, errors : ndarray, shape (..., models, benchmarks)
        Scores, high is good, and their standard errors.
    significance : float
        Two-sided p above which a difference counts as a tie.

    Returns
    -------
    ndarray, shape (..., benchmarks, pairs)
        NaN where a score or a standard error is missing.
    """
    import numpy as np
    from scipy.stats import norm

    first, second = np.triu_indices(scores.shape[-2], 1)
    threshold = norm.isf(significance / 2)
    apart = scores[..., first, :] - scores[..., second, :]
    spread = np.hypot(errors[..., first, :], errors[..., second, :])
    found = np.where(np.abs(apart) > threshold * spread, np.sign(apart), 0.0)
    return np.swapaxes(np.where(np.isnan(apart + spread), np.nan, found), -1, -2)


def compare_paired(examples: "Array", significance: float) -> "Array":
    """Return which of every two models is ahead on the same examples, 0 where neither is significantly.

    A paired t test of the mean difference, of all pairs of models at once, by their covariance.

    Parameters
    ----------
    examples : ndarray, shape (examples, models)
        Scores of single examples; NaN where there is none, which leaves the model untested.
    significance : float
        Two-sided p above which a difference counts as a tie.

    Returns
    -------
    ndarray, shape (pairs,)
        The sign is that of the scores as they are: high is good.
    """
    import numpy as np
    from scipy.stats import t

    count, models = examples.shape
    first, second = np.triu_indices(models, 1)
    covariance = np.atleast_2d(np.cov(examples, rowvar=False))
    spread = np.diag(covariance)
    # rounding may leave a difference that is the same everywhere a variance a little below 0
    variance = np.maximum(spread[first] + spread[second] - 2 * covariance[first, second], 0.0) / count
    means = examples.mean(axis=0)
    apart = means[first] - means[second]
    tolerance = 1e-12 * np.maximum(np.abs(means[first]), np.abs(means[second]))
    threshold = t.isf(significance / 2, count - 1) * np.sqrt(variance)
    found = np.where(np.abs(apart) > np.maximum(threshold, tolerance), np.sign(apart), 0.0)
    return np.where(np.isnan(apart + variance), np.nan, found)
