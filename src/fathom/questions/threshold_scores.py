"""Scores of answers with several thresholds: of questions by t_d, with records by t_c [CompComp, Table 4]."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from fathom.config.scoring import Summary
from fathom.questions.answer_scores import score_answers, tabulate_scores
from fathom.questions.metrics import measure_answers
from fathom.questions.threshold_answers import ALL, RAG

GAP_PERCENTILE, MAX_CORRELATION = "t_d", "t_c"
"""Names of both thresholds."""


class Varied(NamedTuple):
    """A set of questions with several thresholds.

    Attributes
    ----------
    questions : polars.DataFrame
        Under QUESTIONS: those of all t_d.
    map : polars.DataFrame
        Under QUESTION_MAP: which ones each t_d asks.
    corpora : polars.DataFrame
        Under RECORD_CORPORA.
    """

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
    name: str, varied: Varied, answers: Sequence[tuple[str, pl.DataFrame, pl.DataFrame]], settings: Summary
) -> list[tuple[object, ...]]:
    """Return rows under THRESHOLD_COLUMNS: first those of all t_d, then those of all t_c.

    Parameters
    ----------
    name : str
        Name of the set.
    varied : Varied
    answers : sequence of (str, polars.DataFrame, polars.DataFrame)
        Models, each with its answers to the set under ANSWERED, and those under THRESHOLD_ANSWERED.
    settings : Summary
    """
    rows: list[tuple[object, ...]] = []
    for model, of_set, others in answers:
        own = others.filter(corpus=ALL).drop("corpus")
        known = of_set.filter(prompting=RAG)
        every = pl.concat([known, own.join(known, on="question_id", how="anti", maintain_order="left")])
        for part in [*_divide_questions(varied, every), *_divide_records(varied, known, others)]:
            scores = score_answers(measure_answers(varied.questions, part.answers), settings)
            for _, _, _, form, level, template, *numbers in tabulate_scores(
                name, {(model, RAG): scores}, settings
            ):
                if not template:
                    rows.append((name, *part[:3], model, form, level, *numbers))
    order = {GAP_PERCENTILE: 0, MAX_CORRELATION: 1}
    return sorted(rows, key=lambda row: order[str(row[1])])


def _divide_questions(varied: Varied, every: pl.DataFrame) -> Iterator[_Part]:
    """Yield the answers to the questions of each t_d."""
    asked = varied.map.filter(kind="question")
    for (percentile,), some in sorted(asked.partition_by("gap_percentile", as_dict=True).items()):
        names = some["id"].implode()
        answers = every.filter(pl.col("question_id").is_in(names))
        yield _Part(GAP_PERCENTILE, f"{percentile:g}", len(some), answers)


def _divide_records(varied: Varied, known: pl.DataFrame, others: pl.DataFrame) -> Iterator[_Part]:
    """Yield the answers with the records of each t_c, then those to the same questions with all records."""
    names = others.filter(pl.col("corpus") != ALL)["question_id"].unique().implode()
    for part in varied.corpora.partition_by("max_correlation", maintain_order=True):
        threshold = f"{part['max_correlation'][0]:g}"
        yield _Part(MAX_CORRELATION, threshold, len(part), others.filter(corpus=threshold).drop("corpus"))
    records = varied.map.filter(kind="record")["id"].n_unique()
    yield _Part(MAX_CORRELATION, "", records, known.filter(pl.col("question_id").is_in(names)))
