"""Vectors of many sentences, a piece in memory at a time: reused by content from an earlier run, or new."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark import embedding as module
from fathom.benchmark.draw import keep_drawn
from fathom.benchmark.embedding_models import find_model_folder
from fathom.benchmark.matches import check_embeddings, load_embeddings
from fathom.config.benchmark import HOW_TO_EMBED, Embedding
from fathom.corpus.previous import find_previous_slices
from fathom.io import paths
from fathom.io.contracts.corpus import SENTENCES
from fathom.io.files import hash_folder
from fathom.io.reports import Reuse, read_report
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.jobs.program_modules import describe_method

_KINDS = ((paths.NAMED, paths.NAMED_EMBEDDINGS), (paths.SENTENCES, paths.EMBEDDINGS))
_PACKAGES = ("sentence-transformers", "tokenizers", "torch", "transformers")

Vectors = npt.NDArray[np.float32]


def describe_embedding(settings: Embedding, precision: str = "float32") -> dict[str, Any]:
    """Describe everything that a vector depends on besides its sentence; empty if not known yet.

    It is unknown until the model has been fetched from the hub, as there are no files to hash. The device is
    left out: float32 vectors of a GPU and of a processor give the same matches.
    """
    folder = find_model_folder(settings.model, settings.revision)
    if folder is None:
        return {}
    return {
        **describe_method(Path(module.__file__), _PACKAGES),
        "settings": settings.model_dump(mode="json", exclude={"model", "revision", *HOW_TO_EMBED}),
        "precision": precision,
        "model_files": hash_folder(folder),
    }


class KnownVectors(NamedTuple):
    """Vectors of an earlier run.

    `places`: sorted by `row`, the row of a sentence; its vector is row `place` of array number `array`.
    `arrays` (sequence of ndarray of float32, of shape (n_sentences, n_dimensions)): the earlier run's arrays,
    memory-mapped, so only requested rows are read.
    """

    places: pl.DataFrame
    arrays: Sequence[Vectors]

    def read(self, start: int, stop: int) -> tuple[npt.NDArray[np.int64], list[Vectors]]:
        """Return the known rows in [start, stop), counted from `start`, and their vectors."""
        here = self.places.filter(pl.col("row").is_between(start, stop, closed="left"))
        found = [self.arrays[array][place] for array, place in here.select("array", "place").iter_rows()]
        return here["row"].to_numpy() - start, found


def find_vectors(previous: Path | None, table: pl.DataFrame, method: dict[str, Any]) -> KnownVectors:
    """Find the vectors of sentences that an earlier run embedded with the same method.

    Searches the slices of the earlier run that contain documents of this slice, as a new version of a
    document keeps most of its sentences.
    """
    found = [pl.DataFrame(schema=dict.fromkeys(("row", "array", "place"), pl.Int64))]
    arrays: list[Vectors] = []
    missing = table.select("row", "sentence").unique("row")
    slices = find_previous_slices(previous, table["doc_id"].unique()) if previous and method else {}
    run = previous or Path()
    for name, (table_path, array_path) in product(slices, _KINDS):
        report = Path(array_path.ending(".json").of(slice=name).under(run))
        if not len(missing) or not report.is_file():
            continue
        if (made := read_report(report, Reuse)).get("method") != method:
            log.info("vectors of %s of the previous run are not reused: made by another method", name)
            continue
        paths_there = table_path.of(slice=name).under(run), array_path.of(slice=name).under(run)
        # a table of drawn documents may be left from an earlier limit, so trust the report
        drawn = Path(paths.DRAWN.under(run)) if made.get("limited", False) else None
        array, places = _find_places(*paths_there, missing, drawn)
        found.append(places.select("row", array=pl.lit(len(arrays)), place="place").cast(pl.Int64))
        arrays.append(array)
        missing = missing.join(places, on="row", how="anti")
    return KnownVectors(pl.concat(found).sort("row"), arrays)


def _find_places(
    table: str, embeddings: str, missing: pl.DataFrame, drawn: Path | None
) -> tuple[Vectors, pl.DataFrame]:
    there = keep_drawn(read_table(table, SENTENCES, ["doc_id", "row", "sentence"]), drawn)
    array = load_embeddings(Path(embeddings))
    check_embeddings(there, array, embeddings)
    there = there.select("row", "sentence").unique("row").rename({"row": "place"})
    return array, missing.join(there, on="sentence").select("row", "place")


PIECE = 20_000
"""Sentences with vectors in memory at once."""


def write_vectors(
    stream: BinaryIO, sentences: pl.Series, known: KnownVectors, encode: Callable[[Sequence[str]], Vectors]
) -> None:
    """Write the vectors of sentences as one array, as :func:`numpy.save` would.

    The array is float32, of shape (n_sentences, dimension). `sentences`: sentence of each row; if empty, the
    array has shape (0, 0).
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
