"""The index of a corpus: which row of which part is the version of a document that counts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fathom.corpus.records import part_name, scan_table
from fathom.tables import DOCUMENTS, INDEX, read_table

_KEY = ("text_hash", "title", "abstract", "date", "domains")


def iterate_documents(path: Path, part: str, index: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the documents of one part that count, in the order of the file, a batch in memory at a time.

    Parameters
    ----------
    path : Path
        A table of documents (DOCUMENTS).
    part : str
        Name of the part: the file's name without `.parquet`.
    index : pl.DataFrame
        The corpus's index (INDEX), or those of its rows that are wanted (of one domain, of one fold).

    Yields
    ------
    dict
        The columns of DOCUMENTS; every wanted document of this part once.
    """
    wanted = {
        row[0]: row[1:] for row in index.filter(pl.col("part") == part).select("doc_id", *_KEY).iter_rows()
    }
    columns = [column.name for column in DOCUMENTS]
    if not wanted:
        return
    for frame in scan_table(path, columns):
        for document in frame.iter_rows(named=True):
            if wanted.get(document["doc_id"]) == tuple(document[name] for name in _KEY):
                del wanted[document["doc_id"]]
                yield document


def build_index(paths: Sequence[Path]) -> tuple[pl.DataFrame, dict[str, int]]:
    """Choose the version of each document that counts, over all parts.

    Of several the longest text counts, then the largest hash of the text, then title, abstract, date and
    domains; the name of a part decides only between rows that are the same. Texts are not read.

    Parameters
    ----------
    paths : sequence of Path
        Tables of documents (DOCUMENTS), in any order.

    Returns
    -------
    index : pl.DataFrame
        INDEX, sorted by doc_id.
    counts : dict
        `rows` of all parts, `duplicates_in_parts`, `duplicates_across_parts`.
    """
    names = [column.name for column in INDEX]
    columns = [name for name in names if name != "part"]
    frames = []
    distinct = 0
    for path in sorted(paths):
        frame = read_table(path, DOCUMENTS, columns)
        distinct += frame["doc_id"].n_unique()
        frames.append(frame.with_columns(pl.lit(part_name(path)).alias("part")).select(names))
    rows = pl.concat(frames)
    repeated = pl.col("doc_id").is_duplicated()
    # most documents stand once: only the others go through the long sort
    order = ["doc_id", "characters", "text_hash", "title", "abstract", "date", "domain_names", "part"]
    chosen = (
        rows.filter(repeated)
        .with_columns(pl.col("domains").list.join("\n").alias("domain_names"))
        .sort(order, descending=[False] + [True] * 6 + [False])
        .unique("doc_id", keep="first", maintain_order=True)
        .select(names)
    )
    index = pl.concat([rows.filter(~repeated), chosen]).sort("doc_id")
    counts = {
        "rows": len(rows),
        "duplicates_in_parts": len(rows) - distinct,
        "duplicates_across_parts": distinct - len(index),
    }
    return index, counts
