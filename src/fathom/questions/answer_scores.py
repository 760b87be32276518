"""Scores of answers with intervals, and paired differences, from a bootstrap over questions.

Answers are scored by accuracy, precision, recall, F1 or BLEU [CompComp, Sec. 5.1]. Each metric of a
question is a numerator and a denominator, so that a metric of many questions is the sum of the first over the
sum of the second. Where the denominator is always 1, that is the mean over questions. Answers are scored with
several thresholds, too: of questions by t_d, with records by t_c [CompComp, Table 4].
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.config.questions import OPEN
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.questions import MEASURES
from fathom.io.tables import make_empty_table
from fathom.questions.asked_items import ALL, RAG
from fathom.statistics.bootstrap import NOTHING, Estimate, Resampled, draw_resamples, resample_ratio
from fathom.statistics.clustered_tests import correct_family
from fathom.statistics.summaries import format_number

Values = npt.NDArray[np.float64]
Way = tuple[str, str]
"""Model and prompting."""
Cell = tuple[str, str, str, str]
"""Form, level, template (empty: all) and metric."""


class Score(NamedTuple):
    """A metric of questions: its value, NaN if 0 / 0, their sorted ids, and the number without an answer."""

    resampled: Resampled
    questions: list[str]
    unanswered: int

    def estimate(self, base: "Score | None", settings: Summary) -> Estimate:
        """Return it, or its difference from that of a base, with its interval; none for few questions."""
        shown = self.resampled - base.resampled if base else self.resampled
        found = shown.estimate(settings.confidence)
        fewest = count_fewest(settings.confidence)
        return found if len(self.questions) >= fewest else NOTHING._replace(value=found.value)


def count_fewest(confidence: float) -> int:
    """Return how many questions an interval needs: 6 for 0.95.

    Where two ways of answering are equal, each question turns out either way alike: all of n differences
    have one sign with a chance of 2 ** (1 - n), which must not exceed 1 - confidence.
    """
    return math.ceil(1 - math.log2(1 - confidence))


def score_answers(measures: pl.DataFrame, settings: Summary) -> dict[Cell, Score]:
    """Return all metrics of the answers in one way, by form and level and by template.

    Resample i has the same questions in every way of answering, so that resamples can be subtracted.
    `measures`: under MEASURES, of one model and prompting.
    """
    known: dict[int, Values] = {}
    found: dict[Cell, Score] = {}
    whole = measures.with_columns(template=pl.lit(""))
    for rows in (whole, measures):
        keys = ("form", "level", "template", "metric")
        for cell, some in sorted(rows.sort("question_id").partition_by(keys, as_dict=True).items()):
            count = len(some)
            if count not in known:
                known[count] = draw_resamples(count, settings).astype(np.float64)
            above, below = (some[name].to_numpy() for name in ("numerator", "denominator"))
            names, unanswered = some["question_id"].to_list(), int((~some["answered"]).sum())
            form, level, template, metric = map(str, cell)
            found[form, level, template, metric] = Score(
                resample_ratio(above, below, known[count]), names, unanswered
            )
    return found


def tabulate_scores(
    name: str, scores: Mapping[Way, Mapping[Cell, Score]], settings: Summary
) -> list[tuple[object, ...]]:
    """Return rows under QUESTION_SCORES; a score of few questions has no interval.

    `scores`: by way, what :func:`score_answers` returns.
    """
    rows: list[tuple[object, ...]] = []
    for way, cells in scores.items():
        for cell, score in cells.items():
            texts = map(format_number, score.estimate(None, settings))
            rows.append((name, *way, *cell, *texts, len(score.questions), score.unanswered))
    return rows


def list_comparisons(ways: Sequence[Way], bases: Mapping[str, str]) -> Iterator[tuple[Way, Way]]:
    """Yield comparisons: promptings of a model, later with earlier; a model with its base."""
    for model in dict.fromkeys(model for model, _ in ways):
        own = [way for way in ways if way[0] == model]
        for earlier, later in combinations(own, 2):
            yield later, earlier
    for model, prompting in ways:
        if (bases.get(model, ""), prompting) in ways:
            yield (model, prompting), (bases[model], prompting)


def tabulate_differences(
    name: str,
    scores: Mapping[Way, Mapping[Cell, Score]],
    comparisons: Iterable[tuple[Way, Way]],
    settings: Summary,
) -> list[tuple[object, ...]]:
    """Return rows under QUESTION_DIFFERENCES: paired, as both ways answered the same questions.

    All differences of a metric are tested together. Raise `InputError` if the two answered other questions.
    """
    found: dict[tuple[Cell, Way, Way], tuple[Score, Score]] = {}
    for one, other in comparisons:
        for cell, score in scores[one].items():
            against = scores[other].get(cell)
            if against is None or against.questions != score.questions:
                raise InputError(
                    f"{' '.join(one)} and {' '.join(other)} answered different questions",
                    f"{name}, {cell[0]}",
                    "answer the questions again",
                )
            if not cell[2]:  # single templates are too many to compare
                found[cell, one, other] = score, against
    tested = _test_differences(found, settings)
    rows: list[tuple[object, ...]] = []
    for (cell, one, other), (score, against) in found.items():
        p, adjusted = tested[cell, one, other]
        numbers = map(format_number, (*score.estimate(against, settings), p, adjusted))
        apart = "yes" if adjusted <= 1 - settings.confidence else "no"
        rows.append((name, *cell[:2], cell[3], *one, *other, *numbers, apart, len(score.questions)))
    return rows


def _test_differences(
    found: Mapping[tuple[Cell, Way, Way], tuple[Score, Score]], settings: Summary
) -> dict[tuple[Cell, Way, Way], tuple[float, float]]:
    """Return p of each difference alone, and p corrected for all of its metric; NaN for few questions."""
    tested: dict[tuple[Cell, Way, Way], tuple[float, float]] = {}
    fewest = count_fewest(settings.confidence)
    for metric in dict.fromkeys(cell[3] for cell, _, _ in found):
        some = {key: scores for key, scores in found.items() if key[0][3] == metric}
        gaps = [
            score.resampled - against.resampled if len(score.questions) >= fewest else None
            for score, against in some.values()
        ]
        tested |= zip(some, correct_family([(gap, 0.0) for gap in gaps]), strict=True)
    return tested


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
"""Score of guessing by that metric, if the form determines it."""


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
    # for equal texts sacrebleu exceeds 100 by a rounding error
    return min(1.0, float(_load_bleu(order).sentence_score(text, [reference]).score) / 100)


@cache
def _load_bleu(order: int) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(max_ngram_order=order, effective_order=True)


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
                    rows.append((name, *part[:3], model, RAG, form, level, *numbers))
    order = {GAP_PERCENTILE: 0, MAX_CORRELATION: 1}
    return sorted(rows, key=lambda row: order[str(row[1])])


def _divide_questions(varied: Varied, answers: pl.DataFrame) -> Iterator[_Part]:
    asked = varied.map.filter(kind="question")
    for (percentile,), some in sorted(asked.partition_by("gap_percentile", as_dict=True).items()):
        own = answers.filter(pl.col("question_id").is_in(some["id"].implode()), corpus=ALL)
        yield _Part(GAP_PERCENTILE, f"{percentile:g}", len(some), own)


def _divide_records(varied: Varied, answers: pl.DataFrame) -> Iterator[_Part]:
    names = answers.filter(pl.col("corpus") != ALL)["question_id"].unique().implode()
    for part in varied.corpora.partition_by("max_correlation", maintain_order=True):
        threshold = f"{part['max_correlation'][0]:g}"
        yield _Part(MAX_CORRELATION, threshold, len(part), answers.filter(corpus=threshold))
    records = varied.map.filter(kind="record")["id"].n_unique()
    own = answers.filter(pl.col("question_id").is_in(names), corpus=ALL)
    yield _Part(MAX_CORRELATION, "", records, own)
