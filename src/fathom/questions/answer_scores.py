"""Scores of answers with intervals, and paired differences, from a bootstrap over questions."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.statistics.bootstrap import NOTHING, Estimate, Resampled, draw_resamples, resample_ratio
from fathom.statistics.clustered_tests import correct_family
from fathom.statistics.summaries import format_number

Values = npt.NDArray[np.float64]
Way = tuple[str, str]
"""Model and prompting."""
Cell = tuple[str, str, str, str]
"""Form, level, template (empty: all) and metric."""


class Score(NamedTuple):
    """A metric of questions: its value, NaN where it is 0 / 0, their sorted ids, how many lack an answer."""

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

    Parameters
    ----------
    measures : polars.DataFrame
        Under MEASURES, of one model and prompting.
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
            found[_name(cell)] = Score(resample_ratio(above, below, known[count]), names, unanswered)
    return found


def tabulate_scores(
    name: str, scores: Mapping[Way, Mapping[Cell, Score]], settings: Summary
) -> list[tuple[object, ...]]:
    """Return rows under QUESTION_SCORES; a score of few questions has no interval.

    Parameters
    ----------
    scores : mapping
        By way, what :func:`score_answers` returns.
    """
    rows: list[tuple[object, ...]] = []
    for way, cells in scores.items():
        for cell, score in cells.items():
            told = map(format_number, score.estimate(None, settings))
            rows.append((name, *way, *cell, *told, len(score.questions), score.unanswered))
    return rows


def list_comparisons(ways: Sequence[Way], bases: Mapping[str, str]) -> Iterator[tuple[Way, Way]]:
    """Yield what is compared: promptings of a model, later with earlier; a model with its base."""
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

    All differences of a metric are tested together.

    Raises
    ------
    InputError
        If the two answered other questions.
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
            if not cell[2]:  # of single templates there are too many to compare
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


def _name(cell: tuple[object, ...]) -> Cell:
    form, level, template, metric = (str(each) for each in cell)
    return form, level, template, metric
