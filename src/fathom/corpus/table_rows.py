"""Documents from the user's own tables and data sets: columns are named or found by their usual names."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any

from fathom.config.corpus import Columns, DataSet, Selection, TextSource
from fathom.config.section import refuse_unknown
from fathom.corpus.chosen import Choice
from fathom.corpus.lines import JsonLines, parse_object
from fathom.corpus.records import clean_line, is_day, part_name, read_beginning
from fathom.errors import InputError
from fathom.io.cells import find_text, name_kind, read_printed, spell_value
from fathom.io.delimited import fold_name, require_distinct, stream_parquet, stream_rows
from fathom.io.files import hash_file, require_file, write_json
from fathom.jobs.program import log

COLUMNS = {
    "id": ("id", "doc_id", "identifier", "uuid"),
    "title": ("title", "headline", "subject"),
    "abstract": ("abstract", "summary"),
    "text": ("text", "content", "body", "fulltext", "full_text", "article", "document"),
    "categories": ("categories", "category", "topic", "label", "section", "tags"),
    "date": ("date", "published", "created", "year"),
}
"""Usual names of columns, in any case."""
_HEAD = 100
"""First rows that tell the columns: lines of JSON may leave out what is empty."""
_SEPARATORS = str.maketrans(";|", ",,")
_NAME_COLUMN = "name the columns: corpus.columns, or --text COLUMN of fathom build"
_NAME_TEXT = "name one: corpus.columns.text, or --text COLUMN of fathom build"
_BAD_DATE = "invalid date"

Row = Mapping[str, Any]


def find_columns(names: Iterable[str], given: Columns, where: str) -> dict[str, str]:
    """Return the named columns, else the only one with a usual name.

    Raises
    ------
    InputError
        If a named column is missing, or none or several could be the text.
    """
    there = list(names)
    found: dict[str, str] = {}
    for purpose, usual in COLUMNS.items():
        named = getattr(given, purpose)
        fitting = [name for name in there if fold_name(name) in usual]
        if named is None:
            require_distinct([fold_name(name) for name in fitting], where)
        if named is not None:
            if named not in there:
                raise refuse_unknown("column", named, there, where)
            found[purpose] = named
        elif len(fitting) > 1 and purpose == "text":
            what = f"several columns could be the text: {', '.join(fitting)}"
            raise InputError(what, where, _NAME_TEXT)
        elif fitting:
            found[purpose] = fitting[0]
    if not found.keys() & {"text", "abstract"}:
        what = f"no column is called text or abstract; there are {', '.join(there) or 'none'}"
        raise InputError(what, where, _NAME_TEXT)
    return found


def take_names(rows: Iterable[Row]) -> tuple[list[str] | None, Iterator[Row]]:
    """Return the columns of the first hundred rows, None if there is no row, and all rows."""
    rest = iter(rows)
    head = list(islice(rest, _HEAD))
    names = dict.fromkeys(name for row in head for name in row)
    return [*names] if head else None, chain(head, rest)


def read_rows_of_table(path: Path, selection: Selection) -> tuple[Iterator[Row], JsonLines | None]:
    """Return the rows of a table, one at a time, and for JSON lines the counter of malformed ones.

    Parameters
    ----------
    path : Path
        `.jsonl`, `.csv`, `.tsv`, each plain, `.gz` or `.zst`, or `.parquet`.
    """
    ending = Path(path.name.removesuffix(".gz").removesuffix(".zst")).suffix
    if ending in (".csv", ".tsv"):
        return (row for _, row in stream_rows(path)), None
    if ending == ".parquet":
        return (row for _, row in stream_parquet(path)), None
    corpus = selection.corpus
    lines = JsonLines(path, corpus.max_malformed, corpus.max_line_mb)
    return lines.parse(parse_object), lines


def read_table_documents(path: Path, selection: Selection, output: Path) -> dict[str, Any]:
    """Read a table once and write the documents that belong to a domain; return the report.

    Raises
    ------
    InputError
        If the table cannot be read, or has no column with text.
    """
    rows, lines = read_rows_of_table(require_file(path), selection)
    first = next(rows, None)
    if first is None and lines is not None and lines.first_malformed is not None:
        line = lines.first_malformed
        count = "its only line cannot" if lines.lines == 1 else f"none of {lines.lines:,} lines can"
        what = f"{count} be read: {line['reason']}"
        raise InputError(what, f"{path}, line {line['line']}", "write one JSON object per line")
    rows = chain([] if first is None else [first], rows)
    report = write_row_documents(rows, selection, path.name, output)
    if lines is not None:
        return report | lines.report()
    size = {"file": path.name, "bytes": path.stat().st_size, "sha256": hash_file(path)}
    return report | {"input": size}


def read_dataset_documents(selection: Selection, output: Path) -> dict[str, Any]:
    """Write the documents of the data set that `corpus.dataset` names; see :func:`read_table_documents`."""
    dataset = selection.corpus.dataset
    if dataset is None:
        raise InputError("no data set is named", "corpus.dataset", "give its name and revision")
    return write_row_documents(read_rows_of_dataset(dataset), selection, dataset.name, output)


def read_rows_of_dataset(dataset: DataSet) -> Iterator[Row]:
    """Yield the rows of a data set, from the cache where it is there."""
    from fathom.corpus.text_sources import read_rows

    source = TextSource(
        dataset=dataset.name, revision=dataset.revision, subset=dataset.configuration, split=dataset.split
    )
    return read_rows(source, "corpus.dataset", keep=True)


def write_row_documents(rows: Iterator[Row], selection: Selection, name: str, output: Path) -> dict[str, Any]:
    """Write the documents among rows; return the report but for the input's."""
    choice = Choice(selection)
    names, rows = take_names(rows)
    if names is None:
        raise InputError("the table has no rows", name, "give one with rows")
    columns = find_columns(names, selection.corpus.columns, name)
    records = _make_records(rows, columns, name, choice)
    choice.write(records, output)
    report = {"door": "table", "part": part_name(output), "columns": columns}
    return report | {"records": choice.records, **choice.report()}


def _make_records(
    rows: Iterable[Row], columns: Mapping[str, str], name: str, choice: Choice
) -> Iterator[dict[str, Any]]:
    """Yield the record of each row; count invalid dates and leave them empty."""
    for number, row in enumerate(rows, start=1):
        where = f"{name}, row {number}"
        values = {purpose: row.get(column) for purpose, column in columns.items()}
        title, abstract, text = (
            _read_text(values.get(purpose), columns.get(purpose, ""), where)
            for purpose in ("title", "abstract", "text")
        )
        day = _read_day(values.get("date"))
        if day is None:
            choice.notes[_BAD_DATE] += 1
        yield {
            "doc_id": clean_line(_read_id(values.get("id"), columns.get("id", ""), where))
            or f"{name}:{number}",
            "title": clean_line(title),
            "abstract": clean_line(abstract) or read_beginning(text),
            "categories": read_labels(
                values.get("categories"), f"{where}, column {columns.get('categories')}"
            ),
            "date": day or "",
            "text": text if text.strip() else "",
        }


def read_labels(value: Any, where: str = "") -> list[str]:
    """Return the categories of a cell: a list, or the parts of a text between `;`, `,` and `|`.

    Raises
    ------
    InputError
        If a label is neither text nor a number; `where` locates it.
    """
    if isinstance(value, str):
        value = read_printed(value)
    parts = (
        [spell_value(each, " ") for each in value] if isinstance(value, list) else [spell_value(value, " ")]
    )
    if None in parts:
        raise InputError("a category is neither text nor a number", where, _NAME_COLUMN)
    texts = [part for part in parts if part]
    if not isinstance(value, list):
        texts = [piece for text in texts for piece in text.translate(_SEPARATORS).split(",")]
    words = ("-".join(text.replace("*", " ").split()) for text in texts)
    return list(dict.fromkeys(word for word in words if word))


def write_report(path: Path, counts: Mapping[str, Any]) -> None:
    """Write and log what was read and left out of a table or data set."""
    write_json(path, counts)
    log.info(
        "%s documents of %s rows, %s left out",
        f"{counts['documents']:,}",
        f"{counts['records']:,}",
        f"{sum(counts['left_out'].values()):,}",
    )


def _read_text(value: Any, column: str, where: str) -> str:
    """Return the text of a cell, empty for none; raise `InputError` if it holds something else."""
    text = find_text(value)
    if text is None:
        raise InputError(f"column {column!r} holds {name_kind(value)}, not text", where, _NAME_COLUMN)
    return text


def _read_id(value: Any, column: str, where: str) -> str:
    """Return the id in a cell, empty for none; raise `InputError` if it is neither text nor a number."""
    found = None if isinstance(value, list | Mapping) else spell_value(value)
    if found is None:
        raise InputError(f"column {column!r} holds {name_kind(value)}, not ids", where, _NAME_COLUMN)
    return found


def _read_day(value: Any) -> str | None:
    """Return the date of a cell, empty if it has none; None if it is invalid."""
    if value is None or value == "":
        return ""
    day = (value.isoformat() if isinstance(value, date | datetime) else str(value).strip())[:10]
    return day if is_day(day) else None
