"""Writing and reading of the tables that rules hand to each other, checked against their contracts.

A contract (`fathom.io.contracts`) is a tuple of columns, each with its type and a line on what it holds.
A table that breaks its contract is an error of ours, never of a user, and raises `ValueError` before anything
is written.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from fathom.errors import InputError
from fathom.io.contracts.column import Contract
from fathom.io.files import require_file, write_atomically

GROUP = 50_000
"""Rows in a row group at most, where a writer does not say otherwise."""


def arrow_schema(contract: Contract) -> pa.Schema:
    """Return the Arrow schema of a contract; columns are never null, and carry their description."""
    fields = [pa.field(c.name, c.type, nullable=False, metadata={"about": c.about}) for c in contract]
    return pa.schema(fields)


def make_empty_table(contract: Contract) -> pl.DataFrame:
    """Return a frame with a contract's columns and types, and no rows."""
    return to_frame(arrow_schema(contract).empty_table())


def check_table(table: pa.Table, contract: Contract) -> pa.Table:
    """Return `table` in the contract's column order and types.

    Raises
    ------
    ValueError
        If a column is missing, unknown, of a type that cannot be cast, or holds nulls.
    """
    expected = [column.name for column in contract]
    if sorted(table.column_names) != sorted(expected):
        raise ValueError(f"columns {sorted(table.column_names)} where the contract has {sorted(expected)}")
    table = table.select(expected)
    for column in contract:
        if table[column.name].null_count:
            raise ValueError(f"column {column.name} holds {table[column.name].null_count} nulls")
    return table.cast(arrow_schema(contract))


def write_table(path: Path | str, frame: pl.DataFrame, contract: Contract, group: int = GROUP) -> None:
    """Check a frame against its contract and write it as parquet (zstd), atomically."""
    with write_table_in_batches(path, contract, group) as writer:
        writer.write(frame)


class TableWriter:
    """Appends checked frames to one open parquet file; see :func:`write_table_in_batches`."""

    def __init__(self, writer: pq.ParquetWriter, contract: Contract, group: int) -> None:
        self._writer, self._contract, self._group = writer, contract, group
        self.rows = 0

    def write(self, frame: pl.DataFrame | pa.Table | Sequence[dict[str, Any]]) -> None:
        """Append a frame, an Arrow table, or a list of rows as dictionaries."""
        if isinstance(frame, pa.Table):
            table = check_table(frame, self._contract)
        elif isinstance(frame, pl.DataFrame):
            table = check_table(frame.to_arrow(), self._contract)
        else:
            table = pa.Table.from_pylist(list(frame), schema=arrow_schema(self._contract))
            table = check_table(table, self._contract)
        self._writer.write_table(table, row_group_size=self._group)
        self.rows += table.num_rows


@contextmanager
def write_table_in_batches(path: Path | str, contract: Contract, group: int = GROUP) -> Iterator[TableWriter]:
    """Open a parquet file (zstd) for appending batches; it takes its final name when the block ends well.

    Parameters
    ----------
    path : Path or str
        The final name.
    contract : Contract
        What every batch is checked against.
    group : int
        Rows in a row group at most: what a reader that streams holds at once.
    """
    with write_atomically(path) as temporary:
        writer = pq.ParquetWriter(temporary, arrow_schema(contract), compression="zstd")
        try:
            yield TableWriter(writer, contract, group)
        finally:
            writer.close()


def read_table(path: Path | str, contract: Contract, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a parquet file that was written under `contract`, all columns or some.

    Raises
    ------
    InputError
        If the file is missing, no parquet, or lacks a column of the contract.
    """
    names = [column.name for column in contract] if columns is None else list(columns)
    with explain_damage(path):
        return to_frame(open_table(path, names).read(columns=names).select(names))


@contextmanager
def explain_damage(path: Path | str) -> Iterator[None]:
    """Turn Arrow's complaint about a file into one for the user."""
    try:
        yield
    except pa.ArrowInvalid as error:
        raise InputError(f"this is no complete parquet file: {error}", str(path), "make it again") from error


def open_table(path: Path | str, names: Sequence[str]) -> pq.ParquetFile:
    """Open a parquet file; raise `InputError` if it is missing or lacks a column."""
    file = pq.ParquetFile(require_file(path))
    missing = sorted(set(names) - set(file.schema_arrow.names))
    if missing:
        raise InputError(f"columns are missing: {', '.join(missing)}", str(path), "make it again")
    return file


def to_frame(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table as a frame."""
    frame = pl.from_arrow(table)
    if not isinstance(frame, pl.DataFrame):
        raise TypeError("an Arrow table did not give a frame")
    return frame
