"""Tables of text for tests: with any columns, as text, and typed."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fathom.io.contracts.column import Contract
from fathom.io.contracts.corpus import SENTENCES
from fathom.io.contracts.jobs import MODELS
from fathom.io.delimited import Row, read_fields, read_rows, write_rows
from fathom.io.tables import make_empty_table

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


def fill_table(contract: Contract, **columns: Any) -> pl.DataFrame:
    """Return a table under a contract; columns have a value for all rows or one each, or are empty."""
    schema = make_empty_table(contract).schema
    whole = {name: each for name, each in columns.items() if not isinstance(each, str | bool | int | float)}
    length = len(next(iter(whole.values()), "1"))
    empty = {"Int32": 0, "Int64": 0, "Float64": 0.5, "String": "", "Boolean": False}
    one = {name: columns.get(name, empty.get(str(kind), [])) for name, kind in schema.items()}
    return pl.DataFrame({name: whole.get(name, [one[name]] * length) for name in schema}, schema=schema)


def tabulate_sentences(rows: Sequence[tuple[str, str]], clean: str = "{}") -> pl.DataFrame:
    """Return sentences under contract SENTENCES from their documents and texts."""
    documents, texts = ([row[place] for row in rows] for place in (0, 1))
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return fill_table(
        SENTENCES, doc_id=documents, position=range(len(rows)), sentence=texts,
        clean=[clean.format(text) for text in texts], row=[numbers[text] for text in texts],
    )  # fmt: skip


def write_models(path: Path, *models: dict[str, str]) -> Path:
    """Write a table of models, each with some values of its own."""
    rows = [{"name": "a", "family": "f", "kind": "base", "dtype": "float32", **model} for model in models]
    columns = dict.fromkeys([*MODEL_COLUMNS, *(column for row in rows for column in row)])
    write_delimited(path, columns, [[row.get(column, "") for column in columns] for row in rows])
    return path
