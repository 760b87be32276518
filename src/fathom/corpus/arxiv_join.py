"""The join of arXiv's metadata and full texts, shard by shard [RawCorpora, Sec. 2.1]."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from fathom.config.corpus import Corpus
from fathom.corpus.lines import JsonLines, MalformedLineError, parse_object
from fathom.corpus.metadata import TemporaryRows, read_arxiv_id, scan_records
from fathom.corpus.records import Document, add_text, batch_documents, part_name, write_documents
from fathom.corpus.selection import EMPTY, NO_DOMAIN, NO_FULL_TEXT
from fathom.io.contracts.corpus import DOCUMENTS, RECORDS
from fathom.io.files import hash_text
from fathom.io.row_groups import scan_table
from fathom.io.tables import read_table, write_table_in_batches

# an unescaped "arxiv_id" can only be a key: inside a string its quotes would be escaped
_ID = re.compile(rb'"arxiv_id"\s*:\s*"([^"\\]*)"')
_END = 2048  # bytes at either end of a line in which to look for meta
_WAVE = 100_000  # documents to look up together
_TEXT_ROWS = pa.schema(
    [
        ("doc_id", pa.string()),
        ("text", pa.large_string()),
        ("text_hash", pa.string()),
        ("characters", pa.int64()),
    ]
)


def join_shard(metadata: Path, shard: Path, corpus: Corpus, output: Path) -> dict[str, Any]:
    """Read a shard of full texts once and write the documents that belong to a domain; return the report.

    Most lines are recognized by the id near their end; only wanted lines are parsed. An unwanted line
    therefore counts as malformed only if its ends or its id are wrong. Rows keep the shard's order, repeated
    ids included. Memory holds the ids of the metadata, one batch of texts, and the records of at most 100,000
    documents.

    Raises
    ------
    InputError
        If the shard is truncated or has too many malformed lines.
    """
    lines = JsonLines(shard, corpus.max_malformed, corpus.max_line_mb)
    matcher = _ShardMatcher(metadata)
    wanted = (found for found in lines.parse(matcher.parse) if found is not None)
    with write_table_in_batches(output, DOCUMENTS) as writer:
        while wave := _write_wave(wanted, output, metadata, writer.write):
            if wave < _WAVE:
                break
        documents = writer.rows
    return {
        "door": "join",
        "part": part_name(output),
        **lines.report(),
        "records": lines.lines - lines.malformed,
        "restored_ids": matcher.ids["restored"],
        "fulltext_only": len(matcher.fulltext_only),
        "left_out": {reason: count for reason, count in matcher.left_out.items() if count},
        "documents": documents,
    }


def _write_wave(
    wanted: Iterator[tuple[str, str]], output: Path, metadata: Path, write: Callable[[pa.Table], None]
) -> int:
    """Store up to `_WAVE` texts, look up their records in one pass, write both; return their number."""
    with TemporaryRows(output, _TEXT_ROWS) as texts_on_disk:
        ids: list[str] = []
        texts = (add_text({"doc_id": doc_id}, text) for doc_id, text in islice(wanted, _WAVE))
        for batch in batch_documents(texts):
            columns = {name: [row[name] for row in batch] for name in _TEXT_ROWS.names}
            ids += columns["doc_id"]
            texts_on_disk.write(columns)
        if ids:
            records = _look_up(metadata, set(ids))
            place = {doc_id: row for row, doc_id in enumerate(records["doc_id"].to_pylist())}
            rows = [place[doc_id] for doc_id in ids]
            start = 0
            for texts_of in texts_on_disk.read():
                table = records.take(rows[start : start + texts_of.num_rows])
                start += texts_of.num_rows
                for name in _TEXT_ROWS.names[1:]:
                    table = table.append_column(name, texts_of[name])
                write(table)
        return texts_on_disk.rows


def _look_up(metadata: Path, ids: set[str]) -> pa.Table:
    found = []
    for frame in scan_records(metadata):
        rows = [row for row, doc_id in enumerate(frame["doc_id"].to_list()) if doc_id in ids]
        # converting to Arrow copies: a filtered frame would keep the whole batch in memory
        found.append(frame[rows].to_arrow(compat_level=pl.CompatLevel.oldest()))
    return pa.concat_tables(found).combine_chunks()


class _ShardMatcher:
    """Finds the lines of a shard whose documents belong to a domain, and counts the others."""

    def __init__(self, metadata: Path) -> None:
        self._wanted: set[str] = set()
        self._unwanted: set[str] = set()
        for frame in scan_table(metadata, ["doc_id", "domains"]):
            has_domain = pl.col("domains").list.len() > 0
            self._wanted.update(frame.filter(has_domain)["doc_id"].to_list())
            self._unwanted.update(frame.filter(~has_domain)["doc_id"].to_list())
        self.fulltext_only: set[str] = set()
        self.ids: Counter[str] = Counter()
        self.left_out = {NO_DOMAIN: 0, NO_FULL_TEXT: 0}

    def parse(self, line: bytes) -> tuple[str, str] | None:
        """Return id and text of a wanted line, None for other lines."""
        parsed = None
        value: Any = _cut_id(line)
        if value is None:
            parsed = parse_object(line)
            value = _meta_id(parsed)
        known = isinstance(value, str) and (value in self._wanted or value in self._unwanted)
        doc_id = value if known else read_arxiv_id(value, self.ids)  # known ids are canonical
        if doc_id not in self._wanted:
            if doc_id in self._unwanted:
                self.left_out[NO_DOMAIN] += 1
            else:
                self.fulltext_only.add(doc_id)
            return None
        if parsed is None:
            parsed = parse_object(line)
            if _meta_id(parsed) != value:
                raise MalformedLineError("an arxiv_id outside of meta")
        text = parsed.get("text")
        if text is not None and not isinstance(text, str):
            raise MalformedLineError("text is not a string")
        if text is None or not text.strip():
            self.left_out[NO_FULL_TEXT] += 1
            return None
        return doc_id, text


def _cut_id(line: bytes) -> str | None:
    """Return the only `arxiv_id` near an end of a line, None if the line must be parsed to find it."""
    if not (line.startswith(b"{") and line.endswith(b"}")):
        return None
    for piece in (line[-_END:], line[:_END]):
        found = _ID.findall(piece)
        if len(found) == 1 and found[0].isascii():
            return str(found[0], "ascii")
        if found:
            return None
    return None


def _meta_id(record: dict[str, Any]) -> Any:
    meta = record.get("meta")
    return meta.get("arxiv_id") if isinstance(meta, dict) else None


def collect_abstracts(
    metadata: Path, joined: Sequence[Path], outputs: Sequence[Path], require_fulltext: bool
) -> list[dict[str, Any]]:
    """Write the records without full text, divided by a hash of their ids; return the reports.

    Parameters
    ----------
    joined : sequence of Path
        Tables of the joined shards (DOCUMENTS); only their ids are read.
    require_fulltext : bool
        Write empty tables, because documents without full text are left out.
    """
    with_text: set[str] = set()
    for path in joined:
        with_text.update(read_table(path, DOCUMENTS, ["doc_id"])["doc_id"])
    counts = [{"metadata_only": 0, NO_FULL_TEXT: 0, EMPTY: 0} for _ in outputs]
    names = RECORDS.names
    with ExitStack() as stack:
        writers = [stack.enter_context(write_table_in_batches(path, DOCUMENTS)) for path in outputs]
        for frame in scan_records(metadata):
            rows: list[list[Document]] = [[] for _ in outputs]
            for row in frame.select(names).iter_rows(named=True):
                if row["doc_id"] in with_text:
                    continue
                place = int(hash_text("part", row["doc_id"])[:12], 16) % len(outputs)
                counts[place]["metadata_only"] += 1
                if require_fulltext:
                    counts[place][NO_FULL_TEXT] += 1
                elif not row["title"] and not row["abstract"]:
                    counts[place][EMPTY] += 1
                else:
                    rows[place].append(add_text(row, ""))
            for writer, some in zip(writers, rows, strict=True):
                write_documents(writer, some)
        written = [writer.rows for writer in writers]
    return [
        {
            "door": "abstracts",
            "part": part_name(path),
            "metadata_only": count["metadata_only"],
            "left_out": {reason: count[reason] for reason in (NO_FULL_TEXT, EMPTY) if count[reason]},
            "documents": rows_written,
        }
        for path, count, rows_written in zip(outputs, counts, written, strict=True)
    ]
