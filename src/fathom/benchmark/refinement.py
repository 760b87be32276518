"""Vectors of lower precision decide what is clear; what is close, or matches, is embedded again in float32.

A vector in bfloat16 is cheap on a processor with matrix units for it, and enough to see that a sentence is
far from every keyword. Every other sentence gets its float32 vector, so matches and their cosines are those
of float32.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark.matches import MARGIN, ExactVectors, check_dimensions
from fathom.errors import InputError
from fathom.jobs.program import log

LOW_MARGIN = 0.02
"""Cosines of bfloat16 vectors that lie above the threshold less this are computed again."""
CHECKED = 32
"""Sentences by which the vectors of a GPU are checked."""
BLOCK = 4096
"""Rows whose cosines are in memory at once."""

Vectors = npt.NDArray[np.float32]


class Refined(NamedTuple):
    """Sentences that may match, with float32 vectors.

    Attributes
    ----------
    sentences : polars.DataFrame
        Under SENTENCES; `row` is the index of the sentence's vector here.
    embeddings : array of float32 of shape (n_rows, dimension)
        Their unit vectors.
    deviation : float
        Largest difference between a cosine of both precisions.
    """

    sentences: pl.DataFrame
    embeddings: Vectors
    deviation: float


def refine_embeddings(
    sentences: pl.DataFrame,
    embeddings: Vectors,
    vectors: ExactVectors,
    min_cosine: float,
    encode: Callable[[Sequence[str]], Vectors],
) -> Refined:
    """Embed again, in float32, the sentences whose cosine to any keyword may reach the threshold.

    The margin is a multiple of the largest error measured; the errors of the sentences that are embedded
    again are measured here too. If one comes near the margin, all sentences are embedded again.

    Parameters
    ----------
    embeddings : array of float32 of shape (n_rows, dimension)
        Unit vectors of lower precision.
    vectors : array of float64 of shape (n_keywords, dimension)
        The unit vectors of the domain's keywords.
    encode : callable
        Returns float32 unit vectors; not called if no sentence is close.
    """
    first = sentences.unique("row", keep="first", maintain_order=True).sort("row")
    rows, texts = first["row"].to_numpy(), first["sentence"]
    check_dimensions(embeddings, vectors, len(rows))
    keywords = vectors.astype(np.float32)
    near = np.zeros(len(rows), dtype=np.bool_)
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        cosines = embeddings[rows[block]] @ keywords.T
        near[block] = (cosines >= min_cosine - LOW_MARGIN).any(axis=1)
    exact = _encode(encode, texts.filter(near), embeddings.shape[1])
    deviation = _measure_deviation(embeddings, rows[near], exact, keywords)
    if deviation > LOW_MARGIN / 2:
        log.warning("cosines are off by up to %.4f: all sentences are embedded in float32", deviation)
        near[:] = True
        exact = _encode(encode, texts, embeddings.shape[1])
    log.info(
        "%s of %s sentences were embedded again in float32; cosines were off by up to %.4f",
        f"{near.sum():,}",
        f"{len(rows):,}",
        deviation,
    )
    places = pl.DataFrame({"row": rows[near], "place": np.arange(near.sum(), dtype=np.int32)})
    kept = sentences.join(places, on="row", maintain_order="left").drop("row").rename({"place": "row"})
    return Refined(kept.select(sentences.columns), exact, deviation)


def _encode(encode: Callable[[Sequence[str]], Vectors], texts: pl.Series, dimension: int) -> Vectors:
    return encode(texts.to_list()) if len(texts) else np.empty((0, dimension), np.float32)


def _measure_deviation(
    embeddings: Vectors, rows: npt.NDArray[np.int32], exact: Vectors, keywords: Vectors
) -> float:
    largest = 0.0
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        found = np.abs((embeddings[rows[block]] - exact[block]) @ keywords.T)
        largest = max(largest, float(found.max()))
    return largest


def check_rounding(vectors: Vectors, exact: ExactVectors, where: str) -> None:
    """Raise `InputError` if float32 vectors are less precise than the border decision assumes.

    Parameters
    ----------
    vectors : array of float32 of shape (n_sentences, dimension)
        Unit vectors to be checked.
    exact : array of float64 of shape (n_sentences, dimension)
        The same in double precision.
    """
    deviation = float(np.abs((vectors - exact) @ exact.T).max(initial=0.0))
    if not deviation <= MARGIN / 2:
        raise InputError(
            f"float32 vectors are off by {deviation:.1e}, more than matching allows ({MARGIN / 2:.1e})",
            f"embedding.device = {where}",
            "another setting may force a lower precision, such as NVIDIA_TF32_OVERRIDE=1; unset it, or set"
            " embedding.device to cpu",
        )
