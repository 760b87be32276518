"""Bootstrap over models: how often each is drawn, and percentile intervals of whatever follows.

A statistic is an array whose first row belongs to the table as it is, its other rows to resamples. Statistics
of several conditions come from the same resamples, so their differences are paired. Copies of a model in
a resample are never compared with each other.
"""

from typing import TYPE_CHECKING

from fathom.config.scoring import Summary
from fathom.scoring.summaries import Estimate, draw_resamples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def draw_models(chosen: "NDArray[np.bool_]", settings: Summary) -> "Array":
    """Draw models with replacement.

    Parameters
    ----------
    chosen : ndarray of bool, shape (models,)
        The models to draw from; the others are never drawn.
    settings : Summary
        Uses `rounds` and `seed`.

    Returns
    -------
    ndarray, shape (1 + rounds, models)
        How often each model stands in the table as it is (once) and in each resample.
    """
    import numpy as np

    counts = np.zeros((1 + settings.rounds, len(chosen)))
    number = int(chosen.sum())
    if number:
        counts[0, chosen] = 1
        counts[1:, chosen] = draw_resamples(number, settings)
    return counts


def weigh_pairs(counts: "Array") -> "Array":
    """Return how often every two different models stand beside each other, shape (rounds, pairs)."""
    import numpy as np

    first, second = np.triu_indices(counts.shape[1], 1)
    return counts[:, first] * counts[:, second]


def estimate_interval(values: "Array", settings: Summary) -> Estimate:
    """Return a statistic of the whole table with its percentile interval.

    Resamples in which it is undefined are left out; there is no interval where half of them are, or where it
    is undefined in the table itself.

    Parameters
    ----------
    values : ndarray, shape (1 + rounds,)
        Of the table as it is, then of each resample.
    settings : Summary
        Uses `confidence`.
    """
    import numpy as np

    whole, drawn = float(values[0]), values[1:][np.isfinite(values[1:])]
    if not np.isfinite(whole) or 2 * len(drawn) <= len(values) - 1:
        return Estimate(whole, float("nan"), float("nan"))
    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Estimate(whole, float(low), float(high))


def average(values: "Array") -> "Array":
    """Return the mean over the last axis of what is defined, NaN where nothing is."""
    import numpy as np

    known = np.isfinite(values)
    number = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0))
