"""What was drawn, and from what: recorded from finished runs, counted by the papers' own numbers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from fathom.figures.catalogue import CATALOGUE
from fathom.figures.papers import NOT_DRAWN, TABLES
from fathom.io.contracts.figures import DRAWN
from fathom.io.delimited import read_rows

SOURCES = {"demo": "demo", "sample": "real sample", "published": "published table"}
"""What runs were made of, and what the page calls it: docstrings, a sample, scores that others published."""

REAL = {"sample", "published"}
"""Sources with real text, or scores of models that others use."""


class PaperRow(NamedTuple):
    """A figure or table of a paper that can be drawn, and one file that holds ours."""

    paper: str
    number: str
    file: str


def list_paper_rows() -> list[PaperRow]:
    """Return what can be drawn, with the files that hold it, below the folder of a run."""
    found = [
        PaperRow(row.paper, row.number, name_file(figure.pattern, row.values))
        for figure in CATALOGUE.values()
        for row in figure.shown
        if row.paper
    ]
    return found + [PaperRow(each.paper, each.number, file) for each in TABLES for file in each.files]


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
    """Yield the rows under DRAWN of a finished run: the first file of each kind that a paper's row names.

    Parameters
    ----------
    run : Path
        Its folder.
    source : str
        One of :data:`SOURCES`.
    """
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


class Count(NamedTuple):
    """Figures and tables of a paper: all, those that can be drawn, and those that were."""

    numbered: set[str]
    drawable: set[str]
    drawn: set[str]


def count_drawn(paper: str, drawn: Iterable[str]) -> Count:
    """Return the numbers of a paper's figures and tables; one is drawn once all its files are.

    Parameters
    ----------
    paper : str
    drawn : iterable of str
        Patterns of files that were drawn.
    """
    rows = [row for row in list_paper_rows() if row.paper == paper]
    known = {*drawn}
    drawable = {number for row in rows for number in list_numbers(row.number)}
    lacking = {
        number
        for row in rows
        if row.file not in known and not row.file.startswith("config/")
        for number in list_numbers(row.number)
    }
    never = {number for each in NOT_DRAWN if each.paper == paper for number in list_numbers(each.number)}
    return Count(drawable | never, drawable, drawable - lacking)
