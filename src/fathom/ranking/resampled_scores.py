"""A table of scores with signs of all model pairs under each test, and bootstrap resamples."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathom.config.ranking import RankingSettings
from fathom.jobs.program import log
from fathom.ranking.table import FEWEST_BENCHMARKS, ScoreTable
from fathom.statistics.correlations import average, draw_models, estimate_over_models, weigh_pairs
from fathom.statistics.significance import compare_unpaired, order_pairs
from fathom.statistics.summaries import format_number

Array = NDArray[np.float64]

PLAIN, UNPAIRED, PAIRED = "tau", "tau_significant", "tau_paired"
"""Statistics: every difference counts; those that an unpaired or a paired test confirms."""

ALL, KINDS = "all", ("base", "chat")


@dataclass(frozen=True)
class Statistic:
    """A statistic of one condition: its values for the table itself, then for each resample.

    `parts`: (1 + n_rounds, n_benchmark_pairs): tau of the pairs of benchmarks that a mean is over; NaN where
    a pair has none.
    """

    condition: str
    name: str
    values: Array  # (1 + n_rounds,)
    parts: Array | None = None
    least: float = -1.0
    most: float = 1.0
    models: int = 0
    odds: bool = False  # whether its interval is symmetric on the scale of log-odds

    @classmethod
    def average(cls, condition: str, name: str, parts: Array) -> "Statistic":
        """Return the mean over pairs of benchmarks."""
        return cls(condition, name, average(parts), parts)

    def change_from(self, before: "Statistic") -> "Statistic":
        """Return the change from another condition; a mean's is over the pairs that have a tau in both."""
        name, limit = name_change(before.condition, self.condition), self.most - self.least
        if self.parts is None or before.parts is None:
            values = self.values - before.values
            return Statistic(name, self.name, values, least=-limit, most=limit, models=self.models)
        parts = self.parts - before.parts
        return Statistic(name, self.name, average(parts), parts, -limit, limit)

    def count_pairs(self) -> "int | str":
        """Return how many pairs of benchmarks count in the table; empty if it is no mean over pairs."""
        return "" if self.parts is None else int(np.isfinite(self.parts[0]).sum())


@dataclass(frozen=True)
class ResampledScores:
    """A table of scores, and derived data for all statistics."""

    table: ScoreTable
    settings: RankingSettings

    @cached_property
    def oriented(self) -> Array:
        """Scores of shape (n_conditions, n_models, n_benchmarks), high is good."""
        return self.table.oriented()

    @cached_property
    def signs(self) -> dict[str, Array]:
        """Signs by statistic, each of shape (n_conditions, n_benchmarks, n_model_pairs)."""
        unpaired = compare_unpaired(self.oriented, self.table.errors, self.settings.ranking.significance)
        found = {PLAIN: order_pairs(self.oriented), UNPAIRED: unpaired, PAIRED: self.table.paired}
        tested = {name: self._keep_tested(signs, name) for name, signs in found.items() if name != PLAIN}
        return {PLAIN: found[PLAIN]} | {name: signs for name, signs in tested.items() if signs is not None}

    def _keep_tested(self, signs: Array, name: str) -> Array | None:
        """Return signs of the benchmarks that were tested in every condition; None if these are too few."""
        tested = np.asarray(~np.isnan(signs).all(axis=2).any(axis=0))
        downstream = self.table.downstream
        if tested[downstream].sum() < FEWEST_BENCHMARKS:
            return None
        missing = [self.table.benchmarks[column].name for column in downstream if not tested[column]]
        if missing:
            log.info("%s: no test on %s, which are left out of this statistic", name, ", ".join(missing))
        return np.where(tested[:, None], signs, np.nan)

    def choose_models(self, group: str) -> NDArray[np.bool_]:
        """Return which models are in a group: all, a kind, or a family."""
        return np.array([group == ALL or group in (model.kind, model.family) for model in self.table.models])

    def draw_models(self, chosen: NDArray[np.bool_] | None = None) -> Array:
        """Return the number of times each model is drawn, of shape (1 + n_rounds, n_models)."""
        return draw_models(self.choose_models(ALL) if chosen is None else chosen, self.settings.summary)

    def weigh_pairs(self, chosen: NDArray[np.bool_] | None = None) -> Array:
        """Return the number of times each pair is drawn, of shape (1 + n_rounds, n_model_pairs)."""
        return weigh_pairs(self.draw_models(chosen))

    def format(self, values: Array, least: float = -1.0, most: float = 1.0) -> list[str]:
        """Return numbers over all models and their interval, which stays between its limits, as text."""
        return self.format_statistic(Statistic("", "", values, least=least, most=most))

    def format_statistic(self, statistic: Statistic) -> list[str]:
        """Return a statistic and its interval as text for tables."""
        models, confidence = statistic.models or len(self.table.models), self.settings.summary.confidence
        limits = statistic.least, statistic.most
        found = estimate_over_models(statistic.values, models, confidence, *limits, statistic.odds)
        return [format_number(number) for number in found]


def name_change(before: str, after: str) -> str:
    """Return the name in the column `condition` of a change between two conditions."""
    return f"{after} - {before}"


def name_transfer(before: str, after: str) -> str:
    """Return the name in the column `condition` of a comparison across two conditions."""
    return f"{before} > {after}"


def add_changes(statistics: Sequence[Statistic], conditions: Sequence[str]) -> list[Statistic]:
    """Return statistics and, round by round, their changes from the first condition to each other one."""
    by_name = {(each.condition, each.name): each for each in statistics}
    changes = [
        each.change_from(by_name[conditions[0], each.name])
        for each in statistics
        if each.condition in conditions[1:] and (conditions[0], each.name) in by_name
    ]
    return [*statistics, *changes]


def tabulate_statistics(statistics: Iterable[Statistic], resampled: ResampledScores) -> list[tuple[Any, ...]]:
    """Return the rows of agreement.csv."""
    return [
        (each.condition, each.name, *resampled.format_statistic(each), each.count_pairs())
        for each in statistics
    ]
