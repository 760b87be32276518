"""Reading pairs: from the workflow, or any prompts and targets of your own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.delimited import require_distinct
from fathom.io.files import BYTE_ORDER_MARK, hash_text, read_json_lines, require_file
from fathom.io.json_text import parse_object
from fathom.io.tables import explain_damage, open_table, read_table

COLUMNS = ("pair_id", "keyword", "prompt", "target")
REQUIRED = ("prompt", "target")
_READ = (*COLUMNS, "doc_id")  # intervals draw documents if there are no two keywords


def complete_pairs(pairs: pl.DataFrame) -> pl.DataFrame:
    """Add the columns that scoring needs, and put them first; existing columns stay unchanged.

    A missing pair_id is a hash of keyword, prompt and target. A missing keyword is empty; intervals then draw
    documents if there is a doc_id, else pairs. Raise `InputError` if there is no prompt or target.
    """
    missing = [column for column in REQUIRED if column not in pairs.columns]
    if missing:
        raise InputError(
            f"missing columns: {', '.join(missing)}", "pairs", f"required: {', '.join(REQUIRED)}"
        )
    if "keyword" not in pairs.columns:
        pairs = pairs.with_columns(keyword=pl.lit("", pl.String))
    if "pair_id" not in pairs.columns:
        rows = pairs.select("keyword", *REQUIRED).iter_rows()
        pairs = pairs.with_columns(pair_id=pl.Series([hash_text(*row)[:16] for row in rows], dtype=pl.String))
    return pairs.select(*COLUMNS, pl.exclude(COLUMNS))


def read_pairs(path: Path | str) -> pl.DataFrame:
    """Read pairs from a parquet file or from JSON lines, each with prompt and target.

    Both may have pair_id, keyword and doc_id, in all rows or in none; see :func:`complete_pairs`. Other
    keys and blank lines are ignored. The message for a line without a text gives its number.
    """
    path = Path(path)
    pairs = (
        _read_parquet(path)
        if path.suffix == ".parquet"
        else take_rows(read_json_lines(path), f"{path}, line")
    )
    if pairs.is_empty():
        raise InputError("no pairs in this file", str(path), "each line needs a prompt and a target")
    return pairs


def has_pairs(path: Path | str) -> bool:
    """Say whether a file, which may be damaged, has prompts and targets, by its columns or its first line.

    Raise `InputError` if it is not a parquet file despite its name.
    """
    path = Path(path)
    if path.suffix == ".parquet":
        with explain_damage(path), open_table(path, ()) as file:
            return set(REQUIRED) <= set(file.schema_arrow.names)
    if path.suffix != ".jsonl":
        return False
    with require_file(path).open("rb") as lines:
        first = next((line for line in lines if line.strip()), b"").removeprefix(BYTE_ORDER_MARK)
    try:
        return set(REQUIRED) <= set(parse_object(first))
    except ValueError:
        return False


def _read_parquet(path: Path) -> pl.DataFrame:
    with explain_damage(path), open_table(path, REQUIRED) as file:
        columns = [
            name
            for name in _READ
            if name in file.schema_arrow.names and (name in REQUIRED or not _is_empty(file, name))
        ]
    pairs = read_table(path, PAIRS, columns, foreign=True)
    _check_texts(pairs, str(path))
    return complete_pairs(pairs)


def _is_empty(file: pq.ParquetFile, name: str) -> bool:
    column = file.read(columns=[name])[name]
    return bool(column.null_count == len(column))


def take_rows(rows: Sequence[Any], where: str) -> pl.DataFrame:
    """Convert mappings with prompt and target to pairs; see :func:`complete_pairs`.

    The message for a row that lacks a text gives `where` and its number.
    """
    seen = set[tuple[str, ...]]()
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            hint = 'write {"prompt": "...", "target": " ..."}'
            raise InputError(f"not a mapping: {row!r:.60}", f"{where} {number}", hint)
        keys = tuple(map(str, row))
        if keys not in seen:
            require_distinct(keys, f"{where} {number}", read=_READ)
            seen.add(keys)
    # ignore a key that is null in all rows
    columns = [
        column for column in _READ if column in REQUIRED or any(row.get(column) is not None for row in rows)
    ]
    values = []
    for number, row in enumerate(rows, start=1):
        texts = [row.get(name) if name in REQUIRED else _write_id(row.get(name)) for name in columns]
        wrong = [column for column, text in zip(columns, texts, strict=True) if not isinstance(text, str)]
        if wrong:
            raise InputError(
                f"no text in {', '.join(wrong)}", f"{where} {number}", "give it in all rows or in none"
            )
        values.append(texts)
    return complete_pairs(pl.DataFrame(values, dict.fromkeys(columns, pl.String), orient="row"))


def _write_id(value: Any) -> Any:
    """Return a whole number, as ids often are, as text; anything else unchanged."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def take_pairs(pairs: pl.DataFrame | Path | str | Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Read or convert pairs from a file, a frame, or a list of mappings.

    Raises
    ------
    InputError
        If there are no pairs, or a text is missing.
    """
    if isinstance(pairs, str | Path):
        return read_pairs(pairs)
    found = pairs if isinstance(pairs, pl.DataFrame) else take_rows(pairs, "pairs, row")
    _check_texts(found, "pairs")
    if found.is_empty():
        raise InputError("there is no pair", "pairs", "a pair is a prompt with its target")
    return complete_pairs(found)


def _check_texts(pairs: pl.DataFrame, where: str) -> None:
    for column in (column for column in _READ if column in pairs.columns):
        if pairs[column].dtype != pl.String or pairs[column].null_count():
            raise InputError(f"no text in {column}", where, "give it for all pairs or for none")
