"""Reading and writing of tables of text (CSV and TSV), checked against their contracts.

A row is a mapping with a value of the right type for each column: text, a float, an int or a truth value.
An empty field is NaN in a column of floats, None in one of whole numbers. Tables are checked when written
as when read; writing a table that breaks its contract is a defect of this library. Text that a spreadsheet
would run as a formula is written with an apostrophe, which reading removes.
"""

import csv
import io
import math
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.contracts.column import BOOL, DOUBLE, STRING, YES_NO, Column, Contract
from fathom.io.files import LINE_MB, open_decompressed, read_plain_text, require_file, write_atomically
from fathom.io.names import show_count

# of the whole process: fields may contain documents
csv.field_size_limit(LINE_MB * 1_000_000)

Row = dict[str, Any]
"""A line of a table: values by column."""

_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Beginnings of formulas, by the list of OWASP; the page's core.js has the same."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?%?")
_SHOWN = 80  # characters of a wrong value in a message
_DELIMITERS = (",", ";", "\t")  # of .csv: spreadsheets write semicolons where numbers have decimal commas
_SEPARATORS = "check for a missing or an extra separator; a text with one in it needs quotes"
_QUOTED = re.compile(r'"[^"]*"')
_TRUTH = {YES_NO: {"yes": True, "no": False}, BOOL: {"True": True, "False": False}}


def read_rows(path: Path | str, contract: Contract, columns: Sequence[str] | None = None) -> list[Row]:
    """Read a CSV or TSV table; columns that are unknown to its contract are left out.

    Raises
    ------
    InputError
        If the file is missing or not a table, lacks a column, or a value does not fit its column: file,
        line, column, and what is wrong.
    """
    return [row for _, row in scan_rows(path, contract, columns)]


def scan_rows(
    path: Path | str, contract: Contract, columns: Sequence[str] | None = None
) -> list[tuple[str, Row]]:
    """Like :func:`read_rows`, with the place of each row: file and line."""
    needed = [each.name for each in contract if each.needed] if contract.by_hand else None
    return type_fields(read_fields(path, contract.delimiter, needed), contract, columns)


def type_fields(
    table: Sequence[tuple[str, Sequence[str]]], contract: Contract, columns: Sequence[str] | None = None
) -> list[tuple[str, Row]]:
    """Return the rows of a table that was read with :func:`read_fields`, and where each lies."""
    (first, header), *lines = table
    require_distinct(header, first, read=contract.names)
    absent = {each.name: _parse("", each) for each in contract if each.optional}
    needed = [each.name for each in contract if each.needed] if columns is None else columns
    missing = [name for name in needed if name not in header and name not in absent]
    if missing:
        found = f"found: {', '.join(header)}"
        raise InputError(f"missing columns: {', '.join(missing)}", first, f"{found}; {contract.hint}")
    matched = [
        (place, name, column)
        for place, (name, column) in enumerate(zip(header, contract.match(header), strict=True))
        if column is not None and (columns is None or name in columns)
    ]
    rows = []
    for where, fields in lines:
        row = dict(absent)
        for place, name, column in matched:
            try:
                row[name] = _parse(fields[place], column)
            except ValueError as error:
                raise InputError(str(error), f"{where}, column {name}", contract.hint) from error
        rows.append((where, row))
    _require_distinct_rows(rows, contract)
    return rows


def _require_distinct_rows(rows: Sequence[tuple[str, Row]], contract: Contract) -> None:
    places: dict[tuple[Any, ...], str] = {}
    for where, row in rows:
        if not all(name in row for name in contract.key):
            return  # of columns that are not read
        key = tuple(row[name] for name in contract.key)
        first = places.setdefault(key, where)
        if contract.key and first != where:
            said = ", ".join(str(value) for value in key if value not in ("", None))
            raise InputError(f"duplicate row of {said}, which stands at {first}", where, contract.hint)


def write_rows(
    path: Path | str,
    rows: Iterable[Mapping[str, Any] | Sequence[Any]],
    contract: Contract,
    header: Sequence[str] | None = None,
) -> None:
    """Write a CSV or TSV table, atomically.

    Parameters
    ----------
    rows : iterable of mappings or sequences
        Values by column, or in the order of the header; text for a number is written as it is.
    header : sequence of str, optional
        Names of the columns, where the contract leaves them open; by default those of the first row.

    Raises
    ------
    ValueError
        If the header or a value breaks the contract; nothing is written.
    """
    if header is None and any("{" in name for name in contract.names):
        rows = list(rows)
        header = list(rows[0]) if rows else [each.name for each in contract if each.needed]
    names = contract.names if header is None else list(header)
    columns = [column for column in contract.match(names) if column is not None]
    if len(columns) < len(names) or any(each.needed and each not in columns for each in contract):
        raise ValueError(f"{path}: columns {names} where the contract has {contract.names}")
    with write_atomically(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        how: dict[str, Any] = {"delimiter": contract.delimiter, "lineterminator": "\n"}
        writer, quoting = csv.writer(stream, **how), csv.writer(stream, **how, quoting=csv.QUOTE_ALL)
        writer.writerow([_guard(name) for name in names])
        for number, row in enumerate(rows, start=2):
            values = [row[name] for name in names] if isinstance(row, Mapping) else row
            try:
                fields = [_render(*each) for each in zip(values, columns, strict=True)]
                # csv quotes no carriage return where lines end otherwise, and one ends a line when it is read
                (quoting if any("\r" in field for field in fields) else writer).writerow(fields)
            except UnicodeEncodeError:  # of the path of a file, which has a message of its own
                raise
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from error


def _parse(text: str, column: Column) -> Any:
    if column.type == STRING:
        fault = column.check.find_fault(text)
        if fault:
            raise ValueError(f"{text[:_SHOWN]!r} {fault}")
        return text
    if not text and (column.check.nan or column.optional):
        return math.nan if column.type == DOUBLE else None
    if column.type in _TRUTH:
        known = _TRUTH[column.type]
        if text not in known:
            raise ValueError(f"{text!r} is not {' or '.join(known)}")
        return known[text]
    whole = column.type != DOUBLE
    try:
        value = read_number(text, whole)
    except ValueError:
        raise ValueError(f"{text!r} is not a {'whole ' * whole}number") from None
    fault = column.check.find_fault(value)
    if fault:
        raise ValueError(f"{text} {fault}")
    return value


def read_number(text: str, whole: bool = False) -> float:
    """Return the number that a text spells; raise `ValueError` if it is none, as `1_0` for all but Python."""
    if "_" in text:
        raise ValueError("no number")
    return int(text) if whole else float(text)


def _render(value: Any, column: Column) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        text = ""
    elif isinstance(value, float) and column.type == DOUBLE:
        text = format(value, column.digits)
    elif column.type == YES_NO and isinstance(value, bool):
        text = "yes" if value else "no"
    else:
        text = str(value)
    try:
        _parse(text, column)
    except ValueError as error:
        raise ValueError(f"column {column.name}: {error}") from None
    return _guard(text) if column.type == STRING else text


def _is_formula(text: str) -> bool:
    """Tell whether a spreadsheet runs a field, without leading apostrophes; not for numbers."""
    bare = text.lstrip("'")
    return bare.startswith(_SIGNS) and not _NUMBER.fullmatch(bare)


def _guard(text: str) -> str:
    return f"'{text}" if _is_formula(text) else text


def _unguard(text: str) -> str:
    return text[1:] if text.startswith("'") and _is_formula(text) else text


def read_fields(
    path: Path | str, delimiter: str = ",", needed: Sequence[str] | None = None
) -> list[tuple[str, list[str]]]:
    """Read a table as text, header first: where each line lies, and its fields.

    Parameters
    ----------
    needed : sequence of str, optional
        Columns that each line has; what it lacks of others at its end is empty. By default it has all.

    Raises
    ------
    InputError
        If the file is missing, not UTF-8 or empty, a column is named twice, quotes are broken, or a line has
        another number of fields than the header.
    """
    found: list[tuple[str, list[str]]] = []
    for number, fields in scan_csv(read_plain_text(path), delimiter):
        where = f"{path}, line {number}"
        if isinstance(fields, str):
            raise InputError(fields, where, "check its quotes")
        header = found[0][1] if found else fields
        lacking = header[len(fields) :]
        if len(fields) > len(header) or (lacking and (needed is None or {*lacking} & {*needed})):
            what = f"{show_count(len(fields), 'field')} where the header has {len(header)}"
            raise InputError(what, where, _SEPARATORS)
        found.append((where, [_unguard(field) for field in fields] + [""] * len(lacking)))
    if not found:
        raise InputError("the file is empty", str(path), "it needs a header line")
    require_distinct(found[0][1], f"{path}, line 1", blank=True)
    return found


def fold_name(name: str) -> str:
    r"""Return a column's name without case, surrounding spaces and invisible characters.

    Examples
    --------
    >>> fold_name("\ufeffText ")
    'text'
    """
    letters = unicodedata.normalize("NFKC", name)
    return "".join(each for each in letters if unicodedata.category(each) != "Cf").strip().casefold()


def require_distinct(names: Sequence[str], where: str, blank: bool = False, read: Iterable[str] = ()) -> None:
    """Raise `InputError` if a table names a column twice; columns without a name count only if `blank`.

    Nor may another column look like one of those that are `read`.
    """
    counts = Counter(name for name in names if blank or name.strip())
    twice = sorted(name for name, count in counts.items() if count > 1)
    read = counts.keys() & {*read}
    folded = {fold_name(name): name for name in read}
    alike = [name for name in counts if name not in read and fold_name(name) in folded]
    if twice or alike:
        shown = twice or [f"{folded[fold_name(name)]} and {name!a}" for name in alike]
        raise InputError(f"duplicate columns: {', '.join(shown)}", where, "rename or remove one of them")


def read_header(stream: Iterable[str], delimiter: str) -> list[str]:
    """Return the names of the columns in the first record of a CSV or TSV file, or none if it is empty."""
    return next(csv.reader(stream, delimiter=delimiter), [])


def stream_parquet(path: Path, rows: int = 500) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each row of a user's parquet file and its number, from 1; at most `rows` are in memory.

    Raises `InputError` if the file is not parquet, damaged, or repeats a column.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(require_file(path), page_checksum_verification=True) as file:
            require_distinct(file.schema_arrow.names, str(path))
            for batch in file.iter_batches(rows):
                for row in batch.to_pylist(maps_as_pydicts="strict"):
                    number += 1
                    yield number, row
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        what = f"the table cannot be read: {reason}"
        raise InputError(what, f"{path}, row {number + 1:,}", "get or write it again") from error


def read_delimited(path: Path | str, delimiter: str = ",") -> list[dict[str, str]]:
    """Read a user's table as text, whatever its columns; see :func:`read_fields`."""
    (_, header), *lines = read_fields(path, delimiter)
    return [dict(zip(header, fields, strict=True)) for _, fields in lines]


def scan_csv(text: str, delimiter: str = ",") -> Iterator[tuple[int, list[str] | str]]:
    """Yield the number of each record's first line with its fields; after a broken one, what is wrong."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        first = reader.line_num + 1
        try:
            values = next(reader, None)
        except csv.Error as error:
            yield first, f"not CSV: {error}"
            return
        if values is None:
            return
        yield first, values


def stream_rows(path: Path) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yield the first line's number and the fields of each row of a CSV or TSV, plain, `.gz` or `.zst`.

    The first row is the header. Commas, semicolons or tabs separate fields: what the header of a CSV has most
    of. What a row lacks at its end is None; blank lines are no rows.

    Raises
    ------
    InputError
        If the file is not UTF-8, damaged or cut off, or a row has more cells than the header.
    """
    first = 1
    try:
        with io.TextIOWrapper(open_decompressed(path), encoding="utf-8-sig", newline="") as stream:
            start = stream.readline()
            reader = csv.reader(chain([start], stream), delimiter=_find_delimiter(path, start), strict=True)
            header = next(reader, [])
            require_distinct(header, f"{path}, line 1")
            first = reader.line_num + 1
            for fields in reader:
                if any(map(str.strip, fields[len(header) :])):
                    what = f"{show_count(len(fields), 'field')} where the header has {len(header)}"
                    raise InputError(what, f"{path}, line {first:,}", _SEPARATORS)
                if fields:  # missing cells are None
                    yield first, {**dict.fromkeys(header), **dict(zip(header, fields, strict=False))}
                first = reader.line_num + 1
    except UnicodeDecodeError as error:
        raise InputError("the table is not UTF-8", str(path), "save it as UTF-8") from error
    except (csv.Error, EOFError, OSError, zlib.error) as error:
        hint = "get or write it again"
        raise InputError(f"the table cannot be read: {error}", f"{path}, line {first:,}", hint) from error


def _find_delimiter(path: Path, header: str) -> str:
    """Return the separator of a table: a tab of .tsv, else what a header has most of outside of quotes."""
    bare = _QUOTED.sub("", header)
    return "\t" if ".tsv" in path.suffixes else max(_DELIMITERS, key=bare.count)
