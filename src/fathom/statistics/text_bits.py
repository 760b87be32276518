"""Bits per byte of models on the same text, resampled over documents for all of them alike."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fathom.config.scoring import Summary
from fathom.statistics.aggregates import MEAN
from fathom.statistics.bootstrap import draw_resamples, resample_ratio
from fathom.statistics.clustered_tests import compare_sums
from fathom.statistics.clusters import DOCUMENTS, number_clusters
from fathom.statistics.comparisons import ResampledMetric
from fathom.statistics.metrics import BITS_PER_BYTE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def resample_bits_per_byte(
    bits: "Mapping[str, Array]", sizes: "NDArray[np.int64]", files: Sequence[str], settings: Summary
) -> ResampledMetric:
    """Resample the bits per byte of models, a ratio of sums in every resample.

    Parameters
    ----------
    bits : mapping of model to ndarray of shape (n_documents,), float64
        Of each document, the same for all models.
    sizes : ndarray of shape (n_documents,), int64
        Its bytes, more than 0.
    files : sequence of str
        What documents are drawn by: those of one file together, each alone if all are of one.
    settings : Summary
        Uses `rounds` and `seed`.
    """
    import numpy as np

    codes = number_clusters(files)
    size = np.bincount(codes, sizes).astype(np.int64)
    sums: dict[str, Array] = {
        model: np.bincount(codes, each).astype(np.float64) for model, each in bits.items()
    }
    counts = draw_resamples(len(size), settings)
    models = {model: resample_ratio(each, size.astype(np.float64), counts) for model, each in sums.items()}
    tested = np.full((len(models), len(models)), np.nan)
    if len(size) > 1:
        found = np.array([each.value for each in models.values()])
        tested = compare_sums(found, np.stack([*sums.values()]) - found[:, None] * size, size)
    return ResampledMetric("", BITS_PER_BYTE.variant, BITS_PER_BYTE, MEAN.name, models, tested, DOCUMENTS)
