"""What a rehearsal drew of the papers' figures and tables, from how many points, in which panels."""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fathom.figures.catalogue import CATALOGUE
from fathom.figures.drawn import name_file
from fathom.figures.papers import PRESETS, TABLES
from fathom.io.contracts.figures import REHEARSED
from fathom.io.delimited import read_fields, read_rows, write_rows


class Drawn(NamedTuple):
    """A figure or table of a paper, and what a run made of it.

    Attributes
    ----------
    paper, number : str
        As :class:`fathom.figures.drawn.PaperRow`.
    files : int
        Files of that kind; 0: it was not drawn.
    points : int
        Rows of the numbers beside the first of them.
    panels : str
        Panels of that file, where its numbers name them.
    missing : str
        Panels that other files of the pattern have and it lacks, and those without a finite number in it.
    """

    paper: str
    number: str
    file: str
    files: int
    points: int
    panels: str
    missing: str = ""


def list_wanted(preset: str, planned: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Yield paper, number and file of whatever a configuration of a paper is there to draw.

    Parameters
    ----------
    planned : collection of str
        Files that its run makes, below the folder of the run. A part of a paper's whole configuration, which
        has its name and more, is there to draw what it plans.
    """
    rows = [
        (row.paper, row.number, name_file(figure.pattern, row.values), row.preset)
        for figure in CATALOGUE.values()
        for row in figure.shown
        if row.paper
    ]
    rows += [(table.paper, table.number, file, table.preset) for table in TABLES for file in table.files]
    for paper, number, file, own in rows:
        is_part = preset.startswith(PRESETS[paper]) and any(map(_compile(file).fullmatch, planned))
        if (own or PRESETS[paper]) == preset or is_part:
            yield paper, number, file


def _compile(pattern: str) -> re.Pattern[str]:
    """Return an expression for the files of a pattern whose names in braces may be anything."""
    return re.compile(".*".join(map(re.escape, re.split(r"{\w+}", pattern))))


def describe_outcome(preset: str, planned: Collection[str], run: Path, root: Path) -> list[Drawn]:
    """Return what a run made of the figures and tables that its configuration is there to draw."""
    found = []
    for paper, number, pattern in list_wanted(preset, planned):
        place = root if pattern.startswith("config/") else run
        files = sorted(place.glob(re.sub(r"{\w+}", "*", pattern)))
        points, panels = _count_points(files[0]) if files else (0, "")
        found.append(Drawn(paper, number, pattern, len(files), points, panels, find_missing(files)))
    return sorted(found, key=_order)


def _order(each: Drawn) -> tuple[str, bool, int, str]:
    numbers = re.findall(r"\d+", each.number)
    return each.paper, each.number.startswith("Table"), int(numbers[0]) if numbers else 0, each.file


def _count_points(file: Path) -> tuple[int, str]:
    """Return the rows of a figure's numbers or of a table, and the panels that they name."""
    if file.suffix == ".yaml":
        return len(file.read_text(encoding="utf-8").splitlines()), ""
    if file.suffix == ".tsv":
        return len(read_fields(file, "\t")) - 1, ""
    numbers = file.with_suffix(".csv")
    if not numbers.exists():
        return 0, ""
    (_, header), *rows = read_fields(numbers)
    place = header.index("panel") if "panel" in header else None
    panels = dict.fromkeys(fields[place] for _, fields in rows) if place is not None else {}
    return len(rows), "; ".join(panels)


def find_missing(files: Sequence[Path]) -> str:
    """Return the panels that the first of some files of one pattern lacks, or has without a finite number.

    What all of them lack is not known here: numbers name only the panels that they have.
    """
    panels = [_read_panels(file) for file in files]
    known = dict.fromkeys(name for each in panels for name in each)
    return "; ".join(name for name in known if not panels[0].get(name))


def _read_panels(file: Path) -> dict[str, bool]:
    """Return the panels that a figure's numbers name, and whether each has a finite `value`."""
    numbers = file.with_suffix(".csv")
    if file.suffix in (".yaml", ".tsv") or not numbers.exists():
        return {}
    (_, header), *rows = read_fields(numbers)
    if "panel" not in header:
        return {}
    panel, value = header.index("panel"), header.index("value") if "value" in header else None
    found: dict[str, bool] = {}
    for _, fields in rows:
        is_finite = value is None or _is_finite(fields[value])
        found[fields[panel]] = found.get(fields[panel], False) or is_finite
    return found


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def draw_table(rows: Sequence[Drawn]) -> list[str]:
    """Return the lines of a table for the terminal."""
    form = "{:18} {:16} {:58} {:>6} {:>7}  {}"
    lines = [form.format("paper", "figure or table", "file", "files", "points", "panels").rstrip()]
    for row in rows:
        files = str(row.files) if row.files else "NONE"
        panels = str(len(row.panels.split("; "))) if row.panels else ""
        panels += f" (missing: {row.missing})" if row.missing else ""
        lines.append(form.format(*row[:3], files, row.points, panels).rstrip())
    return lines


def add_outcome(table: Path, name: str, drawn: Sequence[Drawn]) -> None:
    """Put what a rehearsal drew into a table under REHEARSED, in the place of an earlier one of that name."""
    columns = [column.name for column in REHEARSED]
    known = read_rows(table, REHEARSED) if table.exists() else []
    rows = [tuple(row.get(column, "") for column in columns) for row in known if row["configuration"] != name]
    write_rows(table, sorted([*rows, *((name, *each) for each in drawn)]), REHEARSED)
