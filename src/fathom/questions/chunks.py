"""Records whose texts are embedded: all of them, or a share that a hash draws."""

import numpy as np
import polars as pl

from fathom.io.files import hash_text


def draw_chunks(entities: pl.DataFrame, count: int) -> pl.DataFrame:
    """Return the texts of the first records (ENTITIES) in the order of a hash, under CHUNKS."""
    records = entities.filter(pl.col("text") != "").select("iri", "text")
    hashes = [hash_text("chunk", iri) for iri in records["iri"]]
    found: pl.DataFrame = records[np.argsort(hashes, kind="stable")[:count].tolist()]
    return found
