"""Which documents of a part belong to one of its slices."""

from pathlib import Path

import polars as pl

from fathom.io.contracts.corpus import DOCUMENTS
from fathom.io.tables import read_table


def take_slice(path: Path, index: pl.DataFrame, number: int, count: int) -> pl.DataFrame:
    """Return the rows of one slice: neighbours in the part's table, about equally many characters in each.

    Only ids are read from the table.
    """
    if count == 1:
        return index
    places = read_table(path, DOCUMENTS, ["doc_id"]).with_row_index("place").unique("doc_id", keep="first")
    size = pl.col("characters") + pl.col("title").str.len_chars() + pl.col("abstract").str.len_chars() + 1
    sizes = index.select("doc_id", size=size.cast(pl.Int64)).join(places, on="doc_id").sort("place")
    before = pl.col("size").cum_sum() - pl.col("size")
    chosen = sizes.filter(before * count // pl.col("size").sum() == number - 1)
    return index.filter(pl.col("doc_id").is_in(chosen["doc_id"].implode()))
