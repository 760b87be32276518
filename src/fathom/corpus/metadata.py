"""arXiv's metadata: one record for each paper, out of Kaggle's JSON lines [RawCorpora, Sec. 2.1]."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from email.utils import parsedate
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from fathom.config.corpus import Selection
from fathom.corpus.identifiers import canonical_arxiv_id, restore_arxiv_id
from fathom.corpus.lines import JsonLines, MalformedLineError, parse_object
from fathom.corpus.records import clean_line, count_top, is_day
from fathom.corpus.selection import NO_DOMAIN, DomainSelector, FoldChooser
from fathom.corpus.temporary_rows import TemporaryRows
from fathom.io.contracts.corpus import RECORDS
from fathom.io.row_groups import scan_table
from fathom.io.tables import arrow_schema, write_table_in_batches

_BATCH = 5000
_RFC_DAY = re.compile(r"(?:[A-Z][a-z]{2}, )?([0-9]{1,2}) ([A-Z][a-z]{2}) ([0-9]{4}) ")
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: f"{place:02d}" for place, name in enumerate(_NAMES, start=1)}
_SPOOLED = pa.schema(
    [
        *arrow_schema(RECORDS),
        pa.field("reason", pa.string()),
        pa.field("update_date", pa.string()),
        pa.field("content", pa.uint64()),
    ]
)


def read_metadata(path: Path, selection: Selection, output: Path) -> dict[str, Any]:
    """Read a metadata file once and write its records; return the report of what was read and left out.

    Of several records with one id the one with the latest `update_date` stays, then the one with the largest
    hash. An id that was once read as a number is restored where only one answer is possible, and counted.
    A record of no domain stays as an id without title, abstract and domains, so that the join can tell
    it from an id that the metadata lacks. Rows stand in the file's order. Memory grows by some tens
    of bytes for each record.

    Parameters
    ----------
    path : Path
        `arxiv-metadata-oai-snapshot.json`, plain or compressed.
    selection : Selection
        The domains, dates and folds.
    output : Path
        Where the table goes (RECORDS).

    Raises
    ------
    InputError
        If the file is cut off or holds too many malformed lines.
    """
    lines = JsonLines(path, selection.corpus.max_malformed)
    parser = _RecordParser(selection)
    with write_table_in_batches(output, RECORDS) as writer, TemporaryRows(output, _SPOOLED) as rows_on_disk:
        parsed = lines.parse(parser.parse)
        while rows := list(islice(parsed, _BATCH)):
            rows_on_disk.write(dict(zip(_SPOOLED.names, zip(*rows, strict=True), strict=True)))
        kept = _choose_versions(rows_on_disk)
        left_out: Counter[str] = Counter()
        offset = empty = 0
        for batch in rows_on_disk.read():
            table = pa.Table.from_batches([batch])
            table = table.filter(kept.slice(offset, batch.num_rows).to_arrow())
            offset += batch.num_rows
            reasons = Counter(table["reason"].to_pylist())
            of_empty = table.filter(pc.field("abstract") == "")
            empty += of_empty["reason"].to_pylist().count("")
            left_out.update({reason: count for reason, count in reasons.items() if reason})
            writer.write(table.select([column.name for column in RECORDS]))
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


def _choose_versions(rows_on_disk: TemporaryRows) -> pl.Series:
    """Return for each spooled row whether it is the version of its id that counts."""
    names = ["doc_id", "update_date", "content"]
    # taken and so copied: a column keeps its whole batch in memory
    parts = [batch.select(names).take(list(range(batch.num_rows))) for batch in rows_on_disk.read()]
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
    """Makes a spooled row of one line of metadata, with little work for what no domain takes."""

    def __init__(self, selection: Selection) -> None:
        self._selector, self._folds = DomainSelector(selection), FoldChooser(selection.corpus.folds)
        self._combinations: Counter[tuple[str, ...]] = Counter()
        self.ids: Counter[str] = Counter()

    def parse(self, line: bytes) -> tuple[Any, ...]:
        """Return the values of `_SPOOLED`; raise `MalformedLineError` for a line that is no record."""
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
        fold = self._folds.choose(doc_id)
        return (
            doc_id, clean_line(title), clean_line(abstract), categories, day, domains, fold,
            reason, update_date, content,
        )  # fmt: skip

    def _choose_domains(
        self, record: dict[str, Any], categories: list[str], update_date: str
    ) -> tuple[list[str], str, str]:
        """Return a record's domains and day, or why there are none; a day is read only where it can count."""
        if not self._selector.takes(categories):
            return [], "", NO_DOMAIN
        day = _first_day(record.get("versions")) or update_date
        domains, reason = self._selector.select(categories, day)
        return domains, day, reason

    def count_categories(self) -> Counter[str]:
        """Return how many records have each category."""
        found: Counter[str] = Counter()
        for categories, count in self._combinations.items():
            found.update(dict.fromkeys(categories, count))
        return found


def read_arxiv_id(value: Any, count: Counter[str]) -> str:
    """Return the canonical id, counting it under `restored` if it was spoiled as text.

    Raises
    ------
    MalformedLineError
        If the id is missing, a number, or no arXiv id.
    """
    if value is None or value == "":
        raise MalformedLineError("no id")
    if not isinstance(value, str):
        raise MalformedLineError(f"the id {value!r} is no text: a number may have lost its zeros")
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
    """Return a text that may be missing or null; raise `MalformedLineError` if it is something else."""
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedLineError(f"{key} is no text")
    return value


def read_categories(value: Any) -> list[str]:
    """Return categories, given as blank-separated text or as a list of texts, in order, each once."""
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = " ".join(value)
    if not isinstance(value, str):
        raise MalformedLineError("categories is neither a text nor a list of texts")
    return list(dict.fromkeys(value.split()))


def _first_day(versions: Any) -> str:
    """Return the day of the first version, or nothing if it cannot be read."""
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
    """Yield the records of a metadata table that some domain takes, a batch at a time."""
    for frame in scan_table(path, [column.name for column in RECORDS]):
        yield frame.filter(pl.col("domains").list.len() > 0)
