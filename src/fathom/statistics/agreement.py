"""Kendall's tau-b between rankings, of many benchmarks and many resamples of the models at once.

For each pair of models, a benchmark says which one is ahead, or neither. Tau-b is the weighted correlation of
these signs over the pairs that both benchmarks have scores for. If only equal scores are ties, it is SciPy's
[KendallTauB]; if insignificant differences are ties too, it is that of [TrainBeforeTest, App. C.2].

The first row of what is resampled belongs to the table itself, the others to resamples. Copies of a model in
a resample are never compared with each other.
"""

from typing import TYPE_CHECKING

from fathom.config.scoring import Summary
from fathom.statistics.bootstrap import Estimate, draw_resamples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_CELLS = 1_000_000  # numbers worked on at once: they stay in the processor's cache


def draw_models(chosen: "NDArray[np.bool_]", settings: Summary) -> "Array":
    """Return how often each model is in the table (once) and each resample, (1 + n_rounds, n_models).

    `chosen` says, by model, which to draw from.
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


def measure_tau(first: "Array", second: "Array", weights: "Array") -> "Array":
    """Return tau-b of each benchmark in one group with each in another.

    Parameters
    ----------
    first : ndarray of shape (m, n_model_pairs)
        Signs of the pairs of models on each benchmark, see
        :func:`fathom.statistics.significance.order_pairs`.
    second : ndarray of shape (n, n_model_pairs)
    weights : ndarray of shape (n_rounds, n_model_pairs)
        Number of times each pair counts; integers, so that sums are exact in any order.

    Returns
    -------
    ndarray of shape (n_rounds, m, n)
        NaN if a benchmark orders no pair of models that both score.
    """
    import numpy as np

    known = [(~np.isnan(signs)).astype(np.float64) for signs in (first, second)]
    values = [np.nan_to_num(signs, nan=0.0) for signs in (first, second)]
    rows = max(1, _CELLS // max(1, first.size))
    parts = []
    for start in range(0, len(weights), rows):
        some = weights[start : start + rows, None, :]
        above = (values[0] * some) @ values[1].T
        # each benchmark counts only pairs that the other one knows too
        below = ((np.abs(values[0]) * some) @ known[1].T) * ((known[0] * some) @ np.abs(values[1]).T)
        parts.append(np.divide(above, np.sqrt(below), out=np.full(above.shape, np.nan), where=below > 0))
    return np.concatenate(parts)


def pick_pairs(matrix: "Array") -> "Array":
    """Return the entries above the diagonal of square matrices, shape (n_rounds, n_benchmark_pairs)."""
    import numpy as np

    first, second = np.triu_indices(matrix.shape[-1], 1)
    return matrix[..., first, second]


def share_improved(before: "Array", after: "Array") -> "Array":
    """Return each round's share of benchmark pairs whose tau is higher after than before, where both are."""
    import numpy as np

    change = after - before
    return average(np.where(np.isnan(change), np.nan, (change > 0).astype(np.float64)))


def spread_left_out(value: "Array", left_out: "Array") -> "Array":
    """Return numbers followed by rows whose standard deviation is the jackknife's standard error.

    Rows of two numbers from the same models can be subtracted, as resamples can.

    Parameters
    ----------
    left_out : ndarray of shape (n_models, ...)
        The same numbers without each of the models in turn.
    """
    import numpy as np

    moves = np.sqrt(len(left_out) - 1) * (left_out - left_out.mean(axis=0))
    return np.concatenate([value[None], value + moves])


def estimate_over_models(
    rows: "Array", models: int, confidence: float, least: float, most: float, odds: bool = False
) -> Estimate:
    """Return a number with its interval over models: so many standard errors to either side, as t has it.

    Copies of a model are not compared with each other, so resamples of models lie to one side of some
    numbers, and their percentiles can leave out the number itself. Their standard deviation does not.

    Parameters
    ----------
    rows : ndarray of shape (1 + n_rounds,)
        The number itself, then that of each resample; resamples without one are left out.
    models : int
        Models that were drawn from; t has one degree of freedom fewer.
    least, most : float
        Limits of the number, which the interval does not cross.
    odds : bool, default=False
        Whether the interval is symmetric on the scale of log-odds between the limits, as that of a share is.

    Returns
    -------
    Estimate
        The interval is NaN if half of the resamples or the number itself is undefined.
    """
    import numpy as np
    from scipy.stats import t

    drawn = rows[1:][~np.isnan(rows[1:])]
    value = float(rows[0])
    if np.isnan(value) or 2 * len(drawn) <= len(rows) - 1 or models < 2:
        return Estimate(value, float("nan"), float("nan"))
    half = float(t.ppf((1 + confidence) / 2, models - 1) * drawn.std())
    if odds and least < value < most:
        low, high = ((value - least) / (most - value) * np.exp(side * half * (most - least)
                     / ((value - least) * (most - value))) for side in (-1, 1))  # fmt: skip
        return Estimate(value, *(least + (most - least) * float(each / (1 + each)) for each in (low, high)))
    return Estimate(value, min(value, max(least, value - half)), max(value, min(most, value + half)))


def average(values: "Array") -> "Array":
    """Return the mean of the finite values along the last axis; NaN if there are none."""
    import numpy as np

    known = np.isfinite(values)
    number = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0))
