"""Writing and reading of the tables that rules hand to each other, checked against their contracts.

Tables of text are read and written by `fathom.io.delimited`. A table that breaks its contract
(`fathom.io.contracts`) when it is written is a defect of this library: it raises `ValueError`, and nothing is
written. One that does when it is read comes from elsewhere: it raises `InputError`.

Each table carries a record: its place in a run, columns, rows, a hash of its bytes. What is read must agree
with it: a table of another model, one with fewer rows, or one with a changed bit still parses.
"""

import hashlib
import io
import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from fathom.errors import InputError
from fathom.io.contracts.column import DOUBLE, Column, Contract
from fathom.io.delimited import require_distinct
from fathom.io.files import require_file, write_atomically
from fathom.io.names import show_count

_log = logging.getLogger("fathom")

GROUP = 50_000
"""Rows in a row group at most, where a writer does not say otherwise."""


def arrow_schema(contract: Iterable[Column]) -> pa.Schema:
    """Return the Arrow schema of a contract or some of its columns, never null, each with its description."""
    return pa.schema(
        pa.field(each.name, _find_type(each.type), nullable=False, metadata={"about": each.about})
        for each in contract
    )


def _find_type(name: str) -> pa.DataType:
    if name.startswith("list<"):
        return pa.list_(_find_type(name.removeprefix("list<").removesuffix(">")))
    return pa.type_for_alias(name)


def make_empty_table(contract: Contract) -> pl.DataFrame:
    """Return a frame with a contract's columns and types, and no rows."""
    return to_frame(arrow_schema(contract).empty_table())


def check_table(table: pa.Table, contract: Contract) -> pa.Table:
    """Return `table` in the contract's column order and types.

    Raises
    ------
    ValueError
        If a column is missing, unknown, of a type that cannot be cast, or holds nulls or values that its
        contract does not allow.
    """
    expected = contract.names
    if sorted(table.column_names) != sorted(expected):
        raise ValueError(f"columns {sorted(table.column_names)} where the contract has {sorted(expected)}")
    return _check_columns(table, list(contract))


def _check_columns(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """Return some columns of a table, in their types; raise `ValueError` if one holds what it must not."""
    table = table.select([each.name for each in columns])
    for column in columns:
        if table[column.name].null_count:
            raise ValueError(f"column {column.name} holds {table[column.name].null_count} nulls")
    try:
        table = table.cast(arrow_schema(columns))
    except pa.ArrowNotImplementedError as error:
        raise ValueError(f"a column is of another type: {error}") from error
    for column in columns:
        _check_values(column, table[column.name].combine_chunks())
    return table


def _check_values(column: Column, values: pa.Array) -> None:
    import pyarrow.compute as pc

    check, rows = column.check, None
    if pa.types.is_list(values.type):
        rows, values = pc.list_parent_indices(values), pc.list_flatten(values)
    faults = {}
    if pa.types.is_floating(values.type):
        allowed = pc.is_finite(values)
        if check.nan:
            allowed = pc.or_(allowed, pc.is_nan(values))
        if check.infinite:
            allowed = pc.or_(allowed, pc.is_inf(values))
        faults["is not a finite number"] = pc.invert(allowed)
    if check.at_least is not None:
        faults[f"is less than {check.at_least:g}"] = pc.less(values, check.at_least)
    if check.at_most is not None:
        faults[f"is greater than {check.at_most:g}"] = pc.greater(values, check.at_most)
    if check.form:
        faults[f"is not {check.form.about}"] = pc.invert(
            pc.match_substring_regex(values, f"^(?:{check.form.pattern})$")
        )
    if check.unique:
        faults["is a duplicate"] = pc.invert(pl.Series(values).is_first_distinct().to_arrow())
    for fault, wrong in faults.items():
        place = pc.index(wrong, True).as_py()
        if place >= 0:
            row = place if rows is None else rows[place].as_py()
            raise ValueError(f"column {column.name}, row {row}: {values[place].as_py()!r} {fault}")


def write_table(path: Path | str, frame: pl.DataFrame, contract: Contract, group: int = GROUP) -> None:
    """Check a frame against its contract and write it as parquet (zstd), atomically."""
    with write_table_in_batches(path, contract, group) as writer:
        writer.write(frame)


class TableWriter:
    """Appends checked frames to one open parquet file; see :func:`write_table_in_batches`."""

    def __init__(self, path: Path | str, writer: pq.ParquetWriter, contract: Contract, group: int) -> None:
        self._path, self._writer, self._contract, self._group = path, writer, contract, group
        self.rows = 0

    def write(self, frame: pl.DataFrame | pa.Table | Sequence[dict[str, Any]]) -> None:
        """Append a frame, an Arrow table, or a list of rows as dictionaries."""
        if isinstance(frame, pl.DataFrame):
            frame = frame.to_arrow()
        elif not isinstance(frame, pa.Table):
            frame = pa.Table.from_pylist(list(frame), schema=arrow_schema(self._contract))
        try:
            table = check_table(frame, self._contract)
        except ValueError as error:
            raise ValueError(f"{self._path}: {error}") from error
        self._writer.write_table(table, row_group_size=self._group)
        self.rows += table.num_rows


@contextmanager
def write_table_in_batches(path: Path | str, contract: Contract, group: int = GROUP) -> Iterator[TableWriter]:
    """Open a parquet file (zstd) for appending batches; it takes its final name when the block ends well.

    Parameters
    ----------
    group : int
        Rows in a row group at most: what a reader that streams holds at once.
    """
    with (
        write_atomically(path) as temporary,
        temporary.open("wb") as stream,
        HashingWriter(stream) as sink,
        pq.ParquetWriter(
            sink, arrow_schema(contract), compression="zstd", write_page_checksum=True
        ) as writer,
    ):
        appended = TableWriter(path, writer, contract, group)
        yield appended
        place = contract.find_place(path)
        record = make_record(place, contract.names, appended.rows, sink.hexdigest())
        writer.add_key_value_metadata(record)


def read_table(
    path: Path | str, contract: Contract, columns: Sequence[str] | None = None, foreign: bool = False
) -> pl.DataFrame:
    """Read a parquet file that was written under `contract`, all columns or some.

    An optional column that the file lacks, for it is older, is NaN or empty.

    Parameters
    ----------
    columns : sequence of str, optional
        Those that are wanted, if not all.
    foreign : bool, default=False
        Whether other programs write such tables: nothing is said then of one without a record.

    Raises
    ------
    InputError
        If the file is missing, no parquet, lacks a column, a column holds what the contract does not allow,
        or the file is not what its record says.
    """
    names = contract.names if columns is None else list(columns)
    known = {column.name: column for column in contract}
    with explain_damage(path), open_table(path, [name for name in names if known[name].needed]) as file:
        if not check_record(path, file, contract.find_place(path)) and not foreign:
            _tell_unknown(str(path))
        there = set(file.schema_arrow.names)
        table = file.read(columns=[name for name in names if name in there])
    for name in (name for name in names if name not in there):
        empty = [math.nan if known[name].type == DOUBLE else ""] * table.num_rows
        table = table.append_column(name, pa.array(empty, _find_type(known[name].type)))
    for name in names:
        _require_kin(name, table.schema.field(name).type, _find_type(known[name].type), path)
    try:
        return to_frame(_check_columns(table, [known[name] for name in names]))
    except ValueError as error:
        raise InputError(str(error), str(path), "it is damaged, or of another kind: make it again") from error


def _require_kin(name: str, found: pa.DataType, wanted: pa.DataType, path: Path | str) -> None:
    """Raise `InputError` if a column would be read as another kind of value, as text for numbers."""
    kind, needed = _name_kind(found), _name_kind(wanted)
    if kind == needed == "list":
        _require_kin(name, found.value_type, wanted.value_type, path)
        return
    is_id = needed == "text" and pa.types.is_integer(found)
    if kind not in (needed, "null") and not is_id:
        hint = "it is damaged, or of another kind: make it again"
        raise InputError(f"column {name} holds {found} where {wanted} is needed", str(path), hint)


_KINDS = {
    "number": ("is_integer", "is_floating", "is_decimal"),
    "truth": ("is_boolean",),
    "text": ("is_string", "is_large_string", "is_string_view", "is_binary", "is_large_binary"),
    "list": ("is_list", "is_large_list"),
    "null": ("is_null",),
}


def _name_kind(kind: pa.DataType) -> str:
    """Return what values of an Arrow type are: numbers, text, ...; its own name if none of these."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    checks = ((name, getattr(pa.types, check)) for name, some in _KINDS.items() for check in some)
    return next((name for name, check in checks if check(kind)), str(kind))


@cache
def _tell_unknown(path: str) -> None:
    """Say once that nothing vouches for a table."""
    _log.warning("%s has no record of what it belongs to: an older version or another program wrote it", path)


@contextmanager
def explain_damage(path: Path | str) -> Iterator[None]:
    """Turn Arrow's complaint about a file into one for the user."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:
        if getattr(error, "errno", None):
            raise  # a fault of the disk, or no permission
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"not a complete parquet file: {reason}", str(path), "make it again") from error


def open_table(path: Path | str, names: Sequence[str]) -> pq.ParquetFile:
    """Open a parquet file; raise `InputError` if it is missing or lacks a column, or has one twice."""
    file = pq.ParquetFile(require_file(path), page_checksum_verification=True)
    there = file.schema_arrow.names
    missing = sorted(set(names) - set(there))
    try:
        if missing:
            raise InputError(f"columns are missing: {', '.join(missing)}", str(path), "make it again")
        require_distinct(there, str(path), read=names)
    except InputError:
        file.close()
        raise
    return file


def to_frame(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table as a frame."""
    frame = pl.from_arrow(table)
    if not isinstance(frame, pl.DataFrame):
        raise TypeError("an Arrow table did not give a frame")
    return frame


_KEY = b"fathom"
_END = 8  # bytes of a parquet file after its footer: the footer's length, and `PAR1`
_CHUNK = 1 << 20


class HashingWriter(io.RawIOBase):
    """A binary stream for writing that hashes what is written."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._digest, self._place = stream, hashlib.sha256(), 0

    def writable(self) -> bool:
        """Return True: the stream is write-only."""
        return True

    def write(self, content: Any, /) -> int:
        """Write and hash bytes; return their number."""
        self._digest.update(content)
        count = self._stream.write(content)
        self._place += count
        return count

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._place

    def hexdigest(self) -> str:
        """Return the sha256 of what was written so far."""
        return self._digest.hexdigest()


def make_record(place: str, columns: Sequence[str], rows: int, sha256: str) -> dict[bytes, bytes]:
    """Return the record of a table as metadata of its footer."""
    record = {"place": place, "columns": list(columns), "rows": rows, "sha256": sha256}
    return {_KEY: orjson.dumps(record)}


def check_record(path: Path | str, file: pq.ParquetFile, place: str) -> bool:
    """Check an open table against its record; return whether it has one.

    Raises
    ------
    InputError
        If the table is that of another place, has other rows, or other bytes.
    """
    found = (file.metadata.metadata or {}).get(_KEY)
    if found is None:
        return False
    record = _parse(found, path)
    groups = (file.metadata.row_group(place) for place in range(file.metadata.num_row_groups))
    rows = sum(group.num_rows for group in groups)
    if record["rows"] != rows:
        hint = "something took rows away or added some: make it again"
        raise InputError(f"{show_count(rows, 'row')} where {record['rows']:,} were written", str(path), hint)
    if record["place"] and place and record["place"] != place:
        hint = "put it back there, and make this one again"
        raise InputError(f"this table was written as {record['place']}", str(path), hint)
    if record["columns"] != file.schema_arrow.names or record["sha256"] != _hash_before_footer(Path(path)):
        raise InputError("this table was changed after it was written", str(path), "make it again")
    return True


def _parse(content: bytes, path: Path | str) -> dict[str, Any]:
    try:
        record = orjson.loads(content)
    except orjson.JSONDecodeError:
        record = None
    if not isinstance(record, dict) or {*record} != {"place", "columns", "rows", "sha256"}:
        raise InputError("the record of this table is damaged", str(path), "make it again")
    return record


def _hash_before_footer(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(size - _END)
        left = size - _END - int.from_bytes(stream.read(4), "little")
        stream.seek(0)
        while left > 0 and (chunk := stream.read(min(left, _CHUNK))):
            digest.update(chunk)
            left -= len(chunk)
    return digest.hexdigest()
