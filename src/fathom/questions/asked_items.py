"""Questions as models are asked them: which ones, after which examples, with which records before them.

A question with eight options becomes eight questions whether one of them is right: nobody has to know how
many are.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import polars as pl

from fathom.answering.prompts import Item
from fathom.config.questions import OPEN, Evaluation, Prompting
from fathom.io.files import hash_text
from fathom.questions.posing import NO, YES

Row = dict[str, Any]

SEVERAL = "multiple-answer"
_ALONE = "\nProposed answer: {}\nIs this one of them?"
_EVERY = " Name the letters of all right answers."


RAG: Prompting = "rag"
ALL = "all"
"""The corpus of all records."""


class PromptedQuestion(NamedTuple):
    """A question in one prompting: its row, and the items that it becomes, one or one for each option.

    `corpus` names the records that those in its prompt are drawn from.
    """

    prompting: Prompting
    row: Row
    items: list[Item]
    corpus: str = ALL

    @property
    def prompt(self) -> tuple[str, str, str]:
        """What decides its prompt: questions of equal ones have one answer."""
        return self.row["question_id"], self.prompting, self.items[0].context


def divide_questions(questions: pl.DataFrame, share: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Divide questions into those that may be shown with their answers, and those that models are asked.

    Parameters
    ----------
    share : float
        Of the questions of each form and level, those that a hash puts first; at least one of two, never all.
    """
    names: set[str] = set()
    for _, some in sorted(questions.partition_by("form", "level", as_dict=True).items()):
        ordered = sorted(some["question_id"], key=lambda name: hash_text("shown", name))
        most = len(ordered) - 1
        names.update(ordered[: min(most, math.ceil(share * len(ordered)))])
    is_shown = pl.col("question_id").is_in(sorted(names))
    return questions.filter(is_shown), questions.filter(~is_shown)


def ask(
    rows: Iterable[tuple[Row, str]], shown: Sequence[Row], prompting: Prompting, settings: Evaluation
) -> list[PromptedQuestion]:
    """Return questions as they are asked.

    Each of `rows` has the records next to it as text; examples are drawn from those `shown` of the same form
    and level.
    """
    kinds: dict[tuple[str, str], list[Row]] = {}
    for row in shown:
        kinds.setdefault((row["form"], row["level"]), []).append(row)
    found = []
    for row, nearest in rows:
        items = make_items(row, settings.by)
        if prompting == "rag":
            items = [item._replace(context=nearest) for item in items]
        if prompting == "few-shot":
            others = kinds.get((row["form"], row["level"]), [])
            name = row["question_id"]
            drawn = sorted(others, key=lambda other: hash_text("shot", name, other["question_id"]))
            examples = tuple(_make_example(other, settings.by) for other in drawn[: settings.shots])
            items = [item._replace(examples=examples) for item in items]
        found.append(PromptedQuestion(prompting, row, items))
    return found


def select_own(answers: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """Return the answers to a set of questions, without those with other thresholds."""
    return answers.filter(corpus=ALL).join(questions, on="question_id", how="semi", maintain_order="left")


def make_items(row: Row, by: str = "likelihood") -> list[Item]:
    """Return the items that a question becomes, without context and examples.

    By `likelihood`, eight options are asked about one by one; by `text`, shown together.
    """
    name, text, form = row["question_id"], f"Question: {row['question']}", row["form"]
    right = tuple(place for place, is_right in enumerate(row["right"]) if is_right)
    if form == OPEN:
        return [Item(name, text, answer=row["answer"])]
    if form == "binary":
        return [Item(name, text, answer=row["answer"])]
    options = tuple(row["options"])
    if form == SEVERAL and by == "likelihood":
        return [
            Item(f"{name}.{place}", text + _ALONE.format(option), answer=YES if place in right else NO)
            for place, option in enumerate(options)
        ]
    return [Item(name, text + (_EVERY if form == SEVERAL else ""), options, right)]


def _make_example(row: Row, by: str) -> Item:
    """Return a question with its answer; of one for each option, a right one or a wrong one in turn."""
    items = make_items(row, by)
    drawn = int(hash_text("example", row["question_id"]), 16)
    wanted = [item for item in items if item.answer == (YES, NO)[drawn % 2]] if len(items) > 1 else []
    some = wanted or items
    return some[drawn // 2 % len(some)]
