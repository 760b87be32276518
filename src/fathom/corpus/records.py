"""Shared by all readers of documents: records, paragraphs, batches, and the report on a part."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from fathom.corpus.characters import CONTROL, read_control
from fathom.io.files import hash_text
from fathom.io.tables import TableWriter

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BATCH_ROWS = 5000
_BATCH_CHARACTERS = 1 << 22
_TOP_CATEGORIES = 1000

Document = dict[str, Any]


def clean_line(text: str) -> str:
    """Return text on one line: white space collapsed to single blanks, no control characters."""
    line = text.strip().replace("\n", " ")
    if line.isprintable() and "  " not in line:  # the only printable white space is the blank
        return line
    line = " ".join(text.split())
    if not line.isprintable() and CONTROL.search(line):
        line = " ".join(CONTROL.sub(read_control, line).split())
    return line


@lru_cache(maxsize=1 << 15)  # a corpus has a few thousand distinct days
def is_day(text: str) -> bool:
    """Say whether a string is a valid date, YYYY-MM-DD."""
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def add_text(record: Mapping[str, Any], text: str) -> Document:
    """Return a record (columns of RECORDS) with its full text, that text's hash and its length."""
    return {**record, "text": text, "text_hash": hash_text(text), "characters": len(text)}


def batch_documents(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield lists of documents that fit in memory, whatever their length."""
    batch: list[Document] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document["text"])
        if len(batch) >= _BATCH_ROWS or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def write_documents(writer: TableWriter, documents: Iterable[Document]) -> None:
    """Write documents batch by batch, so that memory does not grow with their number."""
    for batch in batch_documents(documents):
        writer.write(batch)


def part_name(path: Path) -> str:
    """Return the name of a table's part: its file name without `.parquet`."""
    return path.name.removesuffix(".parquet")


def count_top(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the most frequent categories with their counts; ties by name."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return dict(ordered[:_TOP_CATEGORIES])


_PARAGRAPH_END = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+|\f")
_ABSTRACT = 2000
"""Most characters of a beginning, about an abstract's length."""


def iterate_paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text, separated by blank lines and form feeds."""
    start = 0
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    for end in _PARAGRAPH_END.finditer(text):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]


def read_beginning(text: str) -> str:
    """Return the first paragraphs of a text that fit into 2,000 characters, on one line.

    A first paragraph that is longer is truncated between words.
    """
    paragraphs = [line for each in iterate_paragraphs(text[: 10 * _ABSTRACT]) if (line := clean_line(each))]
    fitting = sum(end <= _ABSTRACT + 1 for end in accumulate(len(each) + 1 for each in paragraphs))
    if fitting or not paragraphs:
        return " ".join(paragraphs[:fitting])
    cut = paragraphs[0][: _ABSTRACT + 1].rpartition(" ")[0]
    return cut or paragraphs[0][:_ABSTRACT]
