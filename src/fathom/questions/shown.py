"""Questions as text, by form and level, with right options marked [CompComp, Fig. 5]."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from fathom.io.names import show_count

FORMS = ("binary", "multiple-choice", "multiple-answer", "open")
LEVELS = ("memorise", "understand", "apply", "create")


class Kind(NamedTuple):
    """The questions of a form and level, by id."""

    form: str
    level: str
    questions: pl.DataFrame


def divide_kinds(questions: pl.DataFrame) -> Iterator[Kind]:
    """Yield the questions of each form and level that there are, forms and levels from easy to hard."""
    for form in FORMS:
        for level in LEVELS:
            some = questions.filter(form=form, level=level).sort("question_id")
            if len(some):
                yield Kind(form, level, some)


def show_questions(questions: pl.DataFrame, most: int, width: int) -> list[str]:
    """Return a block of lines for each form and level, with its first questions by id."""
    blocks = []
    for form, level, some in divide_kinds(questions):
        shown = [_format(row, width) for row in some.head(most).iter_rows(named=True)]
        blocks.append("\n".join([f"{form}, {level}: {show_count(len(some), 'question')}", *shown]))
    return blocks


def _format(row: Mapping[str, Any], width: int) -> str:
    lines = _wrap(row["question"], width, "  ")
    if row["form"] in ("binary", "open"):
        return "\n".join([*lines, *_wrap(row["answer"], width, "    * ")])
    for place, (option, is_right) in enumerate(zip(row["options"], row["right"], strict=True)):
        lines += _wrap(f"{chr(ord('A') + place)}. {option}", width, "    * " if is_right else "      ")
    return "\n".join(lines)


def _wrap(text: str, width: int, start: str) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=start, subsequent_indent=" " * (len(start) + 2))
