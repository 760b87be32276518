"""Reference benchmarks: pairs written by a person or by another model, checked on import.

Source: [RawCorpora, Sec. 3.2].
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from fathom.benchmark.card import choose_examples, escape_markdown, write_front_matter
from fathom.benchmark.wordlists import gives_away
from fathom.config.benchmark import REFERENCE
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.delimited import scan_csv
from fathom.io.files import hash_text, read_plain_text
from fathom.io.json_text import parse_object
from fathom.io.names import show_count
from fathom.io.tables import make_empty_table

CATEGORY_NAMES = ("category", "keyword")
_OPTIONAL = ("source", "date")
_HINT = "an entry needs category (or keyword), prompt and target; source and date are optional"


class Fault(NamedTuple):
    """A broken rule: its line, name and description, and the number of the entry, from 1 (0: no entry).

    `file` is the name of the file if several are read together.
    """

    line: int
    rule: str
    text: str
    entry: int = 0
    file: str = ""


class ReferencePair(NamedTuple):
    """One pair as its author wrote it, with its line."""

    line: int
    category: str
    prompt: str
    target: str
    source: str = ""
    date: str = ""
    file: str = ""


def read_entries(path: Path | str) -> tuple[list[ReferencePair], list[Fault]]:
    """Read pairs from JSON lines (`.jsonl`) or CSV with a header (`.csv`).

    Raise `InputError` if the file is missing, is not UTF-8, or has another suffix.
    """
    path = Path(path)
    readers = {".jsonl": _read_json_lines, ".csv": _read_csv}
    if path.suffix not in readers:
        raise InputError(
            f"a file of pairs ends in .jsonl or .csv, not in {path.suffix!r}", str(path), "rename it"
        )
    text = read_plain_text(path)
    entries: list[ReferencePair] = []
    faults: list[Fault] = []
    for line, values in readers[path.suffix](text):
        if isinstance(values, str):
            faults.append(Fault(line, "unreadable", values))
            continue
        category = next((values[name] for name in CATEGORY_NAMES if values.get(name)), "")
        fields = [category, values.get("prompt", ""), values.get("target", "")]
        fields += [values.get(name) or "" for name in _OPTIONAL]
        if all(isinstance(field, str) for field in fields):
            entries.append(ReferencePair(line, *fields))
        else:
            faults.append(Fault(line, "unreadable", f"a value is not text; {_HINT}"))
    return entries, faults


def _read_json_lines(text: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values: Mapping[str, Any] | str = parse_object(line.encode())
        except ValueError as error:
            values = f"{error}; {_HINT}"
        yield number, values


def _read_csv(text: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    header: list[str] | None = None
    for first, values in scan_csv(text):
        if isinstance(values, str):
            yield first, values
        elif header is None:
            header = [name.strip().lower() for name in values]
            if twice := sorted({name for name in header if name and header.count(name) > 1}):
                yield first, f"duplicate columns: {', '.join(twice)}; rename or remove one of them"
                return
            if not {"prompt", "target"} <= set(header) or not set(CATEGORY_NAMES) & set(header):
                yield first, f"the header is {', '.join(header)}; {_HINT}"
                return
        elif len(values) == len(header):
            yield first, dict(zip(header, values, strict=True))
        elif values:
            yield first, f"{show_count(len(values), 'field')}, but the header has {len(header)}"


def find_faults(entries: Sequence[ReferencePair]) -> list[Fault]:
    """Return every fault of the entries, in their order.

    The rules: no field is `empty`; the prompt does not end in a space (`prompt end`); the target begins with
    exactly one space and does not end in one (`target blank`); the prompt does not contain its `answer` as a
    word; no entry is a `duplicate` of an earlier one.
    """
    faults: list[Fault] = []
    seen: dict[tuple[str, str], ReferencePair] = {}
    for number, entry in enumerate(entries, start=1):
        faults += [Fault(entry.line, rule, text, number, entry.file) for rule, text in _find_broken(entry)]
        first = seen.setdefault((entry.prompt.strip().lower(), entry.target.strip().lower()), entry)
        if first is not entry:
            place = f"line {first.line}" + (f" of {first.file}" if first.file != entry.file else "")
            faults.append(Fault(entry.line, "duplicate", f"the same pair as in {place}", number, entry.file))
    return faults


def _find_broken(entry: ReferencePair) -> Iterator[tuple[str, str]]:
    """Yield the rules that an entry breaks, each with a description."""
    fields = {"category": entry.category, "prompt": entry.prompt, "target": entry.target}
    empty = [name for name, value in fields.items() if not value.strip()]
    if empty:
        yield "empty", f"no {' and no '.join(empty)}"
    if entry.prompt.strip() and entry.prompt[-1].isspace():
        yield "prompt end", "the prompt ends in a space, which belongs to the target"
    bare = entry.target.strip()
    if bare and entry.target != f" {bare}":
        yield "target blank", f"the target {entry.target!r} does not have exactly one space, before the word"
    if bare and contains_answer(entry.prompt, bare):
        yield "answer", f"the prompt contains its own answer {bare!r}"


def contains_answer(prompt: str, answer: str) -> bool:
    """Return whether a prompt contains an answer as whole words, ignoring case."""
    prompt, answer = prompt.lower(), answer.lower()
    place = prompt.find(answer)
    while place >= 0:
        around = prompt[max(place - 1, 0) : place] + prompt[place + len(answer) : place + len(answer) + 1]
        if not any(letter.isalnum() or letter in "-'_" for letter in around):
            return True
        place = prompt.find(answer, place + 1)
    return False


def raise_faults(faults: Sequence[Fault], path: Path | str) -> None:
    """Raise an `InputError` that lists every fault with its line, if there are any."""
    if faults:
        listed = "".join(
            f"\n  line {fault.line}: {fault.rule}: {fault.text}"
            for fault in sorted(faults, key=lambda fault: fault.line)
        )
        raise InputError(f"{show_count(len(faults), 'fault')}{listed}", str(path), "correct these lines")


def make_reference_pairs(entries: Sequence[ReferencePair]) -> pl.DataFrame:
    """Return checked entries as pairs (contract PAIRS), sorted by keyword and pair_id.

    The category becomes the keyword, so intervals resample categories. The cosine is NaN.
    """
    rows = []
    for entry in entries:
        keyword = " ".join(entry.category.lower().split())
        rows.append(
            {
                "pair_id": hash_text(keyword, REFERENCE, entry.prompt, entry.target)[:16],
                "keyword": keyword,
                "variant": REFERENCE,
                "prompt": entry.prompt,
                "target": entry.target,
                "doc_id": entry.source,
                "date": entry.date,
                "cosine": float("nan"),
                "target_in_prompt": gives_away(entry.prompt, entry.target),
                "target_in_keyword": gives_away(keyword, entry.target),
                "association": float("nan"),
            }
        )
    return pl.DataFrame(rows, schema=make_empty_table(PAIRS).schema).sort("keyword", "pair_id")


def describe_reference(pairs: pl.DataFrame, file: str, name: str) -> dict[str, Any]:
    """Return the report on a reference benchmark: the name of its file, and what it is called."""
    counts = pairs.group_by("keyword").len().sort("keyword")
    return {
        "name": name,
        "file": file,
        "pairs": len(pairs),
        "distinct_targets": pairs["target"].n_unique(),
        "categories": dict(counts.iter_rows()),
        "target_in_keyword": round(int(pairs["target_in_keyword"].sum()) / max(1, len(pairs)), 4),
    }


def write_reference_card(pairs: pl.DataFrame, title: str, report: Mapping[str, Any]) -> str:
    """Return the card of a reference benchmark, in the format of the Hugging Face hub."""
    title = " ".join(title.split())
    examples = [
        f"| {escape_markdown(row['keyword'])} | {escape_markdown(row['prompt'])} | "
        f"{escape_markdown(row['target'].strip())} |"
        for row in choose_examples(pairs.to_dicts())
    ]
    parts = [
        write_front_matter(len(pairs), f"{title}: reference benchmark", REFERENCE),
        f"# {escape_markdown(title)}: reference benchmark",
        f"{len(pairs):,} prompt-target pairs of {len(report['categories']):,} categories, written by hand or "
        f"by another model and imported from `{report['file']}`; {report['distinct_targets']:,} distinct "
        "targets.",
        "No pair lacks a field, stands twice, or holds its target in its prompt. `keyword` is the category, "
        "`doc_id` the source that the author gave, and `cosine` is not a number: no sentence was matched.",
        "\n".join(["## Examples", "", "| category | prompt | target |", "|---|---|---|", *examples]),
        "## Licence\n\nThat of the file and of the text it was taken from.",
    ]
    return "\n\n".join(parts) + "\n"
