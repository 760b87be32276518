"""Densities of many small subsets of a set, all at the same points, in one pass over the set."""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from fathom.coverage.density import (
    COLUMNS,
    Scale,
    Vectors,
    check_sets,
    compute_in_threads,
    divide,
    make_layer,
    square_lengths,
)

Sums = npt.NDArray[np.float32]


def measure_subsets(
    points: Vectors,
    vectors: Vectors,
    starts: npt.NDArray[np.int64],
    bandwidth: float,
    found: Sums,
    device: str = "cpu",
    threads: int = 1,
) -> None:
    """Write the log-density of each subset of a set, not divided by the subset's size.

    It is the logarithm of the sum of exp(−|d − e|² / 2h²) over the subset's vectors e, so that densities of
    unions are sums.

    Parameters
    ----------
    points : array of shape (n_points, dimension)
        Where densities are wanted; all in memory at once.
    vectors : array of shape (n_vectors, dimension)
        The set, subset after subset.
    starts : array of int64 of shape (n_subsets,)
        Where each subset begins; none is empty.
    found : array of float32 of shape (n_subsets, n_points)
        Is filled; may be mapped to a file.
    """
    check_sets(points, vectors, bandwidth)
    scale = Scale.fit(points, vectors, bandwidth)
    layer = make_layer(scale.apply(points), device)
    found[:] = -np.inf
    tiles = list(divide(len(vectors), COLUMNS))
    with compute_in_threads(threads if device == "cpu" else 1) as pool:
        task = partial(_sum_tile, layer, vectors, starts, scale, device)
        for first, sums in pool.map(task, tiles):
            rows = slice(first, first + len(sums))
            found[rows] = np.logaddexp(found[rows], sums)


def _sum_tile(
    layer: Any, vectors: Vectors, starts: npt.NDArray[np.int64], scale: Scale, device: str, tile: slice
) -> tuple[int, npt.NDArray[np.float64]]:
    """Return the first subset in a tile, and the log-sums of its subsets."""
    import torch

    inputs = scale.apply(vectors[tile])
    with torch.inference_mode():
        values = layer(torch.from_numpy(inputs).to(device)).cpu().numpy()
    values -= (square_lengths(inputs) / 2)[:, None].astype(values.dtype)
    first = int(np.searchsorted(starts, tile.start, side="right")) - 1
    last = int(np.searchsorted(starts, tile.stop, side="left"))
    begins = np.maximum(starts[first:last] - tile.start, 0)
    peaks = np.maximum.reduceat(values, begins, axis=0)
    values -= np.repeat(peaks, np.diff(np.append(begins, len(values))), axis=0)
    sums = np.add.reduceat(np.exp(values, out=values), begins, axis=0)
    return first, peaks.astype(np.float64) + np.log(sums)
