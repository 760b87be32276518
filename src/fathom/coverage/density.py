"""Gaussian kernel densities of embeddings, in logarithms [CompComp, Sec. 3.1].

In hundreds of dimensions plain densities underflow, so only their logarithms are ever computed: tile by tile,
in bounded memory, with centred vectors. Tiles have fixed shapes and are computed on one thread each: the
result has the same bytes whatever the number of threads.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from fathom.errors import InputError
from fathom.numerics.matrix_products import prepack_layer

if TYPE_CHECKING:
    from torch import Tensor


TOLERANCE = 1e-3
"""Log-densities are this close, in nats, to those in double precision."""

_BLOCK, _ROWS = 16_384, 1024
"""Points in memory at once, and points in a tile on a processor, where it stays in the cache."""
COLUMNS = 1024
"""Vectors of a set in a tile."""
_ROUNDING = 4 * 2.0**-24
"""Error of an exponent in single precision for each unit of its size, with a margin."""

Vectors = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Values = npt.NDArray[np.float64]


def measure_log_density(
    points: Vectors, centres: Vectors, bandwidth: float, device: str = "cpu", threads: int = 1
) -> Values:
    """Return the logarithm of the Gaussian kernel density of a set at points [CompComp, Eqs. 3 and 4].

    It is the logarithm of the mean of exp(−|d − e|² / 2h²) over the set's vectors e. The constant factor of a
    density, which depends on bandwidth and dimension alone, is left out. Computed in float32 where its
    rounding stays well below `TOLERANCE`, else in float64. Raise `InputError` if the bandwidth is not
    positive, a set is empty or not finite, or dimensions differ.

    Parameters
    ----------
    points : array of shape (n_points, dimension)
        Where the density is wanted; may be mapped from a file.
    centres : array of shape (n_centres, dimension)
        The set; may be mapped from a file.
    bandwidth : float
        h, in the units of the vectors.
    threads : int, default=1
        On a processor; changes no bit of the result.

    Returns
    -------
    array of float64 of shape (n_points,)
        In nats, at most 0.
    """
    check_sets(points, centres, bandwidth)
    scale = Scale.fit(points, centres, bandwidth)
    found = np.empty(len(points))
    with compute_in_threads(threads if device == "cpu" else 1) as pool:
        for part in divide(len(points), _BLOCK):
            found[part] = _measure_block(scale.apply(points[part]), centres, scale, device, pool)
    return np.minimum(found, 0.0)


@dataclass(frozen=True)
class Scale:
    """Shift and scale of vectors, and the precision that this allows."""

    shift: Values
    bandwidth: float
    dtype: str

    @classmethod
    def fit(cls, points: Vectors, centres: Vectors, bandwidth: float) -> "Scale":
        """Return the scale around the mean of the set."""
        scale = cls(_average(centres), bandwidth, "float64")
        longest, far = (scale.measure_longest(each) for each in (points, centres))
        if not np.isfinite(longest + far):
            raise InputError("embeddings are not finite", hint="embed these texts again")
        coarse = _ROUNDING * (longest * far + far**2 / 2) > TOLERANCE / 2
        return cls(scale.shift, bandwidth, "float64" if coarse else "float32")

    def measure_longest(self, vectors: Vectors) -> float:
        """Return the length of the longest scaled vector."""
        squares = (square_lengths(self.apply(vectors[part])).max() for part in divide(len(vectors), COLUMNS))
        return float(np.sqrt(max(squares)))

    def apply(self, vectors: Vectors) -> Vectors:
        """Return vectors around the origin, in units of the bandwidth, in the precision."""
        scaled: Vectors = np.subtract(vectors, self.shift.astype(self.dtype), dtype=self.dtype)
        scaled /= scaled.dtype.type(self.bandwidth)
        return scaled


def _measure_block(
    points: Vectors, centres: Vectors, scale: Scale, device: str, pool: ThreadPoolExecutor
) -> Values:
    import torch

    inputs = torch.from_numpy(points).to(device)
    rows = _ROWS if device == "cpu" else _BLOCK
    peaks, totals = np.full(len(points), -np.inf), np.zeros(len(points))
    for part in divide(len(centres), COLUMNS):
        layer = make_layer(scale.apply(centres[part]), device)
        pieces = [inputs[piece] for piece in divide(len(points), rows)]
        reduced = list(pool.map(partial(_reduce, layer), pieces))
        peak, total = (np.concatenate(each) for each in zip(*reduced, strict=True))
        highest = np.maximum(peaks, peak)
        totals = totals * np.exp(peaks - highest) + total * np.exp(peak - highest)
        peaks = highest
    found: Values = peaks + np.log(totals) - square_lengths(points) / 2 - np.log(len(centres))
    return found


def _reduce(layer: Any, inputs: "Tensor") -> tuple[Values, Values]:
    """Return the largest output of a layer for each input, and the sum of the exponentials relative to it."""
    import torch

    with torch.inference_mode():
        values = layer(inputs)
        peak = values.amax(dim=1, keepdim=True)
        total = values.sub_(peak).exp_().sum(dim=1)
        return peak[:, 0].cpu().double().numpy(), total.cpu().double().numpy()


def make_layer(centres: Vectors, device: str) -> Any:
    """Return a linear layer that gives x·e − |e|²/2 for each of some centres e.

    Its matrix products run on packed weights where there are any.
    """
    import torch

    bias = torch.from_numpy(-square_lengths(centres) / 2).to(getattr(torch, centres.dtype.name))
    layer = torch.nn.Linear(centres.shape[1], centres.shape[0], device="meta")
    tensors = {"weight": torch.from_numpy(centres), "bias": bias}
    layer.load_state_dict({name: each.to(device) for name, each in tensors.items()}, assign=True)
    with torch.inference_mode():
        prepack_layer(layer)
    return layer


def divide(total: int, size: int) -> Iterator[slice]:
    """Yield slices of at most `size` that cover `total` items."""
    return (slice(start, min(start + size, total)) for start in range(0, total, size))


@contextmanager
def compute_in_threads(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Give a pool of threads, while PyTorch's own operations take one thread each."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(threads) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)


def _average(vectors: Vectors) -> Values:
    parts = (vectors[part] for part in divide(len(vectors), _BLOCK))
    total = sum((np.sum(part, axis=0, dtype=np.float64) for part in parts), start=np.float64(0))
    return np.asarray(total / len(vectors))


def square_lengths(vectors: Vectors) -> Values:
    """Return the squared length of each row, in float64."""
    squares: Values = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return squares


def check_sets(points: Vectors, centres: Vectors, bandwidth: float) -> None:
    """Raise `InputError` for inputs without a density."""
    if not bandwidth > 0 or not np.isfinite(bandwidth):
        what = f"the bandwidth is {bandwidth:g}; a positive number is needed"
        raise InputError(what, "coverage.bandwidth", "5.0 is that of the paper; scott computes one")
    if not len(points) or not len(centres):
        raise InputError("no embeddings", hint="check that the domain has sentences and pairs")
    if points.shape[1] != centres.shape[1]:
        raise InputError(
            f"embeddings of {points.shape[1]} and of {centres.shape[1]} dimensions",
            hint="they were made with different values of embedding.model: make them again",
        )


def choose_bandwidth(vectors: Vectors) -> float:
    """Return the bandwidth by Scott's rule [ScottsRule], with one spread for all dimensions.

    h = σ n^(−1/(d + 4)), where σ² is the mean variance of a dimension. Raise `InputError` if there are no
    more vectors than dimensions, or all are the same.
    """
    count, dimension = vectors.shape
    if count <= dimension:
        what = f"Scott's rule needs more embeddings than dimensions: {count:,} of {dimension} dimensions"
        raise InputError(what, "coverage.bandwidth = scott", "give a number")
    mean = _average(vectors)
    squares = sum(
        float(square_lengths(np.asarray(vectors[part], dtype=np.float64) - mean).sum())
        for part in divide(count, _BLOCK)
    )
    spread = float(np.sqrt(squares / count / dimension))
    if spread <= 1e-7 * float(np.abs(mean).max()):
        what = "all embeddings are the same, so Scott's rule gives a bandwidth of 0"
        raise InputError(what, "coverage.bandwidth = scott", "give a number, and check the texts")
    return float(spread * count ** (-1 / (dimension + 4)))


def find_gaps(of_space: Values, of_set: Values, percentile: float | None = None) -> npt.NDArray[np.bool_]:
    """Find the points of a space that a set leaves uncovered [CompComp, Eqs. 5 and 8].

    `percentile`: t_d, from 0 to 1: keep those gaps only whose difference lies above this percentile of all
    differences.

    Returns
    -------
    array of bool of shape (n_points,)
        Where the space is denser than the set.
    """
    if percentile is not None and not 0 <= percentile <= 1:
        raise InputError(f"t_d = {percentile:g} is not from 0 to 1", "coverage.gap_percentile")
    differences = of_space - of_set
    gaps: npt.NDArray[np.bool_] = differences > EQUAL
    if percentile is not None:
        gaps &= differences > np.quantile(differences, percentile)
    return gaps


EQUAL = 1e-9
"""Differences of densities, in nats, that rounding in double precision explains."""


@cache
def _find_libraries() -> ThreadpoolController:
    """Return what limits the threads of the libraries that are loaded; finding them takes milliseconds."""
    return ThreadpoolController()


def correlate_densities(one: Values, other: Values) -> float:
    """Return Pearson's correlation of two densities, given their logarithms [CompComp, Eq. 6].

    Returned: NaN if one of them is the same at every point, or there are none.

    Parameters
    ----------
    one, other : array of float64 of shape (n_points,)
        Log-densities at the same points.
    """
    if not len(one):
        return float("nan")
    first, second = (np.exp(each - each.max()) for each in (one, other))
    first, second = first - first.mean(), second - second.mean()
    with _find_libraries().limit(
        limits=1, user_api="blas"
    ):  # on several threads, sums have different last digits
        size = float(np.sqrt(first @ first) * np.sqrt(second @ second))
        return float(np.clip(first @ second / size, -1, 1)) if size > 0 else float("nan")


def replace_nan(value: float) -> float | None:
    """Return a number for JSON, which has no NaN."""
    return None if np.isnan(value) else value


NEAR = 0.2
"""Cosine distance below which two texts count as saying the same."""
_PAIR_BLOCK = 2048


def measure_redundancy(
    vectors: Vectors, device: str = "cpu", threads: int = 1, distance: float = NEAR
) -> float:
    """Return the share of pairs of vectors whose cosine distance is below a limit.

    Raise `InputError` if a vector has no direction. `vectors` (array of shape (n, dimension)): of any length;
    may be mapped from a file. Returned: from 0 to 1; NaN if there are fewer than two vectors.
    """
    count = len(vectors)
    if count < 2:
        return float("nan")
    blocks = list(divide(count, _PAIR_BLOCK))
    near = 0
    with compute_in_threads(threads if device == "cpu" else 1) as pool:
        for place, block in enumerate(blocks):
            task = partial(_count_near, vectors, _normalise(vectors[block]), block, 1 - distance, device)
            near += sum(pool.map(task, blocks[place:]))
    return near / (count * (count - 1) / 2)


def _count_near(vectors: Vectors, unit: Vectors, one: slice, least: float, device: str, other: slice) -> int:
    """Return how many pairs between two blocks have a cosine above `least`; within a block each pair once."""
    import torch

    with torch.inference_mode():
        left, right = (torch.from_numpy(each).to(device) for each in (unit, _normalise(vectors[other])))
        near = (left @ right.T) > least
        return int((near.triu(1) if one == other else near).sum())


def _normalise(vectors: Vectors) -> Vectors:
    exact = np.asarray(vectors, dtype=np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    if not lengths.min() > 0:
        raise InputError("an embedding is zero, so it has no direction", hint="embed these texts again")
    unit: Vectors = (exact / lengths[:, None]).astype(np.float32)
    return unit
