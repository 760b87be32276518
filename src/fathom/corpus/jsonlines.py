"""Documents from JSON lines of your own."""

from pathlib import Path
from typing import Any

from fathom.config.corpus import Selection
from fathom.corpus.chosen import Choice
from fathom.corpus.lines import JsonLines, MalformedLineError, parse_object
from fathom.corpus.metadata import read_categories, read_text
from fathom.corpus.records import clean_line, is_day, part_name, read_beginning


def read_jsonlines(path: Path, selection: Selection, output: Path) -> dict[str, Any]:
    """Read a file of documents once and write those that belong to a domain; return the report.

    Each line is a JSON object. Other keys are ignored; null means a missing value:

    - `id`: string, required; surrounding blanks are removed
    - `title`, `abstract`: string; a missing abstract is replaced by the beginning of `text`, at most 2,000
      characters
    - `text`: the full text, plain or LaTeX
    - `categories`: list of strings, or one string separated by blanks; if missing, only the pattern `*` fits
    - `date`: string, `YYYY-MM-DD`

    Raises
    ------
    InputError
        If the file is truncated or has too many malformed lines.
    """
    corpus = selection.corpus
    lines = JsonLines(path, corpus.max_malformed, corpus.max_line_mb)
    choice = Choice(selection)
    choice.write(lines.parse(_parse_record), output)
    return {
        "door": "jsonlines",
        "part": part_name(output),
        **lines.report(),
        "records": lines.lines - lines.malformed,
        **choice.report(),
    }


def _parse_record(line: bytes) -> dict[str, Any]:
    record = parse_object(line)
    doc_id = record.get("id")
    if doc_id is None or (isinstance(doc_id, str) and not doc_id.strip()):
        raise MalformedLineError("no id")
    if not isinstance(doc_id, str):
        raise MalformedLineError(f"the id {doc_id!r} is not a string")
    day = read_text(record, "date").strip()
    if day and not is_day(day):
        raise MalformedLineError(f"date {day[:20]!r} is not a date in the form YYYY-MM-DD")
    text = read_text(record, "text")
    text = text if text.strip() else ""
    return {
        "doc_id": doc_id.strip(),
        "title": clean_line(read_text(record, "title")),
        "abstract": clean_line(read_text(record, "abstract")) or read_beginning(text),
        "categories": read_categories(record.get("categories")),
        "date": day,
        "text": text,
    }
