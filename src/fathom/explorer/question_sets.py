"""What a page shows of sets of questions: scores of models, and the questions with all answers."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from fathom.config.questions import OPEN
from fathom.explorer.run import QuestionSet, Row
from fathom.questions.answer_scores import CHANCE, LEADING
from fathom.questions.shown import divide_kinds
from fathom.statistics.metrics import METRICS

NOT_ASKED = -1
"""In the place of an answer: a question that was shown to models with its answer."""


def describe_set(found: QuestionSet, scores: Sequence[Row]) -> dict[str, Any]:
    """Return the forms and levels of a set of questions, and the scores of models.

    Returns
    -------
    dict
        `kinds`: form, level, number of questions, leading metric and chance. `rows`: model, prompting, place
        of the kind, metric, value, low, high, number of questions, and of those without an answer.
    """
    kinds = list(divide_kinds(found.questions))
    places = {(form, level): place for place, (form, level, _) in enumerate(kinds)}
    own = [row for row in scores if row["set"] == found.name and not row["template"]]
    told = ("value", "ci_low", "ci_high", "questions", "unanswered")
    return {
        "id": found.name,
        "count": len(found.questions),
        "kinds": [
            [form, level, len(some), METRICS[LEADING[form]].label, CHANCE.get(form)]
            for form, level, some in kinds
        ],
        "rows": [
            [row["model"], row["prompting"], places[row["form"], row["level"]], METRICS[row["metric"]].label]
            + [row[name] for name in told]
            for row in own
            if (row["form"], row["level"]) in places
        ],
    }


def list_questions(found: QuestionSet) -> dict[str, Any]:
    """Return the questions of a set in the order of the page, and what models answered.

    Options that are right, or chosen, are bits of a number, the first option the lowest.
    """
    kinds = list(divide_kinds(found.questions))
    questions = pl.concat([each.questions for each in kinds]) if kinds else found.questions
    queries = {query: place for place, query in enumerate(sorted({*questions["query"]}))}
    return {
        "ids": questions["question_id"].to_list(),
        "kind": [place for place, each in enumerate(kinds) for _ in range(len(each.questions))],
        "questions": questions["question"].to_list(),
        "options": questions["options"].to_list(),
        "right": [_to_bits(right) for right in questions["right"].to_list()],
        "keys": questions["answer"].to_list(),
        "sources": questions["sources"].to_list(),
        "queries": list(queries),
        "query": [queries[query] for query in questions["query"]],
        "answers": [
            [model, prompting, *_list_answers(questions, answers.filter(prompting=prompting))]
            for model, answers in found.answers.items()
            for prompting in answers["prompting"].unique(maintain_order=True)
        ],
    }


def _list_answers(questions: pl.DataFrame, answers: pl.DataFrame) -> tuple[list[int], list[str]]:
    """Return what was chosen, and what was written, of each question."""
    given = dict(zip(answers["question_id"], answers.select("chosen", "text").iter_rows(), strict=True))
    some = [given.get(name) for name in questions["question_id"]]
    forms = questions["form"].to_list()
    chosen = [
        NOT_ASKED if each is None else 0 if form == OPEN else _to_bits(each[0])
        for each, form in zip(some, forms, strict=True)
    ]
    return chosen, ["" if each is None else each[1] for each in some]


def _to_bits(flags: Sequence[bool]) -> int:
    """Return flags as bits of a number."""
    return sum(1 << place for place, is_set in enumerate(flags) if is_set)
