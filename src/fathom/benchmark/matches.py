"""Which sentences match which keyword: cosines above a threshold, with the same result on every machine.

Each slice finds candidates by a float32 matrix product. If a cosine is so near the threshold, or a border
of its third decimal, that rounding errors could decide, the sentence is embedded again in float64. That
needs the embedding model, so it is done once per domain, when the slices are gathered.

A bfloat16 vector is cheap on a processor with matrix units, and enough to see that a sentence is far from
every keyword. Every other sentence gets a float32 vector, so matches and cosines are those of float32.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.errors import InputError
from fathom.io.contracts.benchmark import CANDIDATES, MATCHES
from fathom.io.files import require_file
from fathom.io.names import show_count
from fathom.jobs.program import log

MARGIN = 5e-6
"""Cosines this near a border are computed again; float32 errors stay below a tenth of it."""
DECIMALS = 3
BLOCK = 4096
"""Rows of cosines in memory at once."""
_ORDER = ("keyword", "doc_id", "position")

ExactVectors = npt.NDArray[np.float64]
EncodeExactly = Callable[[Sequence[str]], ExactVectors]
"""Takes sentences; returns float64 unit vectors of shape (n_sentences, dimension)."""


class Encoder(Protocol):
    """The part of :class:`fathom.benchmark.embedding.SentenceEncoder` that vocabularies need."""

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors in float32."""

    def encode_exactly(self, sentences: Sequence[str]) -> ExactVectors:
        """Return unit vectors in float64."""


def match_sentences(
    sentences: pl.DataFrame,
    embeddings: npt.NDArray[np.float32],
    keywords: Sequence[str],
    vectors: ExactVectors,
    min_cosine: float,
) -> pl.DataFrame:
    """Find the sentences of one slice whose cosine to a keyword may reach a threshold [RawCorpora, Sec. 2.3].

    Returned: under CANDIDATES, by keyword, doc_id and position.

    Parameters
    ----------
    sentences : pl.DataFrame
        Under SENTENCES: the slice's sentences, or those of one domain.
    embeddings : array of float32 of shape (n_rows, dimension)
        Unit vectors; `row` of a sentence is its index here.
    vectors : array of float64 of shape (n_keywords, dimension)
        Their unit vectors, from the model that made `embeddings`.
    """
    rows = sentences["row"].unique().sort().to_numpy()
    check_dimensions(embeddings, vectors, len(rows))
    pairs = _find_pairs(rows, embeddings, vectors.astype(np.float32), min_cosine)
    names = pl.DataFrame({"keyword": list(keywords)}, schema={"keyword": pl.String}).with_row_index("column")
    return (
        sentences.with_columns(pl.col("row").cast(pl.Int64))
        .join(pairs, on="row")
        .join(names.with_columns(pl.col("column").cast(pl.Int64)), on="column")
        .with_columns(uncertain=pl.when("again").then("sentence").otherwise(pl.lit("")))
        .select(CANDIDATES.names)
        .sort(_ORDER)
    )


def _find_pairs(
    rows: npt.NDArray[np.int32],
    embeddings: npt.NDArray[np.float32],
    vectors: npt.NDArray[np.float32],
    min_cosine: float,
) -> pl.DataFrame:
    """Return the rows and columns whose cosine may reach the threshold, and which must be computed again."""
    found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))]
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        cosines = np.asarray(embeddings[block], dtype=np.float32) @ vectors.T
        places, columns = np.nonzero(cosines >= min_cosine - MARGIN)
        found.append((block[places].astype(np.int64), columns, cosines[places, columns].astype(np.float64)))
    pair_rows, columns, values = (np.concatenate(each) for each in zip(*found, strict=True))
    again = is_uncertain(values, min_cosine)
    values = np.where(again, values, np.round(values, DECIMALS))
    return pl.DataFrame({"row": pair_rows, "column": columns, "cosine": values, "again": again})


def is_uncertain(cosines: npt.NDArray[np.float64], min_cosine: float) -> npt.NDArray[np.bool_]:
    """Say which cosines lie within the margin of the threshold or of a border of the third decimal."""
    scaled = cosines * 10**DECIMALS
    from_border = np.abs(scaled - np.floor(scaled) - 0.5) / 10**DECIMALS
    uncertain: npt.NDArray[np.bool_] = (np.abs(cosines - min_cosine) <= MARGIN) | (from_border <= MARGIN)
    return uncertain


def decide_matches(
    candidates: pl.DataFrame, vector: ExactVectors, encode_exactly: EncodeExactly, min_cosine: float
) -> pl.DataFrame:
    """Compute uncertain cosines again in float64 and drop what is below the threshold.

    Returned: under MATCHES, in the order of the candidates.

    Parameters
    ----------
    vector : array of float64 of shape (dimension,)
        The keyword's unit vector.
    encode_exactly : callable
        Embeds the uncertain sentences; not called if there are none.
    min_cosine : float
        The threshold, inclusive.
    """
    columns = MATCHES.names
    again = (candidates["uncertain"] != "").to_numpy()
    if not again.any():
        return candidates.select(columns)
    texts, places = np.unique(candidates["uncertain"].to_numpy()[again], return_inverse=True)
    exact = np.sum(encode_exactly(texts.tolist())[places] * vector, axis=1)
    cosines = candidates["cosine"].to_numpy().copy()
    cosines[again] = exact
    kept = ~again
    kept[again] = exact >= min_cosine
    cosines[again] = np.round(exact, DECIMALS)
    return candidates.with_columns(pl.Series("cosine", cosines)).filter(pl.Series(kept)).select(columns)


def check_dimensions(embeddings: npt.NDArray[np.float32], vectors: ExactVectors, rows: int) -> None:
    """Raise `InputError` if embeddings and keywords are from different models."""
    if rows and embeddings.shape[1] != vectors.shape[1]:
        raise InputError(
            f"embeddings of {embeddings.shape[1]} dimensions, keywords of {vectors.shape[1]} dimensions",
            hint="they were made with different values of embedding.model: make them again",
        )


def load_embeddings(path: Path | str) -> npt.NDArray[np.float32]:
    """Map an array of embeddings without reading it; raise `InputError` if it is not one."""
    try:
        vectors: npt.NDArray[np.float32] = np.load(require_file(path), mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TokenError) as error:  # the last two of its header
        raise InputError(f"not a NumPy array: {error}", str(path), "delete it and make it again") from error
    if not isinstance(vectors, np.ndarray):  # an archive of several
        raise InputError("not a NumPy array: it holds several", str(path), "delete it and make it again")
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


def load_keyword_vectors(path: Path | str, keywords: Sequence[str]) -> ExactVectors:
    """Read the unit vectors of a domain's keywords.

    Raise `InputError` if there is no such array, or it belongs to other keywords.

    Returns
    -------
    array of float64 of shape (n_keywords, dimension)
    """
    vectors = np.array(load_embeddings(path), dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(keywords):
        raise InputError(
            f"{show_count(len(vectors) if vectors.ndim else 0, 'vector')} for"
            f" {show_count(len(keywords), 'keyword')}",
            str(path),
            "it belongs to another keywords.tsv: delete it and make it again",
        )
    return vectors


LOW_MARGIN = 0.02
"""Cosines of bfloat16 vectors above the threshold minus this are computed again."""
CHECKED = 32
"""Sentences for checking the vectors of a GPU."""

Vectors = npt.NDArray[np.float32]


class Refined(NamedTuple):
    """Sentences that may match, with float32 vectors."""

    sentences: pl.DataFrame  # under SENTENCES; `row` is the index of the sentence's vector here
    embeddings: Vectors  # float32 of shape (n_rows, dimension): their unit vectors
    deviation: float  # largest difference between a cosine of both precisions


def refine_embeddings(
    sentences: pl.DataFrame,
    embeddings: Vectors,
    vectors: ExactVectors,
    min_cosine: float,
    encode: Callable[[Sequence[str]], Vectors],
) -> Refined:
    """Embed again, in float32, the sentences whose cosine to any keyword may reach the threshold.

    The margin is a multiple of the largest error measured, which includes the sentences embedded again. If
    an error comes near the margin, all sentences are embedded again.

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
        f"{near.sum():,}", f"{len(rows):,}", deviation,
    )  # fmt: skip
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
