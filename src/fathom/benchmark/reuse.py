"""Take over the vectors of sentences that an earlier run has embedded already, by content (000: 2.3)."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark import embedding as module
from fathom.benchmark.embedding import find_model_folder
from fathom.benchmark.matches import check_embeddings, load_embeddings
from fathom.config.benchmark import Embedding
from fathom.contracts.corpus import SENTENCES
from fathom.corpus.previous import find_previous_parts
from fathom.files import hash_folder, read_json
from fathom.program import log
from fathom.sources import describe_method
from fathom.tables import read_table

_PACKAGES = ("sentence-transformers", "tokenizers", "torch", "transformers")

Vectors = npt.NDArray[np.float32]


def describe_embedding(settings: Embedding) -> dict[str, Any]:
    """Describe all that a sentence's vector depends on beside the sentence; empty if that is not known yet.

    It is not known before a model of the hub has been fetched: there is nothing to hash.
    """
    folder = find_model_folder(settings.model)
    if folder is None:
        return {}
    return {
        **describe_method(Path(module.__file__), _PACKAGES),
        "settings": settings.model_dump(mode="json", exclude={"model"}),
        "model_files": hash_folder(folder),
    }


def find_vectors(
    previous: Path | None, table: pl.DataFrame, method: dict[str, Any]
) -> tuple[npt.NDArray[np.int64], Vectors]:
    """Find the vectors of sentences that an earlier run embedded with the same method.

    Looked at are the parts of the earlier run that held some document of this part: new versions of a
    document keep most of their sentences.

    Parameters
    ----------
    previous : Path or None
        The folder `corpus` of the earlier run; without one nothing is found.
    table : pl.DataFrame
        Columns doc_id, sentence and row of this part's sentences (SENTENCES).
    method : dict
        From :func:`describe_embedding`.

    Returns
    -------
    rows : array of int64 [found]
        Values of `row`, rising.
    vectors : array of float32 [found, dimension]
        Their vectors.
    """
    rows: list[npt.NDArray[np.int64]] = []
    vectors: list[Vectors] = []
    missing = table.select("row", "sentence").unique("row")
    parts = find_previous_parts(previous, table["doc_id"].unique()) if previous and method else {}
    for part in parts:
        report = previous / "embeddings" / f"{part}.json" if previous else Path()
        if not report.is_file() or read_json(report).get("method") != method:
            log.info("vectors of %s of the previous run are left alone: made otherwise, or not at all", part)
        elif len(missing):
            places, found = _read_vectors(report.parents[1], part, missing)
            rows.append(places["row"].to_numpy().astype(np.int64))
            vectors.append(found)
            missing = missing.join(places, on="row", how="anti")
    if not rows:
        return np.empty(0, np.int64), np.empty((0, 0), np.float32)
    every = np.concatenate(rows)
    order = np.argsort(every)
    return every[order], np.concatenate(vectors)[order]


def _read_vectors(previous: Path, part: str, missing: pl.DataFrame) -> tuple[pl.DataFrame, Vectors]:
    """Return which missing sentences an earlier part has, and their vectors in the same order."""
    path = previous / "embeddings" / f"{part}.npy"
    there = read_table(previous / "sentences" / f"{part}.parquet", SENTENCES, ["row", "sentence"])
    embeddings = load_embeddings(path)
    check_embeddings(there, embeddings, str(path))
    there = there.unique("row").rename({"row": "previous_row"})
    places = missing.join(there, on="sentence").sort("previous_row")
    return places.select("row"), np.asarray(embeddings[places["previous_row"].to_numpy()], dtype=np.float32)
