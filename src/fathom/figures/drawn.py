"""What was drawn, from what, and how much of it is the papers': counted by the papers' own numbers."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from fathom.figures.catalogue import CATALOGUE
from fathom.figures.papers import NOT_DRAWN, TABLES
from fathom.io.contracts.figures import DRAWN, REHEARSED
from fathom.io.delimited import read_rows

SOURCES = {"demo": "demo", "sample": "real sample", "published": "published table"}
"""What runs were made of, and what the page calls it: docstrings, a sample, scores that others published."""

Rehearsed = Mapping[str, Collection[str]]
"""Patterns of the files that rehearsals drew, by paper."""


class PaperRow(NamedTuple):
    """A figure or table of a paper that can be drawn, one file that holds ours, and how ours differs."""

    paper: str
    number: str
    file: str
    differs: str


def list_paper_rows() -> list[PaperRow]:
    """Return what can be drawn, with the files that hold it, below the folder of a run."""
    found = [
        PaperRow(row.paper, row.number, name_file(figure.pattern, row.values), row.differs)
        for figure in CATALOGUE.values()
        for row in figure.shown
        if row.paper
    ]
    tables = [PaperRow(each.paper, each.number, file, each.differs) for each in TABLES for file in each.files]
    return found + tables


def name_file(pattern: str, values: Mapping[str, str]) -> str:
    """Return the pattern of a figure's files, with the values that a row has."""
    for name, value in values.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return f"figures/{pattern}.png"


def list_numbers(text: str) -> list[str]:
    """Return each figure or table in a text such as `Figs. 7, 20 to 23` or `Fig. 3, left`.

    Examples
    --------
    >>> list_numbers("Figs. 7, 20 to 21")
    ['Fig. 7', 'Fig. 20', 'Fig. 21']
    """
    kind = "Table" if text.startswith("Table") else "Fig."
    found = []
    for first, last in re.findall(r"(\d+)(?: to (\d+))?", text):
        found += [f"{kind} {number}" for number in range(int(first), int(last or first) + 1)]
    return found


def find_drawn(run: Path, source: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows under DRAWN of a finished run: the first file of each kind that a paper's row names."""
    for pattern in dict.fromkeys(row.file for row in list_paper_rows()):
        if pattern.startswith("config/"):
            continue
        found = sorted(run.glob(re.sub(r"{\w+}", "*", pattern)))
        if found:
            yield pattern, source, run.name, found[0].relative_to(run).as_posix()


def read_drawn(path: Path) -> dict[str, list[str]]:
    """Return the sources that each kind of file was drawn from, by its pattern."""
    found: dict[str, list[str]] = {}
    for row in read_rows(path, DRAWN):
        sources = found.setdefault(row["file"], [])
        if row["source"] not in sources:
            sources.append(row["source"])
    return found


def read_rehearsed(path: Path) -> Rehearsed | None:
    """Return what rehearsals drew, from a table under REHEARSED; None if there is no such table yet."""
    if not path.exists():
        return None
    found: dict[str, set[str]] = {}
    for row in read_rows(path, REHEARSED):
        if row["files"]:
            found.setdefault(row["paper"], set()).add(row["file"])
    return found


def find_complete(paper: str, drawn: Iterable[str]) -> set[str]:
    """Return the numbers of a paper's figures and tables of which all files were drawn."""
    known = {*drawn}
    rows = [row for row in list_paper_rows() if row.paper == paper]
    return _number(rows) - _number(row for row in rows if row.file not in known)


class Count(NamedTuple):
    """Figures and tables of a paper: all, as the paper has them, in part, not, drawn in a rehearsal."""

    numbered: set[str]
    regenerated: set[str]
    in_part: set[str]
    missing: set[str]
    rehearsed: set[str]


def count_figures(paper: str, rehearsed: Rehearsed | None) -> Count:
    """Return the numbers of a paper's figures and tables, by how much of them is drawn.

    A number is regenerated if none of its rows differs from the paper's, no part of it is among what is not
    drawn, and, where there were rehearsals, one of them drew it.
    """
    rows = [row for row in list_paper_rows() if row.paper == paper]
    drawable = _number(rows)
    never = {number for each in NOT_DRAWN if each.paper == paper for number in list_numbers(each.number)}
    complete = find_complete(paper, rehearsed.get(paper, ())) if rehearsed is not None else set()
    regenerated = drawable - never - _number(row for row in rows if row.differs)
    if rehearsed is not None:
        regenerated &= complete
    return Count(drawable | never, regenerated, drawable - regenerated, never - drawable, complete)


def _number(rows: Iterable[PaperRow]) -> set[str]:
    return {number for row in rows for number in list_numbers(row.number)}
