"""Records whose texts are embedded: all, or those that a hash draws."""

import numpy as np
import polars as pl

from fathom.io.files import hash_text


def draw_chunks(entities: pl.DataFrame, count: int) -> pl.DataFrame:
    """Return the texts of records, under CHUNKS: of those that come first in the order of a hash.

    Parameters
    ----------
    entities : polars.DataFrame
        Under ENTITIES.
    count : int
        Most records.
    """
    records = entities.filter(pl.col("text") != "").select("iri", "text")
    hashes = [hash_text("chunk", iri) for iri in records["iri"]]
    found: pl.DataFrame = records[np.argsort(hashes, kind="stable")[:count].tolist()]
    return found
