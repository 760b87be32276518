"""Statistics that aggregate the scores of many pairs, all defined here.

The papers report the trimmed mean of the ranks [RawCorpora, Sec. 2.6]. The geometric mean, e to the mean
logarithm, uses all pairs, and a factor of two counts the same from rank 1 to 2 as from 1000 to 2000.

A statistic is computed for many bootstrap resamples at once without building them: only how often each
value occurs is drawn.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeVar

from fathom.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


Value = TypeVar("Value")
_SHOWN = 80  # characters of a wrong name


class NamedValues(dict[str, Value]):
    """Values by name; an unknown name raises `InputError`. `kind` is what the names denote."""

    def __init__(self, kind: str, values: Mapping[str, Value]) -> None:
        super().__init__(values)
        self._kind = kind

    def __missing__(self, name: str) -> NoReturn:
        hint = f"known: {', '.join(self)}; delete an unedited table, and snakemake makes it again"
        raise InputError(f"unknown {self._kind} {name[:_SHOWN]!r}", f"column {self._kind}", hint)


@dataclass(frozen=True)
class Resamples:
    """Resamples of some values.

    `copies` (ndarray of shape (n_resamples, n_values), int32): how often each value occurs in each resample.
    """

    values: "Array"  # shape (n_values,), float64: sorted
    copies: "NDArray[np.int32]"
    trim: float  # share that a trimmed mean cuts from each end

    @cached_property
    def ends(self) -> "NDArray[np.int32]":
        """One after the last index of each value's copies in each resample, sorted."""
        import numpy as np

        return np.cumsum(self.copies, axis=1, dtype=np.int32)

    @cached_property
    def sizes(self) -> "NDArray[np.int32]":
        """Number of values in each resample."""
        return self.ends[:, -1]


class Statistic(NamedTuple):
    """One number for many scores: column `aggregate`, label of figures, one value for each resample."""

    name: str
    label: str
    measure: "Callable[[Resamples], Array]"


def _average(resamples: Resamples) -> "Array":
    found: Array = resamples.copies @ resamples.values / resamples.sizes
    return found


def _find_middle(resamples: Resamples) -> "Array":
    import numpy as np

    values = resamples.values
    middle = [
        [values[np.searchsorted(row, index, side="right")] for index in ((size - 1) // 2, size // 2)]
        for row, size in zip(resamples.ends, resamples.sizes, strict=True)
    ]
    return np.asarray(np.array(middle).mean(axis=1))


def _trim(resamples: Resamples) -> "Array":
    """Return the trimmed means, each as `scipy.stats.trim_mean` of the repeated values."""
    import numpy as np

    sizes = resamples.sizes
    cut = (resamples.trim * sizes).astype(np.int32)
    # a value's copies have indices [end - copies, end) in its resample; [cut, size - cut) is kept
    inner = np.clip(resamples.ends, cut[:, None], (sizes - cut)[:, None])
    kept = np.diff(inner, axis=1, prepend=cut[:, None])
    found: Array = kept @ resamples.values / (sizes - 2 * cut)
    return found


def _average_logarithms(resamples: Resamples) -> "Array":
    """Return the geometric means; one with a value of 0, such as a vanished probability, is 0."""
    import numpy as np

    values, copies = resamples.values, resamples.copies
    zero = values <= 0
    logarithms = np.log(np.where(zero, 1.0, values))
    found = np.exp(copies @ logarithms / resamples.sizes)
    if zero.any():
        found[copies[:, zero].any(axis=1)] = 0.0
    return np.asarray(found)


MEAN = Statistic("mean", "mean", _average)
MEDIAN = Statistic("median", "median", _find_middle)
TRIMMED_MEAN = Statistic("trimmed_mean", "trimmed mean", _trim)
GEOMETRIC_MEAN = Statistic("geometric_mean", "geometric mean", _average_logarithms)

STATISTICS = NamedValues(
    "aggregate", {each.name: each for each in (GEOMETRIC_MEAN, MEAN, MEDIAN, TRIMMED_MEAN)}
)
"""All statistics by name, in the order of the names."""

COMPARED = (TRIMMED_MEAN, GEOMETRIC_MEAN)
"""Statistics by which models are compared and drawn; the first one leads and orders models."""

LEADING, *_ = COMPARED


def measure_resamples(resamples: Resamples, names: Iterable[str]) -> "dict[str, Array]":
    """Return statistics of each resample, shape (n_resamples,), by name."""
    return {name: STATISTICS[name].measure(resamples) for name in names}


def measure_values(values: "Array", statistic: Statistic, trim: float) -> float:
    """Return a statistic of at least one value, in any order; `trim` is the share cut from each end."""
    import numpy as np

    once = np.ones((1, len(values)), dtype=np.int32)
    return float(statistic.measure(Resamples(np.sort(values).astype(np.float64), once, trim))[0])
