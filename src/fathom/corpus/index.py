"""The index of a corpus: the row and part of each document's used version; its slices."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl

from fathom.corpus.records import part_name
from fathom.io.contracts.corpus import DOCUMENTS, INDEX
from fathom.io.files import SUFFIX, make_folder, prefix_temporary
from fathom.io.row_groups import scan_table, select_rows
from fathom.io.tables import TableWriter, read_table, write_table_in_batches
from fathom.jobs.program import log

_KEY = ("text_hash", "title", "abstract", "date", "domains")
_NAMES = INDEX.names
_BUCKET = 100_000
"""Documents sorted at once."""
_BATCH = 20_000
"""Rows distributed to buckets at once."""


def iterate_documents(path: Path, part: str, index: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the documents of a part that are in `index`, each once, in the order of the file.

    Texts are read only from row groups that hold a wanted document; a batch is in memory at a time.
    """
    wanted = {
        row[0]: row[1:] for row in index.filter(pl.col("part") == part).select("doc_id", *_KEY).iter_rows()
    }
    columns = DOCUMENTS.names
    if not wanted:
        return
    for frame in scan_table(path, columns, lambda frame: not wanted.keys().isdisjoint(frame["doc_id"])):
        for document in frame.iter_rows(named=True):
            if wanted.get(document["doc_id"]) == tuple(document[name] for name in _KEY):
                del wanted[document["doc_id"]]
                yield document


def build_index(paths: Sequence[Path], output: Path, splits: Path | None = None) -> dict[str, int]:
    """Choose one version of each document over all parts and write the index.

    The longest text wins; ties go to the largest hash of the text, then title, abstract, date and domains.
    The name of a part decides only between equal rows. Texts are not read. Memory holds the ids of all
    documents, the rows of repeated ones, and one bucket of the others: rows are distributed to buckets on
    disk, each a range of ids, and sorted there.

    Parameters
    ----------
    splits : Path, optional
        Splits of documents that share text with others (SPLITS); the others keep that of their id. Copies
        in it are left out.

    Returns
    -------
    dict
        `rows` of all parts, `duplicates_in_parts`, `duplicates_across_parts`, `near_copies`.
    """
    ids = [read_table(path, DOCUMENTS, ["doc_id"])["doc_id"] for path in paths]
    rows, distinct_in_parts = sum(map(len, ids)), sum(each.n_unique() for each in ids)
    every = pl.concat(ids) if ids else pl.Series("doc_id", [], dtype=pl.String)
    repeated = every.filter(every.is_duplicated()).unique()
    order = every.unique().sort()
    del ids, every
    # the first id of every bucket but the first
    starts = order.gather_every(_BUCKET)[1:]
    make_folder(output.parent)
    with tempfile.TemporaryDirectory(SUFFIX, prefix_temporary(output), output.parent) as folder:
        buckets = [Path(folder, f"{number}.parquet") for number in range(len(starts) + 1)]
        _fill_buckets(sorted(paths), repeated, starts, buckets)
        copies = 0
        with write_table_in_batches(output, INDEX, _BATCH) as writer:
            for bucket in buckets:
                rows_here = read_table(bucket, INDEX).sort("doc_id")
                kept = _set_splits(rows_here, splits)
                copies += len(rows_here) - len(kept)
                writer.write(kept)
    across = distinct_in_parts - len(order)
    if across:
        log.warning(
            "%s documents share their id with one in another file, and only the longest text of each id "
            "counts; give different documents different ids",
            f"{across:,}",
        )
    return {
        "rows": rows,
        "duplicates_in_parts": rows - distinct_in_parts,
        "duplicates_across_parts": across,
        "near_copies": copies,
    }


def _set_splits(rows: pl.DataFrame, splits: Path | None) -> pl.DataFrame:
    """Return rows of the index, in their order, with the splits of documents that share text, no copies."""
    if splits is None:
        return rows
    here = pl.col("doc_id").is_in(rows["doc_id"].implode())
    grouped = select_rows(splits, ["doc_id", "split", "copy_of"], here)
    both = rows.join(grouped, on="doc_id", how="left", maintain_order="left")
    both = both.filter(pl.col("copy_of").fill_null("") == "")
    return both.with_columns(split=pl.coalesce("split_right", "split")).select(_NAMES)


def _fill_buckets(
    paths: Sequence[Path], repeated: pl.Series, starts: pl.Series, buckets: Sequence[Path]
) -> None:
    """Distribute the rows to buckets by id; rows of repeated ids wait until all are known."""
    versions = []
    with ExitStack() as stack:
        writers = [stack.enter_context(write_table_in_batches(path, INDEX)) for path in buckets]
        for frame in _read_in_batches(paths):
            again = pl.col("doc_id").is_in(repeated.implode())
            _deal(frame.filter(~again), starts, writers)
            # copied: a filtered frame would keep the whole batch in memory
            versions.append(frame.filter(again).to_arrow(compat_level=pl.CompatLevel.oldest()))
        if versions:
            _deal(_choose_versions(pl.concat(pl.DataFrame(each) for each in versions)), starts, writers)


def _read_in_batches(paths: Iterable[Path]) -> Iterator[pl.DataFrame]:
    """Yield the rows of all parts under INDEX, a few row groups together: those with long texts are small."""
    columns = [name for name in _NAMES if name != "part"]
    for path in paths:
        waiting: list[pl.DataFrame] = []
        for frame in scan_table(path, columns):
            waiting.append(frame.with_columns(pl.lit(part_name(path)).alias("part")).select(_NAMES))
            if sum(map(len, waiting)) >= _BATCH:
                yield pl.concat(waiting)
                waiting = []
        if waiting:
            yield pl.concat(waiting)


def _deal(frame: pl.DataFrame, starts: pl.Series, writers: Sequence[TableWriter]) -> None:
    places = starts.search_sorted(frame["doc_id"], side="right") if len(starts) else None
    for number, writer in enumerate(writers):
        writer.write(frame if places is None else frame.filter(places == number))


def _choose_versions(rows: pl.DataFrame) -> pl.DataFrame:
    order = ["doc_id", "characters", "text_hash", "title", "abstract", "date", "domain_names", "part"]
    return (
        rows.with_columns(pl.col("domains").list.join("\n").alias("domain_names"))
        .sort(order, descending=[False] + [True] * 6 + [False])
        .unique("doc_id", keep="first", maintain_order=True)
        .select(_NAMES)
    )


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
