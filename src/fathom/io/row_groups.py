"""Tables that are too large to hold: read a row group at a time, in full, by a condition, or by key."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from fathom.errors import InputError
from fathom.io.tables import explain_damage, open_table, to_frame


def scan_table(
    path: Path | str, columns: Sequence[str], wanted: Callable[[pl.DataFrame], bool] | None = None
) -> Iterator[pl.DataFrame]:
    """Yield a table as it was written, one row group after the other, so that memory holds one of them.

    No file stays open in between: hundreds of tables can be read side by side.

    Parameters
    ----------
    wanted : callable, optional
        Takes a group's first column; says whether the group is read at all.

    Raises
    ------
    InputError
        If the file is missing, no parquet, or lacks a column.
    """
    names = list(columns)
    with explain_damage(path):
        metadata = open_table(path, names).metadata
    for group in range(metadata.num_row_groups):
        if wanted is None or wanted(_read_group(path, metadata, group, names[:1])):
            yield _read_group(path, metadata, group, names)


def _read_group(path: Path | str, metadata: pq.FileMetaData, group: int, names: list[str]) -> pl.DataFrame:
    # not iter_batches: it keeps what it has read of earlier row groups
    with (
        explain_damage(path),
        pq.ParquetFile(path, metadata=metadata, page_checksum_verification=True) as file,
    ):
        return to_frame(file.read_row_group(group, columns=names, use_threads=False).select(names))


def scan_range(path: Path | str, columns: Sequence[str], low: int, high: int) -> Iterator[pl.DataFrame]:
    """Yield the rows whose first column lies in a range; row groups that hold none are not read."""
    names = list(columns)
    with explain_damage(path):
        metadata = open_table(path, names).metadata
    place = metadata.schema.names.index(names[0])
    for group in range(metadata.num_row_groups):
        known = metadata.row_group(group).column(place).statistics
        if known is None or (known.min <= high and known.max >= low):
            yield _read_group(path, metadata, group, names).filter(pl.col(names[0]).is_between(low, high))


def select_rows(path: Path | str, columns: Sequence[str], where: pl.Expr) -> pl.DataFrame:
    """Return the rows of a table that `where` is true for; memory holds these and one row group."""
    names = list(dict.fromkeys([*columns, *where.meta.root_names()]))
    found = [
        # to Arrow and so copied: a filtered frame keeps all texts of the group that it came from
        frame.filter(where).select(columns).to_arrow(compat_level=pl.CompatLevel.oldest())
        for frame in scan_table(path, names)
    ]
    if not found:  # a table without row groups
        return to_frame(open_table(path, names).read(columns=names)).select(columns)
    return to_frame(pa.concat_tables(found))


def scan_groups(path: Path | str, key: str, columns: Sequence[str]) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the runs of equal `key` in a table sorted by it; memory holds one run and a row group.

    Raises `InputError` if the table is not sorted.
    """
    names = list(dict.fromkeys([key, *columns]))
    pieces: list[pl.DataFrame] = []
    current: str | None = None
    for frame in scan_table(path, names):
        start = 0
        for value, length in frame.select(pl.col(key).rle()).unnest(key).select("value", "len").iter_rows():
            if current is not None and value != current:
                if value < current:
                    raise InputError(f"the table is not sorted by {key}", str(path), "make it again")
                yield current, pl.concat(pieces)
                pieces = []
            current = value
            pieces.append(frame.slice(start, length).select(columns))
            start += length
    if current is not None:
        yield current, pl.concat(pieces)


def scan_smallest_first(
    path: Path | str, key: str, columns: Sequence[str]
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each value of `key` with its rows, that of fewest rows first; memory holds one value's rows.

    Parameters
    ----------
    key : str
        A column of text; of values with as many rows the smaller one comes first.
    """
    names = list(dict.fromkeys([key, *columns]))
    with explain_damage(path):
        metadata = open_table(path, names).metadata
    places: dict[str, list[int]] = defaultdict(list)
    sizes: dict[str, int] = defaultdict(int)
    for place in range(metadata.num_row_groups):
        for value, count in _read_group(path, metadata, place, [key])[key].value_counts().iter_rows():
            places[value].append(place)
            sizes[value] += count
    for value in sorted(sizes, key=lambda value: (sizes[value], value)):
        groups = (_read_group(path, metadata, place, names) for place in places[value])
        yield value, pl.concat([group.filter(pl.col(key) == value).select(columns) for group in groups])
