"""What explains a model's answers: a favourite letter, the longest option, or knowledge.

All cyclic orders of the options are taken together. Each option then has each letter once, so that a letter
chosen more often than others is chosen for itself. Long options are judged where they are wrong, and
knowledge where the right option is not the longest.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.answering.prompts import LETTERS
from fathom.answering.variations import AS_SHIPPED, ORDERS
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.answering import EVERY_SET
from fathom.statistics.bootstrap import Estimate, draw_resamples, resample_ratio
from fathom.statistics.clustered_tests import adjust_holm
from fathom.statistics.correlations import correlate_series
from fathom.statistics.summaries import format_number

Array = NDArray[np.float64]


STATISTICS = {
    "score": "right answers over all orders",
    "alike": "questions that are answered alike in all orders",
    "always_right": "questions that are answered rightly in all orders",
}
"""Statistics in orders.csv."""


@dataclass(frozen=True)
class Answers:
    """Answers of one model in one way to a set of questions, or to `all`, under CHOICE_ANSWERS."""

    model: str
    questions: str
    way: str
    table: pl.DataFrame
    settings: Summary

    @cached_property
    def variations(self) -> dict[str, pl.DataFrame]:
        """Answers by variation, each in the order of the questions."""
        parts = self.table.partition_by("variation", as_dict=True, maintain_order=True)
        return {str(name): part.sort("item_id") for (name,), part in parts.items()}

    @cached_property
    def orders(self) -> list[pl.DataFrame]:
        """Answers by cyclic order, as shipped first; none if the questions were asked in one order."""
        found = [part for part in self.variations.values() if part["factor"][0] == ORDERS]
        return [self.variations[AS_SHIPPED], *found] if found else []

    @cached_property
    def resamples(self) -> NDArray[np.int32]:
        """How often each question is drawn, of shape (n_resamples, n_questions)."""
        return draw_resamples(len(self.variations[AS_SHIPPED]), self.settings)

    def measure(
        self, values: Array, weights: Array | None = None, confidence: float | None = None
    ) -> Estimate:
        """Return the mean of values by question, or the ratio to their weights, with its interval.

        Values and weights are of shape (n_questions,), float64; NaN comes out where weights add up to 0.
        """
        weights = np.ones(len(values)) if weights is None else weights
        found = resample_ratio(values, weights, self.resamples)
        return found.estimate(confidence or self.settings.confidence)


def gather_answers(tables: Mapping[tuple[str, str], pl.DataFrame], settings: Summary) -> list[Answers]:
    """Return the answers of each model, of each set and of all sets together, in each way.

    Tables are by set and model. Raise `InputError` if two models were asked other questions of a set.
    """
    found: dict[str, dict[str, pl.DataFrame]] = {}
    asked: dict[str, tuple[str, set[str]]] = {}
    for (questions, model), table in tables.items():
        names = set(table["item_id"])
        first, others = asked.setdefault(questions, (model, names))
        if names != others:
            raise InputError(
                f"{first} and {model} were asked different questions ({len(names ^ others)} are not shared)",
                questions,
                "ask both models again",
            )
        found.setdefault(model, {})[questions] = table
    answers = []
    for model, by_set in found.items():
        sets = dict(by_set)
        if len(sets) > 1:
            parts = [
                table.with_columns(item_id=pl.lit(f"{name}/") + pl.col("item_id"))
                for name, table in sets.items()
            ]
            sets[EVERY_SET] = pl.concat(parts)
        for name, table in sets.items():
            for (way,), part in table.partition_by("way", as_dict=True, maintain_order=True).items():
                answers.append(Answers(model, name, str(way), part, settings))
    return answers


def tabulate_accuracy(answers: Sequence[Answers]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of accuracy.csv, under CHOICE_ACCURACY.

    A change is apart if its p is small enough after Holm's correction for all changes of the same questions.
    """
    asked = [(each, name, part) for each in answers for name, part in each.variations.items()]
    p, sets = np.full(len(asked), np.nan), np.array([each.questions for each, *_ in asked])
    for place, (each, name, part) in enumerate(asked):
        if name != part["baseline"][0]:
            p[place] = _test_change(part, each.variations[str(part["baseline"][0])])
    adjusted = p.copy()
    for questions in np.unique(sets):
        adjusted[sets == questions] = adjust_holm(p[sets == questions])
    for (each, name, part), *chances in zip(asked, p, adjusted, strict=True):
        yield _describe_variation(each, name, part, chances)


def _test_change(part: pl.DataFrame, baseline: pl.DataFrame) -> float:
    """Return the two-sided p of a change of accuracy, by McNemar's exact test [McNemar].

    Of the questions that are answered rightly in one variation alone, half should be so in each.
    """
    from scipy.stats import binom

    change = _right(part) - _right(baseline)
    gained, lost = int((change > 0).sum()), int((change < 0).sum())
    return min(1.0, 2 * float(binom.cdf(min(gained, lost), gained + lost, 0.5)))


def _describe_variation(
    answers: Answers, name: str, part: pl.DataFrame, chances: Sequence[float]
) -> tuple[Any, ...]:
    """Return a row of accuracy.csv; `chances`: p, alone and corrected, NaN for a baseline."""
    baseline, right = str(part["baseline"][0]), _right(part)
    changes: tuple[str, ...] = ("",) * 9
    if name != baseline:
        before = _right(answers.variations[baseline])
        change, relative = answers.measure(right - before), answers.measure(right - before, before)
        apart = "yes" if chances[1] <= 1 - answers.settings.confidence else "no"
        changes = (*_format(change), *_format(relative), *map(format_number, chances), apart)
    return (
        *(answers.model, answers.questions, answers.way, part["factor"][0], name),
        *(*_format(answers.measure(right)), baseline, *changes),
        *(len(part), int((part["chosen"] < 0).sum())),
        *(format_number(float(np.mean(part["shots"].to_numpy()))), int((part["cut"] > 0).sum())),
    )


def tabulate_orders(answers: Sequence[Answers]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of orders.csv, under CHOICE_ORDERS; none where one order was asked."""
    for each in answers:
        if not each.orders:
            continue
        right = np.array([_right(part) for part in each.orders])
        option = np.array([part["option"].to_numpy() for part in each.orders])
        values = {
            "score": right.mean(axis=0),
            "alike": ((option == option[0]) & (option >= 0)).all(axis=0).astype(np.float64),
            "always_right": right.all(axis=0).astype(np.float64),
        }
        for statistic in STATISTICS:
            estimate = each.measure(values[statistic])
            yield (each.model, each.questions, each.way, statistic, *_format(estimate), *right.shape)


def tabulate_rankings(answers: Sequence[Answers], settings: Summary) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of rankings.csv, under CHOICE_RANKINGS.

    Each variation is compared with its baseline, and all cyclic orders with each other, over the
    models that were asked in both.
    """
    places = dict.fromkeys((each.questions, each.way) for each in answers)
    for questions, way in places:
        some = [each for each in answers if (each.questions, each.way) == (questions, way)]
        for factor, first, second in _list_pairs(some):
            both = [each for each in some if {first, second} <= each.variations.keys()]
            here, there = (
                np.array([_right(each.variations[name]).mean() for each in both]) for name in (first, second)
            )
            found = correlate_series(here, there, settings)
            tau = next(each for each in found if each.statistic == "kendall")
            numbers = map(format_number, (tau.value, tau.low, tau.high, tau.p))
            yield (questions, way, factor, first, second, *numbers, len(both))


def _list_pairs(answers: Sequence[Answers]) -> list[tuple[str, str, str]]:
    found: dict[tuple[str, str, str], None] = {}
    for each in answers:
        for name, part in each.variations.items():
            if name != part["baseline"][0]:
                found[str(part["factor"][0]), str(part["baseline"][0]), name] = None
        orders = [str(part["variation"][0]) for part in each.orders[1:]]
        found |= {(ORDERS, first, second): None for first, second in combinations(orders, 2)}
    return list(found)


def _right(part: pl.DataFrame) -> Array:
    return part["is_right"].to_numpy().astype(np.float64)


def _format(estimate: Estimate) -> tuple[str, ...]:
    return tuple(map(format_number, estimate))


_ROUNDING = 1e-9  # a third is not always the same number

VERDICT = "verdict"
"""The verdict on a model, in diagnosis.csv."""

FEWEST = 10
"""Fewest questions for a finding."""

LETTER, LONGEST, KNOWLEDGE, ELSEWHERE = (
    "favourite letter",
    "longest option",
    "knowledge",
    "knowledge elsewhere",
)
"""Findings in diagnosis.csv. `longest option` is its share of wrong answers, on questions where it is wrong;
`knowledge` the share of right answers, `knowledge elsewhere` that on questions whose right option is shorter.
"""


class Finding(NamedTuple):
    """A finding.

    Attributes
    ----------
    name, detail : str
        One of the findings above, and such as the letter.
    estimate : Estimate
        Share of the answers.
    chance : float
        Share without it.
    items : int
        Questions that it rests on.
    p, p_adjusted : float
        Two-sided p of the share against chance, alone and corrected for all findings of the model; NaN with
        fewer than FEWEST questions.
    is_found : bool
        Whether the share is above chance by `p_adjusted`.
    """

    name: str
    detail: str
    estimate: Estimate
    chance: float
    items: int
    p: float
    p_adjusted: float = float("nan")
    is_found: bool = False


def diagnose(answers: Answers) -> list[Finding]:
    """Return the findings on one model in one way, all sets together; none if asked in one order."""
    if not answers.orders:
        return []
    right, chosen, option = (
        np.array([part[name].to_numpy() for part in answers.orders])
        for name in ("is_right", "chosen", "option")
    )
    first = answers.orders[0]
    longest, solution = first["longest"].to_numpy(), first["right"].to_numpy()
    count = max(first["options"].to_list())
    off = ((longest >= 0) & (longest != solution)).astype(np.float64)
    wrong = (~right.astype(bool)) & (option >= 0) & (off > 0)
    known, all_ = right.mean(axis=0), np.ones(right.shape[1])
    fallen = (wrong & (option == longest)).sum(axis=0) * 1.0
    findings = [
        _find_letter(answers, chosen, count),
        _find_share(answers, (LONGEST, "of wrong answers"), fallen, wrong.sum(axis=0) * 1.0, 1 / (count - 1)),
        _find_share(answers, (KNOWLEDGE, "over all orders"), known, all_, 1 / count),
        _find_share(answers, (ELSEWHERE, "right option not the longest"), known * off, off, 1 / count),
    ]
    adjusted = adjust_holm(np.array([each.p for each in findings])).tolist()
    error = 1 - answers.settings.confidence
    return [
        each._replace(p_adjusted=p, is_found=p <= error and each.estimate.value > each.chance)
        for each, p in zip(findings, adjusted, strict=True)
    ]


def _find_letter(answers: Answers, chosen: NDArray[np.int32], count: int) -> Finding:
    """Return the letter that is chosen most often; p and interval allow for the choice among letters."""
    shares = [(chosen == place).mean(axis=0) for place in range(count)]
    favourite = int(np.argmax([share.mean() for share in shares]))
    confidence = 1 - (1 - answers.settings.confidence) / count
    found = _find_share(
        answers, (LETTER, LETTERS[favourite]), shares[favourite], np.ones(chosen.shape[1]), 1 / count
    )
    estimate = answers.measure(shares[favourite], confidence=confidence)
    return found._replace(estimate=estimate, p=min(1.0, count * found.p))


def _find_share(
    answers: Answers, what: tuple[str, str], values: Array, weights: Array, chance: float
) -> Finding:
    """Return the share of answers, values over weights by question, with Student's t against chance."""
    from scipy.stats import t

    items, p = int((weights > 0).sum()), float("nan")
    if items >= FEWEST:
        more = (values - chance * weights)[weights > 0]
        error, mean = float(more.std(ddof=1)) / math.sqrt(items), float(more.mean())
        fixed = 0.0 if abs(mean) > _ROUNDING else 1.0
        p = float(2 * t.sf(abs(mean) / error, items - 1)) if error > _ROUNDING else fixed
    return Finding(*what, answers.measure(values, weights), chance, items, p)


def name_verdict(findings: Sequence[Finding]) -> str:
    """Summarize findings in a few words: knowledge only if the length of options does not explain it."""
    found = {each.name: each for each in findings if each.is_found}
    words = [f"favours letter {found[LETTER].detail}"] if LETTER in found else []
    words += ["favours the longest option"] if LONGEST in found else []
    words += ["knows answers"] if {KNOWLEDGE, ELSEWHERE} <= found.keys() else []
    return "; ".join(words) or "like guessing"


def tabulate_diagnosis(answers: Sequence[Answers]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of diagnosis.csv, under CHOICE_DIAGNOSIS: findings, then a verdict."""
    sets = {each.questions for each in answers}
    for each in answers:
        if each.questions != EVERY_SET and EVERY_SET in sets:
            continue
        findings = diagnose(each)
        for finding in findings:
            numbers = map(format_number, (*finding.estimate, finding.chance, finding.p, finding.p_adjusted))
            found = "yes" if finding.is_found else "no"
            yield (each.model, each.way, finding.name, finding.detail, *numbers, found, finding.items)
        if findings:
            yield (each.model, each.way, VERDICT, name_verdict(findings), *[""] * 7, findings[0].items)
