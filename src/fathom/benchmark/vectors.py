"""Vectors of many sentences, a piece in memory at a time: reused from an earlier run, or embedded."""

from collections.abc import Callable, Sequence
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark.reused_vectors import KnownVectors
from fathom.jobs.program import log

PIECE = 20_000
"""Sentences whose vectors are in memory at once."""

Vectors = npt.NDArray[np.float32]


def write_vectors(
    stream: BinaryIO, sentences: pl.Series, known: KnownVectors, encode: Callable[[Sequence[str]], Vectors]
) -> None:
    """Write the vectors of sentences as one array, as :func:`numpy.save` would.

    The array is float32, of shape (n_sentences, dimension).

    Parameters
    ----------
    sentences : pl.Series
        Sentence of each row; if empty, the array has shape (0, 0).
    """
    total = len(sentences)
    if not total:
        np.save(stream, np.empty((0, 0), dtype=np.float32), allow_pickle=False)
    for start in range(0, total, PIECE):
        piece = sentences.slice(start, PIECE)
        rows, there = known.read(start, start + len(piece))
        new = np.setdiff1d(np.arange(len(piece)), rows, assume_unique=True)
        made = encode(piece.gather(new).to_list()) if len(new) else np.empty((0, 0), np.float32)
        vectors = np.empty((len(piece), (there[0] if there else made[0]).shape[0]), dtype=np.float32)
        if there:
            vectors[rows] = there
        if len(new):
            vectors[new] = made
        if start == 0:
            header = {"descr": "<f4", "fortran_order": False, "shape": (total, vectors.shape[1])}
            np.lib.format.write_array_header_1_0(stream, header)
        stream.write(vectors.astype("<f4", copy=False).data)
        if total > PIECE:
            log.info("%s of %s sentences are done", f"{start + len(piece):,}", f"{total:,}")
