"""What variations change: accuracy, its change from the baseline, and the ranking of models.

Intervals come from a bootstrap over questions. It draws the same questions for all variations:
changes are paired.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.answering.variations import AS_SHIPPED, ORDERS
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.answering import EVERY_SET
from fathom.statistics.bootstrap import Estimate, draw_resamples, resample_ratio
from fathom.statistics.clustered_tests import adjust_holm
from fathom.statistics.correlations import correlate_series
from fathom.statistics.summaries import format_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
    def resamples(self) -> "NDArray[np.int32]":
        """How often each question is drawn, of shape (n_resamples, n_questions)."""
        return draw_resamples(len(self.variations[AS_SHIPPED]), self.settings)

    def measure(
        self, values: "Array", weights: "Array | None" = None, confidence: float | None = None
    ) -> Estimate:
        """Return the mean of values by question, or the ratio to their weights, with its interval.

        Values and weights are of shape (n_questions,), float64; NaN comes out where weights add up to 0.
        """
        import numpy as np

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
    import numpy as np

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
    import numpy as np

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
        *(
            len(part),
            int((part["chosen"] < 0).sum()),
            format_number(float(np.mean(part["shots"].to_numpy()))),
        ),
        int((part["cut"] > 0).sum()),
    )


def tabulate_orders(answers: Sequence[Answers]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of orders.csv, under CHOICE_ORDERS; none where one order was asked."""
    import numpy as np

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
            yield (
                each.model,
                each.questions,
                each.way,
                statistic,
                *_format(estimate),
                len(right),
                right.shape[1],
            )


def tabulate_rankings(answers: Sequence[Answers], settings: Summary) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of rankings.csv, under CHOICE_RANKINGS.

    Each variation is compared with its baseline, and all cyclic orders with each other, over the
    models that were asked in both.
    """
    import numpy as np

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


def _right(part: pl.DataFrame) -> "Array":
    import numpy as np

    return part["is_right"].to_numpy().astype(np.float64)


def _format(estimate: Estimate) -> tuple[str, ...]:
    return tuple(map(format_number, estimate))
