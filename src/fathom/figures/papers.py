"""Figures and tables of the papers: which are drawn, from what, and how faithfully; which are not, and why.

Figures that are drawn are in the catalogue.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fathom.figures.catalogue import CATALOGUE
from fathom.io.contracts.figures import DRAWN, REHEARSED
from fathom.io.delimited import read_rows

PRESETS = {
    "RawCorpora": "raw-corpora",
    "BeyondBenchmarks": "beyond-benchmarks",
    "CompComp": "comp-comp",
    "TrainBeforeTest": "train-before-test",
}
"""The papers, and the configuration of `config/papers` that draws most of each."""


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper, and our files for it.

    Attributes
    ----------
    preset : str
        Configuration of `config/papers`, where it is not the paper's own.
    differs : str
        What our table lacks or shows differently, as in :class:`fathom.figures.entry.Shown`.
    """

    paper: str
    number: str
    shows: str
    files: tuple[str, ...]
    made_by: str
    preset: str = ""
    differs: str = ""


@dataclass(frozen=True)
class NotDrawn:
    """A figure or table of a paper that no run makes, and why."""

    paper: str
    number: str
    shows: str
    reason: str


_FOLLOW = "follow, following-demo; OLMo-2: hub"
_KEYWORDS = "examples/vocabularies.csv"
_ARXIV = "about papers of arXiv, not the staff and courses of a university"

TABLES = (
    PaperTable("RawCorpora", "Tables 1, 5", "targets of both vocabularies, and tokens, of some keywords",
               (_KEYWORDS,), "figures"),
    PaperTable("RawCorpora", "Tables 2, 3, 7, 8", "pairs; those of references too", ("examples/pairs.csv",),
               "figures"),
    PaperTable("RawCorpora", "Table 4", "ten keywords of each domain", ("examples/keywords.csv",), "figures"),
    PaperTable("RawCorpora", "Table 6", "six styles of the prompt", ("config/choices/styles.yaml",),
               "choices, choices-demo", "raw-corpora-choices",
               "wording of our own; the paper's only from a file of yours (`choices.styles`)"),
    PaperTable("RawCorpora", "Table 9", "the 100 best and worst targets",
               ("{domain}/targets/best-and-worst.csv",), "figures"),
    PaperTable("RawCorpora", "Table 10", "checkpoints that are followed", ("following/checkpoints.csv",),
               _FOLLOW),
    PaperTable("BeyondBenchmarks", "Table 1", "targets and tokens of some keywords", (_KEYWORDS,), "figures"),
    PaperTable("BeyondBenchmarks", "Table 2", "pairs", ("examples/pairs.csv",), "figures"),
    PaperTable("BeyondBenchmarks", "Table 3", "the 100 best and worst targets of an adapted model",
               ("{domain}/targets/best-and-worst.csv",), "figures"),
    PaperTable("BeyondBenchmarks", "Table 4", "checkpoints", ("following/checkpoints.csv",), _FOLLOW),
    PaperTable("BeyondBenchmarks", "Table 5", "most likely tokens after keywords, in the token list and not",
               ("{domain}/layers/{model}.examples.tsv",), "layers", "beyond-benchmarks-layers"),
    PaperTable("CompComp", "Table 1", "benchmarks and questions of a run: domain, kind and size",
               ("examples/benchmarks.csv",), "figures",
               differs="the run's own benchmarks; the paper has six of others beside its own"),
    PaperTable("CompComp", "Table 2", "questions by form and level, and other sizes", ("sizes.csv",),
               "courses", differs=f"{_ARXIV}; without FAQ and forum"),
    PaperTable("CompComp", "Tables 3, 5, 6", "scores by form and prompting, and paired differences",
               ("question-scores.csv", "question-differences.csv"), "courses",
               differs=f"{_ARXIV}; GPT-3.5 and GPT-4 only with a key of yours"),
    PaperTable("CompComp", "Table 4", "scores by t_d and t_c; sizes by t_d",
               ("question-thresholds.csv", "questions/{set}/percentiles.csv"), "courses",
               differs=f"{_ARXIV}; a higher t_d asks fewer questions, as Eq. 8 says; not without t_d"),
    PaperTable("CompComp", "Table 4", "sizes by t_c", ("{domain}/coverage/correlations.csv",),
               "coverage, with `coverage.ablation`", differs=_ARXIV),
    PaperTable("TrainBeforeTest", "Tables 1, 2, 4", "benchmarks, models, compute", ("ranking/tables.md",),
               "rankings"),
    PaperTable("TrainBeforeTest", "Table 3", "bits per byte of Gemma's models and Pythia-410M",
               ("ranking/table-corpora-chosen.csv",), "rankings",
               differs="the published scores have none of Gemma's models"),
)  # fmt: skip
"""Tables of the papers, in their order."""

NOT_DRAWN = (
    NotDrawn("RawCorpora", "Figs. 1, 2", "faults of benchmarks, the pipeline", "drawings, without numbers"),
    NotDrawn("RawCorpora", "Fig. 14", "the prompt that asks a model for pairs",
             "a text: [`fathom request write`](reference.md#pairs-that-a-language-model-writes) writes ours"),
    NotDrawn("BeyondBenchmarks", "Fig. 1", "the pipeline", "a drawing, without numbers"),
    NotDrawn("CompComp", "Fig. 1a", "comprehensive and compact benchmarks", "a drawing, without numbers"),
    NotDrawn("CompComp", "Fig. 2", "the method", "a drawing, without numbers"),
)  # fmt: skip
"""What no run makes."""


SOURCES = {"demo": "demo", "sample": "real sample", "published": "published table"}
"""Sources of runs with their names on the page: docstrings, a sample, published scores."""

Rehearsed = Mapping[str, Collection[str]]
"""Patterns of the files that rehearsals drew, by paper."""


class PaperRow(NamedTuple):
    """A figure or table of a paper that can be drawn, one file that holds ours, and how ours differs.

    `preset`: the configuration that draws it, where it is not the paper's own.
    """

    paper: str
    number: str
    file: str
    differs: str
    preset: str = ""


def list_paper_rows() -> list[PaperRow]:
    """Return what can be drawn, with its files below the folder of a run."""
    found = [
        PaperRow(row.paper, row.number, name_file(figure.pattern, row.values), row.differs, row.preset)
        for figure in CATALOGUE.values()
        for row in figure.shown
        if row.paper
    ]
    return found + [
        PaperRow(each.paper, each.number, file, each.differs, each.preset)
        for each in TABLES
        for file in each.files
    ]


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
    """Figures and tables of a paper: all, faithful, partial, not drawn, drawn in a rehearsal."""

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
