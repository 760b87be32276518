"""Scores of answers with several thresholds: of questions by t_d, with records by t_c [CompComp, Table 4]."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import polars as pl

from fathom.config.scoring import Summary
from fathom.questions.answer_scores import score_answers, tabulate_scores
from fathom.questions.asked_items import ALL, RAG
from fathom.questions.metrics import measure_answers

GAP_PERCENTILE, MAX_CORRELATION = "t_d", "t_c"
"""Names of both thresholds."""


class Varied(NamedTuple):
    """Questions of all t_d (QUESTIONS), those that each asks (QUESTION_MAP), RECORD_CORPORA by t_c."""

    questions: pl.DataFrame
    map: pl.DataFrame
    corpora: pl.DataFrame


class _Part(NamedTuple):
    """Answers with one threshold; an empty `threshold` stands for none."""

    parameter: str
    threshold: str
    size: int
    answers: pl.DataFrame


def score_thresholds(
    name: str, varied: Varied, answers: Iterable[tuple[str, pl.DataFrame]], settings: Summary
) -> list[tuple[object, ...]]:
    """Return rows under QUESTION_THRESHOLDS: first those of all t_d, then those of all t_c."""
    rows: list[tuple[object, ...]] = []
    for model, given in answers:
        retrieved = given.filter(prompting=RAG)
        for part in [*_divide_questions(varied, retrieved), *_divide_records(varied, retrieved)]:
            scores = score_answers(measure_answers(varied.questions, part.answers), settings)
            for _, _, _, form, level, template, *numbers in tabulate_scores(
                name, {(model, RAG): scores}, settings
            ):
                if not template:
                    rows.append((name, *part[:3], model, form, level, *numbers))
    order = {GAP_PERCENTILE: 0, MAX_CORRELATION: 1}
    return sorted(rows, key=lambda row: order[str(row[1])])


def _divide_questions(varied: Varied, answers: pl.DataFrame) -> Iterator[_Part]:
    """Yield the answers to the questions of each t_d."""
    asked = varied.map.filter(kind="question")
    for (percentile,), some in sorted(asked.partition_by("gap_percentile", as_dict=True).items()):
        own = answers.filter(pl.col("question_id").is_in(some["id"].implode()), corpus=ALL)
        yield _Part(GAP_PERCENTILE, f"{percentile:g}", len(some), own)


def _divide_records(varied: Varied, answers: pl.DataFrame) -> Iterator[_Part]:
    """Yield the answers with the records of each t_c, then those to the same questions with all records."""
    names = answers.filter(pl.col("corpus") != ALL)["question_id"].unique().implode()
    for part in varied.corpora.partition_by("max_correlation", maintain_order=True):
        threshold = f"{part['max_correlation'][0]:g}"
        yield _Part(MAX_CORRELATION, threshold, len(part), answers.filter(corpus=threshold))
    records = varied.map.filter(kind="record")["id"].n_unique()
    own = answers.filter(pl.col("question_id").is_in(names), corpus=ALL)
    yield _Part(MAX_CORRELATION, "", records, own)
