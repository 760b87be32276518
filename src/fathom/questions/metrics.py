"""What an answer to a question is worth: accuracy, precision, recall, F1 and BLEU [CompComp, Sec. 5.1].

Each metric of a question is a numerator and a denominator, so that a metric of many questions is the sum of
the first over the sum of the second. Where the denominator is always 1, that is the mean over questions.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import polars as pl

from fathom.config.questions import OPEN
from fathom.errors import InputError
from fathom.io.contracts.questions import MEASURES
from fathom.io.tables import make_empty_table

Measure = tuple[str, float, float]
"""Name, numerator, denominator."""

METRICS = {
    "binary": ("accuracy", "precision", "recall", "f1"),
    "multiple-choice": ("accuracy",),
    "multiple-answer": ("recall", "precision", "f1", "accuracy"),
    OPEN: ("bleu_2", "bleu_4"),
}
"""Metrics by form, in the order of the paper's Table 3, then others."""
LEADING = {"binary": "accuracy", "multiple-choice": "accuracy", "multiple-answer": "f1", OPEN: "bleu_4"}
"""The metric that a figure shows of each form."""
CHANCE = {"binary": 1 / 2, "multiple-choice": 1 / 4}
"""What guessing gets by that metric, where the form alone says it."""


def measure_answers(questions: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Return the metrics of answers (ANSWERED) to questions (QUESTIONS), under MEASURES.

    Raises `InputError` if an answer belongs to no question, or has more or fewer options than its question.
    """
    wanted = ("question_id", "form", "level", "template", "options", "right", "answer")
    known = {row["question_id"]: row for row in questions.select(wanted).iter_rows(named=True)}
    rows: list[dict[str, Any]] = []
    for given in answers.iter_rows(named=True):
        name = given["question_id"]
        if name not in known or len(given["chosen"]) != len(known[name]["options"]):
            what = "other options than its question" if name in known else "no question"
            raise InputError(f"the answer to {name} has {what}", "questions and answers", "answer them again")
        asked = known[name]
        shared = {key: asked[key] for key in ("question_id", "form", "level", "template")}
        shared |= {name: given[name] for name in ("prompting", "answered")}
        for metric, above, below in measure_answer(asked, given["chosen"], given["text"]):
            rows.append({**shared, "metric": metric, "numerator": above, "denominator": below})
    return pl.DataFrame(rows, schema=make_empty_table(MEASURES).schema)


def measure_answer(asked: dict[str, Any], chosen: Sequence[bool], text: str) -> Iterator[Measure]:
    """Yield the metrics of one answer.

    Of binary questions, answers "yes" are counted, over all questions. In a question with several right
    options, the options are what is counted, and each question weighs the same: the paper's means [CompComp,
    Table 3]. With one right option of four, precision, recall and F1 would be the accuracy.
    """
    if asked["form"] == OPEN:
        for order in (2, 4):
            yield f"bleu_{order}", measure_bleu(text, asked["answer"], order), 1.0
        return
    right = asked["right"]
    exact = float(list(chosen) == list(right))
    yield "accuracy", exact, 1.0
    if asked["form"] == "binary":
        said, true = chosen[0], right[0]
        both = float(said and true)
        yield "precision", both, float(said)
        yield "recall", both, float(true)
        yield "f1", 2 * both, float(said) + float(true)
    elif asked["form"] == "multiple-answer":
        both, picked = float(sum(a and b for a, b in zip(chosen, right, strict=True))), sum(chosen)
        yield "precision", both / picked if picked else 0.0, 1.0
        yield "recall", both / sum(right), 1.0
        yield "f1", 2 * both / (picked + sum(right)), 1.0


def measure_bleu(text: str, reference: str, order: int) -> float:
    """Return the BLEU of one answer, from 0 to 1.

    sacrebleu's, with its tokenizer 13a and exponential smoothing, and no n-grams longer than the answer.
    """
    # of equal texts sacrebleu's is above 100 by a rounding error
    return min(1.0, float(_load_bleu(order).sentence_score(text, [reference]).score) / 100)


@cache
def _load_bleu(order: int) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(max_ngram_order=order, effective_order=True)
