"""Bits per byte of models on the same text: Student's t over documents, for they may be few.

Resamples of few documents vary too little. The jackknife over documents and degrees of freedom that count
how few of them decide hold from five on; perf/calibration shows it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from fathom.statistics.bootstrap import Estimate
from fathom.statistics.clustered_tests import adjust_holm
from fathom.statistics.clusters import number_clusters
from fathom.statistics.comparisons import Difference, group_models
from fathom.statistics.reach import measure_variance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_ROUNDING = 1e-12


@dataclass(frozen=True)
class BitsPerByte:
    """What models need for a byte of the same text.

    Attributes
    ----------
    models : dict of str to Estimate
        Bits per byte, with an interval that is NaN of a single cluster.
    differences : list of Difference
        Of every two models, the better one first, in the order of `order`. Intervals and p are those of the
        two alone, by one t test; `pairs` is the number of clusters.
    """

    models: dict[str, Estimate]
    differences: list[Difference]
    clusters: int

    @cached_property
    def order(self) -> list[str]:
        """Models, fewest bits first; ties by name."""
        return _order(self.models)

    @cached_property
    def letters(self) -> dict[str, str]:
        """Letters of each model; those that share one do not differ significantly."""
        return group_models(self.order, self.differences)


def _order(models: Mapping[str, Estimate]) -> list[str]:
    return sorted(models, key=lambda model: (models[model].value, model))


def compare_bits_per_byte(
    bits: "Mapping[str, Array]", sizes: "NDArray[np.int64]", files: Sequence[str], confidence: float
) -> BitsPerByte:
    """Compare models by ratios of sums over documents.

    Parameters
    ----------
    sizes : ndarray of shape (n_documents,), int64
        Its bytes, more than 0.
    files : sequence of str
        What counts as a whole: documents of one file together, each alone if all are of one.
    """
    import numpy as np

    codes = number_clusters(files)
    size = np.bincount(codes, sizes).astype(np.int64)
    sums = {model: np.bincount(codes, each).astype(np.float64) for model, each in bits.items()}
    models = {model: _test_ratio(each, size, confidence)[0] for model, each in sums.items()}
    models = {model: each._replace(low=np.maximum(each.low, 0.0)) for model, each in models.items()}
    found = []
    for better, worse in combinations(_order(models), 2):
        gap, p = _test_ratio(sums[worse] - sums[better], size, confidence)
        found.append(Difference(better, worse, *gap, p, len(size)))
    adjusted = adjust_holm(np.array([each.p for each in found]))
    apart = [
        replace(each, p_adjusted=float(p), apart=bool(p <= 1 - confidence))
        for each, p in zip(found, adjusted, strict=True)
    ]
    return BitsPerByte(models, apart, len(size))


def _test_ratio(sums: "Array", sizes: "NDArray[np.int64]", confidence: float) -> tuple[Estimate, float]:
    """Return a ratio of sums over clusters with its interval, and its two-sided p against 0."""
    import numpy as np
    from scipy.special import stdtr, stdtrit

    value = float(sums.sum() / sizes.sum())
    if len(sizes) < 2:
        return Estimate(value, float("nan"), float("nan")), float("nan")
    apart = sums - value * sizes
    if np.abs(apart).max() <= _ROUNDING * sizes.max():  # the same ratio in all clusters
        return Estimate(value, value, value), 0.0 if abs(value) > _ROUNDING else 1.0
    variance, freedom = measure_variance(apart, sizes)
    error = float(np.sqrt(variance))
    reach = float(-stdtrit(freedom, (1 - confidence) / 2)) * error
    p = float(2 * stdtr(freedom, -abs(value) / error))
    return Estimate(value, value - reach, value + reach), p
