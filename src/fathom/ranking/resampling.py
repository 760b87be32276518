"""Bootstrap over models: draws, and percentile intervals of statistics.

The first row of a statistic belongs to the table itself, its other rows to resamples. All conditions share
the resamples, so that differences are paired. Copies of a model in a resample are never compared with each
other.
"""

from typing import TYPE_CHECKING

from fathom.config.scoring import Summary
from fathom.statistics.aggregates import find_interval
from fathom.statistics.summaries import Estimate, draw_resamples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def draw_models(chosen: "NDArray[np.bool_]", settings: Summary) -> "Array":
    """Draw models with replacement.

    Parameters
    ----------
    chosen : ndarray of shape (n_models,), bool
        Models to draw from.
    settings : Summary
        Uses `rounds` and `seed`.

    Returns
    -------
    ndarray of shape (1 + n_rounds, n_models)
        Number of times each model is in the table itself (once) and in each resample.
    """
    import numpy as np

    counts = np.zeros((1 + settings.rounds, len(chosen)))
    number = int(chosen.sum())
    if number:
        counts[0, chosen] = 1
        counts[1:, chosen] = draw_resamples(number, settings)
    return counts


def weigh_pairs(counts: "Array") -> "Array":
    """Return the number of times each pair of models is drawn, of shape (n_rounds, n_model_pairs)."""
    import numpy as np

    first, second = np.triu_indices(counts.shape[1], 1)
    return counts[:, first] * counts[:, second]


def estimate_interval(values: "Array", settings: Summary) -> Estimate:
    """Return a statistic of the table with its percentile interval.

    Resamples in which it is undefined are left out. The interval is NaN if they are half of all, or if the
    statistic is undefined for the table itself.

    Parameters
    ----------
    values : ndarray of shape (1 + n_rounds,)
        For the table itself, then for each resample.
    settings : Summary
        Uses `confidence`.
    """
    import numpy as np

    whole, drawn = float(values[0]), values[1:][np.isfinite(values[1:])]
    if not np.isfinite(whole) or 2 * len(drawn) <= len(values) - 1:
        return Estimate(whole, float("nan"), float("nan"))
    low, high = find_interval(drawn, settings.confidence)
    return Estimate(whole, float(low), float(high))


def average(values: "Array") -> "Array":
    """Return the mean of the finite values along the last axis; NaN if there are none."""
    import numpy as np

    known = np.isfinite(values)
    number = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0))
