"""How far the truth may lie from a mean that a fit is part of: further than resamples of its values show."""

import math
from typing import TYPE_CHECKING

from fathom.statistics.bootstrap import Reach

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def find_reach(values: "Array", clusters: "NDArray[np.int64]", fitted_on: float) -> Reach | None:
    """Return what resamples of clusters do not show of the error of a mean log-likelihood in bits.

    - Clusters of different sizes vary more than resamples of them: the jackknife's variance over clusters
      says how much [ClusterJackknife].
    - A few that are large, or far from the mean, say most of how much it varies. Freedom is one less than
      the number of clusters of one size that would say as much [Kish], and at most that of a
      variance with this kurtosis [Satterthwaite].
    - A number that was fitted on other values costs half a nat by value that speaks for itself, which are
      fewer than all where those of a cluster are alike [Takeuchi]. It lowers the mean, so the upper end of
      its interval lies higher.

    Measured in perf/calibration; nothing is fitted again.

    Parameters
    ----------
    values : ndarray of shape (n_values,), float64
        In bits.
    clusters : ndarray of shape (n_values,), int64
        The cluster of each, numbers from 0 of which none is missing.
    fitted_on : float
        Share of the values that the fitted number of each value comes from.
    """
    import numpy as np

    count, total = int(clusters.max()) + 1, len(values)
    sizes, mean = np.bincount(clusters), values.mean()
    apart = np.bincount(clusters, values) - mean * sizes
    spread = (apart**2).sum() / total**2
    if count < 2 or math.sqrt(spread) <= 1e-12 * max(1.0, abs(mean)):
        return None
    variance, freedom = measure_variance(apart, sizes)
    alike = max(1.0, variance * total**2 / ((values - mean) ** 2).sum())
    return Reach(
        freedom=freedom,
        stretch=math.sqrt(variance / (spread * count / (count - 1))),
        cost=float(alike / (2 * math.log(2) * fitted_on * total)),
    )


def measure_variance(apart: "Array", sizes: "NDArray[np.int64]") -> tuple[float, float]:
    """Return the jackknife's variance of a ratio of sums over clusters, and its degrees of freedom.

    Parameters
    ----------
    apart : ndarray of shape (n_clusters,), float64
        How far the sum of each of at least two clusters lies from its size times the ratio; not all 0.
    sizes : ndarray of shape (n_clusters,), int64
        What the ratio divides by.
    """
    import numpy as np

    count, total = len(sizes), int(sizes.sum())
    moved = apart / (total - sizes)  # the ratio without each cluster
    variance = (count - 1) / count * (moved**2).sum()
    kish = total**2 / (sizes.astype(np.float64) ** 2).sum()
    uneven = (moved**4).sum() / (moved**2).sum() ** 2 - 1 / count
    freedom = min(kish - 1, 2 / uneven if uneven > 1e-12 else math.inf)
    return float(variance), max(1.0, float(freedom))
