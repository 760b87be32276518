"""Rows of tables and displayed formulas between the paragraphs of a PDF, by their layout."""

import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from fathom.corpus.documents.pdf_fonts import sets_formulas
from fathom.corpus.documents.pdf_pages import Line

_ALIGNED = 2.5
"""Most points between the edges of a column's cells."""
_CLOSE = 3.0
"""Most distance, in font sizes, between rows of a table or parts of a formula."""
_FEWEST_ROWS = 3
_LONGEST_CELL = 5
"""Largest median of words in a cell: more is prose beside a term or a number."""
_MOST_WORDS = 2
"""Most words of a displayed formula: `for all`, `otherwise`."""
_INDENT = 1.0
"""Indent of a displayed formula, in font sizes."""
_WORD = re.compile(r"(?<![\w\\])[^\W\d_]{3,}(?![\w(_])")
_RELATION = re.compile("[=<>≤≥≈≡∈⊂⊆→↦∼≅∝≠]|:=|[∑∏∫√]")
_FUNCTIONS = {
    "log", "sin", "cos", "tan", "exp", "max", "min", "mod", "deg", "det", "gcd", "lim", "sup", "inf", "dim",
    "ker", "arg", "and", "for", "rank", "where", "else", "otherwise",
}  # fmt: skip
_FULL = 5
"""Fewest words of a line that may reach the right margin."""
_BULLET = re.compile(r"\W|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]", re.IGNORECASE)


class Kind(Enum):
    """What a line is."""

    TEXT = "text"
    TABLE = "tables"
    FORMULA = "formulas"


def join_fragments(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of a page, joining those that a formula cut into pieces."""
    joined: list[Line] = []
    for line in lines:
        before = joined[-1] if joined else None
        if before is None or not _goes_on(before, line):
            joined.append(line)
            continue
        main = max(before, line, key=lambda each: len(each.text))
        blank = " " if line.left - before.right > 0.12 * main.size else ""
        joined[-1] = replace(
            main,
            text=f"{before.text.rstrip()}{blank}{line.text.lstrip()}",
            left=before.left,
            right=line.right,
            fonts=before.fonts + line.fonts,
            inner=before.inner + line.inner,
            cells=before.cells + line.cells,
            code=before.code and line.code,
        )
    return joined


def _goes_on(before: Line, line: Line) -> bool:
    """Say whether a line stands right behind another, on its level."""
    size = max(before.size, line.size)
    gap = line.left - before.right
    return abs(line.bottom - before.bottom) < 0.45 * size and -0.3 * size <= gap < 0.8 * size


def tell_kinds(lines: Sequence[Line]) -> list[Kind]:
    """Return what each line of a page is.

    Three or more successive rows with aligned cells are a table. An indented line without words, or with
    few among letters of formula fonts, is a displayed formula, and so are small lines without words beside
    one.

    Parameters
    ----------
    lines : sequence of Line
        One page, in reading order.
    """
    kinds = [Kind.TEXT] * len(lines)
    for place in _find_rows(lines):
        kinds[place] = Kind.TABLE
    left = _find_margin(lines)
    for place, line in enumerate(lines):
        if kinds[place] is Kind.TEXT and not line.code and _is_formula(line, left):
            kinds[place] = Kind.FORMULA
    for order in (range(1, len(lines)), range(len(lines) - 2, -1, -1)):
        step = order.step
        for place in order:
            beside = place - step
            if (
                kinds[beside] is Kind.FORMULA
                and kinds[place] is Kind.TEXT
                and _is_part(lines[place], lines[beside])
            ):
                kinds[place] = Kind.FORMULA
    return kinds


def _find_rows(lines: Sequence[Line]) -> list[int]:
    rows: list[int] = []
    run: list[int] = []
    for place, line in enumerate(lines):
        if run and not _is_below(lines[run[-1]], line):
            rows += run if _are_rows([lines[each] for each in run]) else []
            run = []
        if _has_cells(line):
            run.append(place)
    return rows + (run if _are_rows([lines[each] for each in run]) else [])


def _has_cells(line: Line) -> bool:
    """Say whether a line has cells; a bullet or number before an item makes none."""
    if not line.cells:
        return False
    first = re.split(r"\s", line.text.strip(), maxsplit=1)[0]
    return len(line.cells) > 1 or not _BULLET.fullmatch(first)


def _is_below(row: Line, line: Line) -> bool:
    """Say whether a line is the next row of a table: close below, with an aligned cell."""
    drop = row.bottom - line.bottom
    return -1 < drop < _CLOSE * row.size and any(
        abs(one - other) < _ALIGNED for one in row.cells for other in line.cells
    )


def _are_rows(lines: Sequence[Line]) -> bool:
    """Say whether lines with aligned cells are a table, not terms beside their definitions."""
    if len(lines) < _FEWEST_ROWS:
        return False
    if sum(len(line.cells) > 1 for line in lines) * 2 > len(lines):
        return True
    return all(
        statistics.median(len(cell.split()) for cell in cells) <= _LONGEST_CELL
        for cells in zip(*map(_cut_at_last_cell, lines), strict=True)
    )


def _cut_at_last_cell(line: Line) -> tuple[str, str]:
    """Return the text before the last cell of a line and about how much is in it, by its place."""
    width = max(line.right - line.left, 1)
    cut = round(len(line.text) * (line.cells[-1] - line.left) / width)
    return line.text[:cut], line.text[cut:]


def _find_margin(lines: Sequence[Line]) -> dict[int, float]:
    """Return where text begins at the left, for lines by where they begin: columns have their own."""
    starts = Counter(round(line.left) for line in lines if len(_WORD.findall(line.text)) > _MOST_WORDS + 2)
    common = sorted(start for start, count in starts.items() if count > 1)
    return {
        round(line.left): max((each for each in common if each <= line.left + 1), default=round(line.left))
        for line in lines
    }


def _is_formula(line: Line, margins: dict[int, float]) -> bool:
    words = [each for each in _WORD.findall(line.text) if each.lower() not in _FUNCTIONS]
    if len(words) > _MOST_WORDS or line.left - margins[round(line.left)] < _INDENT * line.size:
        return False
    set_so = sum(map(sets_formulas, line.fonts))
    relation = _RELATION.search(line.text) is not None
    if set_so:
        return relation or 2 * set_so >= len(line.fonts)
    return relation and not words


def _is_part(line: Line, formula: Line) -> bool:
    """Say whether a line without words is a limit, a numerator or a number beside a displayed formula."""
    return (
        not _WORD.search(line.text)
        and abs(line.bottom - formula.bottom) < _CLOSE * max(line.size, formula.size)
        and not line.code
    )


def measure_margins(lines: Sequence[Line]) -> dict[int, float]:
    """Return where text ends at the right, for lines by where they begin: columns have their own."""
    long = [line for line in lines if len(line.text.split()) >= _FULL]
    margins = {}
    for left in {round(line.left) for line in lines}:
        ends = [each.right for each in long if each.left - 40 <= left < each.right]
        margins[left] = statistics.quantiles(ends, n=4)[-1] if len(ends) > 1 else math.inf
    return margins
