"""Tables of text for tests: with any columns, as text, and typed."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fathom.io.contracts.column import Contract
from fathom.io.contracts.jobs import MODELS
from fathom.io.delimited import Row, read_fields, read_rows, write_rows

MODEL_COLUMNS = [column.name for column in MODELS if not column.optional]
"""What every table of models has."""


def write_delimited(
    path: Path, columns: Iterable[str], rows: Iterable[Sequence[Any]], delimiter: str = "\t"
) -> None:
    """Write a table with any columns."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([list(columns), *rows])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")


def read_delimited(path: Path, delimiter: str = "\t", columns: Sequence[str] = ()) -> list[dict[str, str]]:
    """Read a table as text; it must have some columns."""
    (_, header), *lines = read_fields(path, delimiter)
    assert set(columns) <= set(header)
    return [dict(zip(header, fields, strict=True)) for _, fields in lines]


def type_rows(rows: Iterable[Sequence[Any]], contract: Contract, folder: Path) -> list[Row]:
    """Return rows as they are read back from a file."""
    write_rows(folder / "typed", rows, contract)
    return read_rows(folder / "typed", contract)
