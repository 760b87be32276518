"""arXiv's metadata: one record for each paper, from Kaggle's JSON lines [RawCorpora, Sec. 2.1].

Ids are in the form of arXiv's own metadata, without version or prefix.
"""

import hashlib
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from email.utils import parsedate
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from fathom.config.corpus import Selection
from fathom.corpus.lines import JsonLines, MalformedLineError, parse_object
from fathom.corpus.records import clean_line, count_top, is_day
from fathom.corpus.selection import NO_DOMAIN, DomainSelector, SplitChooser
from fathom.io.contracts.corpus import RECORDS
from fathom.io.files import choose_scratch
from fathom.io.row_groups import scan_table
from fathom.io.tables import arrow_schema, write_table_in_batches


class TemporaryRows:
    """Batches of rows in one temporary file, written once and read back in the same order.

    The file has no name: two jobs never share it, and nothing remains of it when a job is killed. `output`:
    the final output, which decides where the file is (:func:`fathom.io.files.choose_scratch`).
    """

    def __init__(self, output: Path, schema: pa.Schema) -> None:
        self._output, self._schema = output, schema
        self.rows = 0

    def __enter__(self) -> Self:
        self._file = tempfile.TemporaryFile(dir=choose_scratch(self._output))
        # compression would take a third of a join's time
        self._writer = pa.ipc.new_file(self._file, self._schema)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._writer.close()
        finally:
            self._file.close()

    def write(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Append a batch, given as columns."""
        batch = pa.record_batch([columns[name] for name in self._schema.names], schema=self._schema)
        self._writer.write_batch(batch)
        self.rows += batch.num_rows

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches; nothing can be written afterwards.

        The columns of a batch share one buffer: a reference to one keeps all of them in memory.
        """
        self._writer.close()
        # no memory map: its pages would count as this process's memory
        reader = pa.ipc.open_file(self._file)
        for place in range(reader.num_record_batches):
            yield reader.get_batch(place)


_BATCH = 5000
_RFC_DAY = re.compile(r"(?:[A-Z][a-z]{2}, )?([0-9]{1,2}) ([A-Z][a-z]{2}) ([0-9]{4}) ")
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: f"{place:02d}" for place, name in enumerate(_NAMES, start=1)}
_RECORD_ROWS = pa.schema(
    [
        *arrow_schema(RECORDS),
        pa.field("reason", pa.string()),
        pa.field("update_date", pa.string()),
        pa.field("content", pa.uint64()),
    ]
)


def read_metadata(path: Path, selection: Selection, output: Path) -> dict[str, Any]:
    """Read a metadata file once and write its records; return the report on what was read and left out.

    Of several records with the same id, the one with the latest `update_date` stays; ties go to the largest
    hash. An id that was once read as a number is restored if only one id is possible, and counted. A record
    outside of all domains keeps only its id: the join distinguishes it from an id without metadata. Rows keep
    the file's order. Memory grows by some tens of bytes for each record.

    Raises
    ------
    InputError
        If the file is truncated or has too many malformed lines.
    """
    lines = JsonLines(path, selection.corpus.max_malformed, selection.corpus.max_line_mb)
    parser = _RecordParser(selection)
    with (
        write_table_in_batches(output, RECORDS) as writer,
        TemporaryRows(output, _RECORD_ROWS) as records_on_disk,
    ):
        parsed = lines.parse(parser.parse)
        while rows := list(islice(parsed, _BATCH)):
            records_on_disk.write(dict(zip(_RECORD_ROWS.names, zip(*rows, strict=True), strict=True)))
        kept = _choose_versions(records_on_disk)
        left_out: Counter[str] = Counter()
        offset = empty = 0
        for batch in records_on_disk.read():
            table = pa.Table.from_batches([batch])
            table = table.filter(kept.slice(offset, batch.num_rows).to_arrow())
            offset += batch.num_rows
            reasons = Counter(table["reason"].to_pylist())
            of_empty = table.filter(pc.field("abstract") == "")
            empty += of_empty["reason"].to_pylist().count("")
            left_out.update({reason: count for reason, count in reasons.items() if reason})
            writer.write(table.select(RECORDS.names))
        rows_kept = writer.rows
    return {
        "door": "metadata",
        **lines.report(),
        "records": rows_kept,
        "restored_ids": parser.ids["restored"],
        "duplicates": len(kept) - rows_kept,
        "left_out": dict(left_out),
        "selected": rows_kept - left_out.total(),
        "empty_abstracts": empty,
        "categories": count_top(parser.count_categories()),
    }


def _choose_versions(records_on_disk: TemporaryRows) -> pl.Series:
    """Return for each row on disk whether its version is used."""
    names = ["doc_id", "update_date", "content"]
    # `take` copies: a column would keep its whole batch in memory
    parts = [batch.select(names).take(list(range(batch.num_rows))) for batch in records_on_disk.read()]
    if not parts:
        return pl.Series("kept", [], dtype=pl.Boolean)
    rows = pl.DataFrame(pa.Table.from_batches(parts)).with_row_index("row")
    repeated = rows.filter(pl.col("doc_id").is_duplicated())
    best = repeated.sort(
        "doc_id", "update_date", "content", "row", descending=[False, True, True, False]
    ).unique("doc_id", keep="first", maintain_order=True)
    dropped = repeated.join(best, on="row", how="anti")["row"].implode()
    return rows.select((~pl.col("row").is_in(dropped)).alias("kept"))["kept"]


class _RecordParser:
    def __init__(self, selection: Selection) -> None:
        self._selector, self._splits = DomainSelector(selection), SplitChooser(selection.corpus.splits)
        self._combinations: Counter[tuple[str, ...]] = Counter()
        self.ids: Counter[str] = Counter()

    def parse(self, line: bytes) -> tuple[Any, ...]:
        """Return the values of `_RECORD_ROWS`; raise `MalformedLineError` for a malformed line."""
        record = parse_object(line)
        doc_id = read_arxiv_id(record.get("id"), self.ids)
        categories = read_categories(record.get("categories"))
        self._combinations[tuple(categories)] += 1
        update_date = record.get("update_date") or ""
        update_date = update_date if isinstance(update_date, str) and is_day(update_date) else ""
        domains, day, reason = self._choose_domains(record, categories, update_date)
        content = int.from_bytes(hashlib.sha256(line).digest()[:8], "big")
        if reason:
            return doc_id, "", "", [], "", [], "", reason, update_date, content
        title, abstract = read_text(record, "title"), read_text(record, "abstract")
        split = self._splits.choose(doc_id)
        return (
            doc_id, clean_line(title), clean_line(abstract), categories, day, domains, split,
            reason, update_date, content,
        )  # fmt: skip

    def _choose_domains(
        self, record: dict[str, Any], categories: list[str], update_date: str
    ) -> tuple[list[str], str, str]:
        """Return a record's domains and day, or why it has no domain; the day is read only if it matters."""
        if not self._selector.takes(categories):
            return [], "", NO_DOMAIN
        day = read_first_day(record.get("versions")) or update_date
        domains, reason = self._selector.select(categories, day)
        return domains, day, reason

    def count_categories(self) -> Counter[str]:
        """Return how many records have each category."""
        found: Counter[str] = Counter()
        for categories, count in self._combinations.items():
            found.update(dict.fromkeys(categories, count))
        return found


def read_arxiv_id(value: Any, count: Counter[str]) -> str:
    """Return the canonical id; count it under `restored` if it had once been read as a number.

    Raises
    ------
    MalformedLineError
        If the id is missing, a number, or not an arXiv id.
    """
    if value is None or value == "":
        raise MalformedLineError("no id")
    if not isinstance(value, str):
        raise MalformedLineError(f"the id {value!r} is not a string: a number may have lost its zeros")
    try:
        return canonical_arxiv_id(value)
    except ValueError:
        pass
    try:
        restored = restore_arxiv_id(value)
    except ValueError as error:
        raise MalformedLineError(str(error)) from error
    count["restored"] += 1
    return restored


def read_text(record: dict[str, Any], key: str) -> str:
    """Return a string that may be missing or null; raise `MalformedLineError` for other types."""
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedLineError(f"{key} is not a string")
    return value


def read_categories(value: Any) -> list[str]:
    """Return the distinct categories of a blank-separated string or a list of strings, in order."""
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = " ".join(value)
    if not isinstance(value, str):
        raise MalformedLineError("categories is neither a string nor a list of strings")
    return list(dict.fromkeys(value.split()))


def read_first_day(versions: Any) -> str:
    """Return the day of the first version, empty if it cannot be read."""
    try:
        created = versions[0]["created"]
    except (TypeError, IndexError, KeyError):
        return ""
    if not isinstance(created, str):
        return ""
    if is_day(created[:10]):
        return created[:10]
    match = _RFC_DAY.match(created)
    if match and match[2] in _MONTHS:
        day = f"{match[3]}-{_MONTHS[match[2]]}-{int(match[1]):02d}"
    else:
        date = parsedate(created)
        day = f"{date[0]:04d}-{date[1]:02d}-{date[2]:02d}" if date else ""
    return day if is_day(day) else ""


def scan_records(path: Path) -> Iterator[pl.DataFrame]:
    """Yield the records of a metadata table that belong to a domain, a batch at a time."""
    for frame in scan_table(path, RECORDS.names):
        yield frame.filter(pl.col("domains").list.len() > 0)


# new style: year, month, and a number of four digits until 2014, of five since then
_NEW = re.compile(
    r"(?:0[7-9]|1[0-4])(?:0[1-9]|1[0-2])\.[0-9]{4}|(?:1[5-9]|[2-9][0-9])(?:0[1-9]|1[0-2])\.[0-9]{5}"
)
# old style: hep-th/9901001, math.GT/0309136, or without the slash
_OLD = re.compile(r"([A-Za-z]+(?:-[A-Za-z]+)?)(?:\.[A-Za-z-]+)?/?([0-9]{7})")
_PREFIX = re.compile(r"arxiv:\s*", re.IGNORECASE)
_VERSION = re.compile(r"v[0-9]+$")
_NUMBER = re.compile(r"([0-9]{3,4})\.([0-9]+)")
_NOISE = 11  # from this many digits after the point they are the rounding error of a binary number


def canonical_arxiv_id(text: str) -> str:
    """Return an arXiv id without `arXiv:`, version, subject class or blanks; `ValueError` if it is none.

    Old-style ids are written as in arXiv's own metadata: `math.GT/0309136v2` gives `math/0309136`; `solv-
    int/9901001` stays, because its `v` marks no version.
    """
    bare = text.strip()
    if _NEW.fullmatch(bare):  # nearly all of them
        return bare
    prefix = _PREFIX.match(bare)
    bare = _VERSION.sub("", bare[prefix.end() :] if prefix else bare)
    if _NEW.fullmatch(bare):
        return bare
    old = _OLD.fullmatch(bare)
    if old is None:
        raise ValueError(f"{text[:40]!r} is not an arXiv id")
    return f"{old[1].lower()}/{old[2]}"


def restore_arxiv_id(text: str) -> str:
    """Restore an id that was once read as a number; `ValueError` unless exactly one is possible.

    The length of each half follows from the year. Zeros lost at the front (`704.0001`) or at the end
    (`1709.0336` for `1709.03360`) and rounding errors (`1501.0190300000002`) therefore leave one possible
    id.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match:
        month, number = match[1].zfill(4), match[2]
        width = 4 if month < "1500" else 5
        if len(number) > width:
            rounded = round(int(number), width - len(number))
            near = abs(rounded - int(number)) * 10**7 <= 10 ** len(number)
            number = str(rounded).zfill(len(number))[:width] if len(number) >= _NOISE and near else ""
        restored = f"{month}.{number.ljust(width, '0')}"
        if number and _NEW.fullmatch(restored):
            return restored
    raise ValueError(f"{text[:40]!r} is not an arXiv id")
