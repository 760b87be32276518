"""A question of each form and level, as people read it [CompComp, Fig. 5]."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.style import clean_name, make_figure, wrap_name
from fathom.io.contracts.questions import QUESTION_EXAMPLES, QUESTIONS
from fathom.io.tables import read_table
from fathom.questions.shown import count_questions, divide_kinds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _NAMES, _MARGIN = 8.6, 1.75, 0.2
_LINE, _GAP, _HEAD = 0.19, 0.16, 0.6
"""Inches: of the figure, of names of forms, at its sides; of a line, between questions, of the title."""
_LETTERS, _LINES = 66, 6
"""Letters in a line, and lines of a question or option; what is longer is cut."""


class _Line(NamedTuple):
    """A line of a question, and whether it belongs to a right answer."""

    text: str
    is_right: bool = False


class _Example(NamedTuple):
    """A question, beside its form, level and their number of questions."""

    names: list[str]
    lines: list[_Line]


def draw_examples_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the first question of each form and level of a set."""
    questions = read_table(inputs["questions"], QUESTIONS)
    return draw_examples(questions, parts["set"]), (QUESTION_EXAMPLES, list_examples(questions))


def list_examples(questions: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Return rows under QUESTION_EXAMPLES: the first question of each form and level by its id."""
    return [
        (form, level, len(some), row["question_id"], row["question"], option, is_right)
        for form, level, some in divide_kinds(questions)
        for row in some.head(1).iter_rows(named=True)
        for option, is_right in _list_options(row)
    ]


def draw_examples(questions: pl.DataFrame, title: str) -> "Figure":
    """Draw a table of questions; call it inside `use_style`."""
    examples = [_describe(*each) for each in divide_kinds(questions)]
    height = _HEAD + sum(_GAP + _LINE * len(each.lines) for each in examples)
    figure = make_figure(_WIDTH, height)
    figure.set_layout_engine("none")  # lines stand where they are put
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, _WIDTH), ylim=(height, 0))
    axes.set_axis_off()
    figure.suptitle(wrap_name(clean_name(title), 70), y=1 - 0.12 / height, va="top")
    top = _HEAD
    for each in examples:
        axes.axhline(
            top - (_LINE + _GAP) / 2, _MARGIN / _WIDTH, 1 - _MARGIN / _WIDTH, color="0.7", linewidth=0.6
        )
        for place, name in enumerate(each.names):
            axes.text(_MARGIN, top + _LINE * place, name, va="center")
        for place, line in enumerate(each.lines):
            weight = "bold" if line.is_right else "normal"
            axes.text(_MARGIN + _NAMES, top + _LINE * place, line.text, va="center", fontweight=weight)
        top += _GAP + _LINE * len(each.lines)
    return figure


def _describe(form: str, level: str, some: pl.DataFrame) -> _Example:
    row = some.row(0, named=True)
    lines = [_Line(text) for text in _wrap(row["question"], "")]
    has_letters = form not in ("binary", "open")
    for place, (option, is_right) in enumerate(_list_options(row)):
        letter = f"{chr(ord('A') + place)}. " if has_letters else ""
        texts = _wrap(f"{letter}{option}", "★ " if is_right else "    ")
        lines += [_Line(text, is_right) for text in texts]
    names = [form, level, count_questions(len(some))]
    lines += [_Line("")] * (len(names) - len(lines))
    return _Example(names, lines)


def _list_options(row: Mapping[str, Any]) -> Sequence[tuple[str, bool]]:
    """Return options and whether they are right; of an open question its answer."""
    found = list(zip(row["options"], row["right"], strict=True))
    return found or [(row["answer"], True)]


def _wrap(text: str, start: str) -> list[str]:
    return textwrap.wrap(
        clean_name(text), _LETTERS, initial_indent=start, subsequent_indent="    " if start else "",
        max_lines=_LINES, placeholder=" …",
    )  # fmt: skip
