"""Questions as people read them: by form and level, right options marked [CompComp, Fig. 5]."""

import textwrap
from collections.abc import Mapping
from typing import Any

import polars as pl

_ORDER = ("binary", "multiple-choice", "multiple-answer", "open")
_LEVELS = ("memorise", "understand", "apply", "create")


def show_questions(questions: pl.DataFrame, most: int, width: int) -> list[str]:
    """Return a block of lines for each form and level, with its first questions by id.

    Parameters
    ----------
    questions : polars.DataFrame
        Under QUESTIONS.
    most : int
        Questions of each form and level.
    width : int
        Characters in a line.
    """
    blocks = []
    for form in _ORDER:
        for level in _LEVELS:
            some = questions.filter(form=form, level=level).sort("question_id")
            if len(some):
                shown = [_format(row, width) for row in some.head(most).iter_rows(named=True)]
                count = f"{len(some):,} question" + ("s" if len(some) > 1 else "")
                blocks.append("\n".join([f"{form}, {level}: {count}", *shown]))
    return blocks


def _format(row: Mapping[str, Any], width: int) -> str:
    """Return a question with its options, or with its answer."""
    lines = _wrap(row["question"], width, "  ")
    if row["form"] in ("binary", "open"):
        return "\n".join([*lines, *_wrap(row["answer"], width, "    * ")])
    for place, (option, is_right) in enumerate(zip(row["options"], row["right"], strict=True)):
        lines += _wrap(f"{chr(ord('A') + place)}. {option}", width, "    * " if is_right else "      ")
    return "\n".join(lines)


def _wrap(text: str, width: int, start: str) -> list[str]:
    """Return a text in lines, the first of which begins with `start`."""
    return textwrap.wrap(text, width, initial_indent=start, subsequent_indent=" " * (len(start) + 2))
