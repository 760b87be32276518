"""How much of a set says the same twice [CompComp, Sec. 4.1]."""

from functools import partial

import numpy as np

from fathom.coverage.density import Vectors, compute_in_threads, divide
from fathom.errors import InputError

NEAR = 0.2
"""Cosine distance below which two texts count as saying the same."""
_BLOCK = 2048


def measure_redundancy(
    vectors: Vectors, distance: float = NEAR, device: str = "cpu", threads: int = 1
) -> float:
    """Return the share of pairs of vectors whose cosine distance is below a limit.

    Parameters
    ----------
    vectors : array of shape (n, dimension)
        Of any length; may be mapped from a file.

    Returns
    -------
    float
        From 0 to 1; NaN if there are fewer than two vectors.

    Raises
    ------
    InputError
        If a vector has no direction.
    """
    count = len(vectors)
    if count < 2:
        return float("nan")
    blocks = list(divide(count, _BLOCK))
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
