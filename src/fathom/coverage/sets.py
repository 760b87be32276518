"""Embeddings of a domain's sentences and of a benchmark's pairs, as the benchmark was made with them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark.draw import draw_documents, keep_drawn
from fathom.benchmark.matches import check_embeddings, load_embeddings
from fathom.config.coverage import Coverage
from fathom.coverage.density import choose_bandwidth
from fathom.errors import InputError
from fathom.io.contracts.corpus import SENTENCES
from fathom.io.files import hash_text
from fathom.io.row_groups import select_rows
from fathom.io.tables import read_table

_COLUMNS = ("doc_id", "position", "row")

Vectors = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]
"""Takes texts; returns unit vectors of shape (n_texts, dimension)."""


class Space(NamedTuple):
    """Sentences of a domain.

    Attributes
    ----------
    sentences : polars.DataFrame
        Columns doc_id and position, sorted by the order of documents in the draw, then position.
    vectors : array of float32 of shape (n_sentences, dimension)
        Scaled to the length that the settings say.
    points : array of int64 of shape (n_points,)
        Rows at which densities are compared, sorted.
    report : dict
        What was looked at and what was left out.
    """

    sentences: pl.DataFrame
    vectors: Vectors
    points: npt.NDArray[np.int64]
    report: dict[str, Any]


class Slices:
    """Sentences of a corpus and their embeddings, slice by slice.

    `drawn`: table under DRAWN, where `sentences.limit` is set.
    """

    def __init__(
        self, sentences: Sequence[Path], embeddings: Sequence[Path], drawn: Path | None = None
    ) -> None:
        self._drawn = drawn
        self._files = list(zip(sentences, embeddings, strict=True))

    def find(self, documents: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """Return the sentences of documents that have any.

        Returned: columns doc_id, position, row and slice, what :meth:`read` needs, and those that are wanted.
        """
        found = []
        for place, (path, array) in enumerate(self._files):
            sentences = keep_drawn(read_table(path, SENTENCES, [*_COLUMNS, *columns]), self._drawn)
            check_embeddings(sentences, load_embeddings(array), str(array))
            inside = sentences.join(documents, on="doc_id", how="semi", maintain_order="left")
            found.append(inside.with_columns(slice=pl.lit(place, pl.Int32)))
        return pl.concat(found)

    def read(self, sentences: pl.DataFrame) -> Vectors:
        """Return the embeddings of sentences that :meth:`find` returned, in their order."""
        place, row = (sentences[name].to_numpy() for name in ("slice", "row"))
        arrays = {each: load_embeddings(self._files[each][1]) for each in np.unique(place).tolist()}
        dimension = next((array.shape[1] for array in arrays.values()), 0)
        vectors = np.empty((len(sentences), dimension), dtype=np.float32)
        for each, array in arrays.items():
            vectors[place == each] = array[row[place == each]]
        return vectors


def read_space(slices: Slices, index: Path, domain: str, settings: Coverage) -> Space:
    """Return the sentences of a domain: of documents drawn by a hash, as many as the settings allow.

    Raise `InputError` if the domain has no sentences, or the first document has more than are allowed.
    """
    inside = pl.col("domains").list.contains(domain)
    found = slices.find(select_rows(index, ["doc_id"], inside))
    if found.is_empty():
        hint = "only documents of the split benchmark, of domains with a benchmark, are split into sentences"
        raise InputError(f"domain {domain!r} has no sentences", str(index), hint)
    sizes = found.group_by("doc_id").agg(kept=pl.len()).sort("doc_id")
    drawn = draw_documents(sizes, settings.sentences, "coverage.sentences").with_row_index("order")
    sentences = found.join(drawn, on="doc_id").sort("order", "position")
    vectors = slices.read(sentences)
    vectors *= settings.length
    report = {
        "documents": len(drawn),
        "sentences": len(sentences),
        "points": min(settings.points, len(sentences)),
        "left_out": {"documents": len(sizes) - len(drawn), "sentences": len(found) - len(sentences)},
        "dimension": vectors.shape[1],
    }
    table = sentences.select("doc_id", "position")
    return Space(table, vectors, draw_rows(table, settings.points, "point"), report)


def draw_rows(sentences: pl.DataFrame, count: int, purpose: str) -> npt.NDArray[np.int64]:
    """Return rows, sorted: of the sentences that come first by a hash, which is another for each purpose."""
    hashes = [hash_text(purpose, doc_id, str(position)) for doc_id, position in sentences.iter_rows()]
    return np.sort(np.argsort(hashes, kind="stable")[:count])


def read_pairs(slices: Slices, pairs: pl.DataFrame, encode: Encode, length: float) -> tuple[Vectors, int]:
    """Return the embeddings of pairs: of the sentence that each was cut from, or else of prompt and target.

    `encode`: embeds pairs of no sentence, such as those of a reference benchmark; not called if there are
    none.

    Returns
    -------
    vectors : array of float32 of shape (n_pairs, dimension)
        In the order of the pairs.
    embedded : int
        Number of pairs that `encode` was called for.
    """
    texts = pairs.select("pair_id", "doc_id", text=pl.col("prompt") + pl.col("target"))
    found = (
        slices.find(pairs.select("doc_id"), "clean")
        .join(texts, on="doc_id")
        .filter(pl.col("clean").str.starts_with(pl.col("text")))
        .sort("pair_id", "position")
        .unique("pair_id", keep="first", maintain_order=True)
    )
    known = dict(zip(found["pair_id"], range(len(found)), strict=True))
    there = np.array([known.get(name, -1) for name in texts["pair_id"]], dtype=np.int64)
    new = np.flatnonzero(there < 0)
    read = slices.read(found)
    made = encode(texts["text"].gather(new).to_list()) if len(new) else np.empty((0, read.shape[1]))
    dimension = max(read.shape[1], made.shape[1])
    vectors = np.empty((len(texts), dimension), dtype=np.float32)
    vectors[there >= 0] = read[there[there >= 0]].reshape(-1, dimension)
    vectors[new] = made
    vectors *= length
    return vectors, len(new)


def resolve_bandwidth(space: Space, settings: Coverage) -> float:
    """Return the bandwidth that the settings ask for; by Scott's rule, that of the domain."""
    return choose_bandwidth(space.vectors) if settings.bandwidth == "scott" else settings.bandwidth
