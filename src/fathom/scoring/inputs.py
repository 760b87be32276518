"""Pairs as they come: of the workflow, or of anybody who has prompts and targets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import hash_text, read_json_lines
from fathom.io.tables import read_table

COLUMNS = ("pair_id", "keyword", "prompt", "target")
REQUIRED = ("prompt", "target")


def complete_pairs(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return pairs with all columns that scoring needs; what is there stays as it is.

    Parameters
    ----------
    pairs : DataFrame
        Columns prompt and target at least. Without pair_id, one is made from the other three columns; without
        keyword it is empty, so that intervals of a summary have no width.

    Returns
    -------
    DataFrame
        Columns pair_id, keyword, prompt, target first.

    Raises
    ------
    InputError
        If prompts or targets are missing.
    """
    missing = [column for column in REQUIRED if column not in pairs.columns]
    if missing:
        raise InputError(f"pairs lack: {', '.join(missing)}", "pairs", f"they need {', '.join(REQUIRED)}")
    if "keyword" not in pairs.columns:
        pairs = pairs.with_columns(keyword=pl.lit("", pl.String))
    if "pair_id" not in pairs.columns:
        rows = pairs.select("keyword", *REQUIRED).iter_rows()
        pairs = pairs.with_columns(pair_id=pl.Series([hash_text(*row)[:16] for row in rows], dtype=pl.String))
    return pairs.select(*COLUMNS, pl.exclude(COLUMNS))


def read_pairs(path: Path | str) -> pl.DataFrame:
    """Read pairs from a parquet file of the workflow, or from JSON lines with prompt and target.

    JSON lines may hold pair_id and keyword, in each line or in none; see :func:`complete_pairs`.

    Raises
    ------
    InputError
        If there is no pair, or with the line that lacks a text.
    """
    path = Path(path)
    pairs = read_table(path, PAIRS, COLUMNS) if path.suffix == ".parquet" else _read_lines(path)
    if pairs.is_empty():
        raise InputError("there is no pair in this file", str(path), "a line is a prompt with its target")
    return pairs


def _read_lines(path: Path) -> pl.DataFrame:
    """Read pairs from JSON lines."""
    return take_rows(read_json_lines(path), f"{path}, line")


def take_rows(rows: Sequence[Mapping[str, Any]], where: str) -> pl.DataFrame:
    """Return pairs given as mappings with prompt and target; see :func:`complete_pairs`.

    Raises
    ------
    InputError
        With the number of the row that lacks a text; `where` comes before the number.
    """
    columns = [column for column in COLUMNS if column in REQUIRED or any(column in row for row in rows)]
    for number, row in enumerate(rows, start=1):
        wrong = [column for column in columns if not isinstance(row.get(column), str)]
        if wrong:
            raise InputError(
                f"no text under {', '.join(wrong)}", f"{where} {number}", "every one needs it, or none"
            )
    values = [[row[column] for column in columns] for row in rows]
    return complete_pairs(pl.DataFrame(values, dict.fromkeys(columns, pl.String), orient="row"))


def take_pairs(pairs: pl.DataFrame | Path | str | Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return pairs as scoring needs them, from a file, a frame, or a list of mappings.

    Raises
    ------
    InputError
        If there is no pair, or a text is missing.
    """
    if isinstance(pairs, str | Path):
        return read_pairs(pairs)
    found = pairs if isinstance(pairs, pl.DataFrame) else take_rows(pairs, "pairs, row")
    for column in (column for column in COLUMNS if column in found.columns):
        if found[column].dtype != pl.String or found[column].null_count():
            raise InputError(f"no text under {column}", "pairs", "every pair needs it, or none")
    if found.is_empty():
        raise InputError("there is no pair", "pairs", "a pair is a prompt with its target")
    return complete_pairs(found)
