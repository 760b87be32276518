"""Which sentences belong to which keyword: a cosine, a threshold, and decisions that no machine changes.

A product in float32 tells the candidates. Where it lies so near the threshold, or a border of the third
decimal, that rounding errors could decide, keyword and sentence are embedded again in float64.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.errors import InputError
from fathom.io.contracts.benchmark import MATCHES
from fathom.io.files import require_file

MARGIN = 5e-6
"""Cosines this near a border are computed again; errors of float32 are below a tenth of it."""
DECIMALS = 3
_BLOCK = 4096
_ORDER = ("keyword", "doc_id", "position")
_COLUMNS = [column.name for column in MATCHES]


class Encoder(Protocol):
    """What matching needs of :class:`fathom.benchmark.embedding.SentenceEncoder`."""

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors in float32."""

    def encode_exactly(self, sentences: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return unit vectors in float64."""


def match_sentences(
    sentences: pl.DataFrame,
    embeddings: npt.NDArray[np.float32],
    keywords: Sequence[str],
    encoder: Encoder,
    min_cosine: float,
) -> pl.DataFrame:
    """Find the sentences of one part with a cosine of at least `min_cosine` to each keyword.

    Source: [RawCorpora, Sec. 2.3].

    Parameters
    ----------
    sentences : pl.DataFrame
        Under SENTENCES: the part's sentences, or those of one domain.
    embeddings : array of float32 [rows, dimension]
        Unit vectors; `row` of a sentence counts into it.
    keywords : sequence of str
        The domain's keywords.
    encoder : Encoder
        The model that made `embeddings`.
    min_cosine : float
        The threshold, reached or passed in float64.

    Returns
    -------
    pl.DataFrame
        Under MATCHES, by keyword, doc_id and position.

    Raises
    ------
    InputError
        If the embeddings are not those of this model.
    """
    first = sentences.unique("row", keep="first", maintain_order=True).sort("row")
    rows = first["row"].to_numpy()
    vectors = encoder.encode(keywords)
    if len(rows) and embeddings.shape[1] != vectors.shape[1]:
        raise InputError(
            f"embeddings of {embeddings.shape[1]} dimensions where the model gives {vectors.shape[1]}",
            hint="they were made with another embedding.model: make them again",
        )
    found: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]] = []
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        cosines = np.asarray(embeddings[block], dtype=np.float32) @ vectors.T
        places, columns = np.nonzero(cosines >= min_cosine - MARGIN)
        values = cosines[places, columns].astype(np.float64)
        found.append((block[places].astype(np.int64), columns, values))
    pairs = pl.DataFrame(
        {
            "row": np.concatenate([f[0] for f in found]) if found else np.empty(0, np.int64),
            "column": np.concatenate([f[1] for f in found]) if found else np.empty(0, np.int64),
            "cosine": np.concatenate([f[2] for f in found]) if found else np.empty(0, np.float64),
        }
    )
    pairs = _decide(pairs, first, keywords, encoder, min_cosine)
    names = pl.DataFrame({"keyword": list(keywords)}, schema={"keyword": pl.String}).with_row_index("column")
    return (
        sentences.with_columns(pl.col("row").cast(pl.Int64))
        .join(pairs, on="row")
        .join(names.with_columns(pl.col("column").cast(pl.Int64)), on="column")
        .select(_COLUMNS)
        .sort(_ORDER)
    )


def is_uncertain(cosines: npt.NDArray[np.float64], min_cosine: float) -> npt.NDArray[np.bool_]:
    """Say which cosines lie within the margin of the threshold or of a border of the third decimal."""
    scaled = cosines * 10**DECIMALS
    from_border = np.abs(scaled - np.floor(scaled) - 0.5) / 10**DECIMALS
    uncertain: npt.NDArray[np.bool_] = (np.abs(cosines - min_cosine) <= MARGIN) | (from_border <= MARGIN)
    return uncertain


def _decide(
    pairs: pl.DataFrame, first: pl.DataFrame, keywords: Sequence[str], encoder: Encoder, min_cosine: float
) -> pl.DataFrame:
    """Compute uncertain cosines again, drop what is below the threshold, round what is left."""
    cosines = pairs["cosine"].to_numpy().copy()
    uncertain = np.flatnonzero(is_uncertain(cosines, min_cosine))
    if len(uncertain):
        texts = dict(zip(first["row"].to_list(), first["sentence"].to_list(), strict=True))
        rows = pairs["row"].to_numpy()[uncertain]
        columns = pairs["column"].to_numpy()[uncertain]
        distinct_rows, row_places = np.unique(rows, return_inverse=True)
        distinct_columns, column_places = np.unique(columns, return_inverse=True)
        of_sentences = encoder.encode_exactly([texts[row] for row in distinct_rows.tolist()])
        of_keywords = encoder.encode_exactly([keywords[column] for column in distinct_columns.tolist()])
        cosines[uncertain] = np.sum(of_sentences[row_places] * of_keywords[column_places], axis=1)
    kept = pairs.with_columns(pl.Series("cosine", cosines)).filter(pl.col("cosine") >= min_cosine)
    return kept.with_columns(pl.Series("cosine", np.round(kept["cosine"].to_numpy(), DECIMALS)))


def load_embeddings(path: Path | str) -> npt.NDArray[np.float32]:
    """Open an array of embeddings without reading it; raise `InputError` if it is none."""
    try:
        vectors: npt.NDArray[np.float32] = np.load(require_file(path), mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"this is no array: {error}", str(path), "delete it and make it again") from error
    return vectors


def check_embeddings(sentences: pl.DataFrame, embeddings: npt.NDArray[np.float32], where: str) -> None:
    """Raise `InputError` if an array of embeddings does not belong to a table of sentences."""
    rows = sentences["row"].n_unique()
    if embeddings.ndim != 2 or embeddings.shape[0] != rows:
        raise InputError(
            f"{embeddings.shape[0] if embeddings.ndim else 0} embeddings for {rows} distinct sentences",
            where,
            "it was made from another table of sentences: delete it and make it again",
        )
