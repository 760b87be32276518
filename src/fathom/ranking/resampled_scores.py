"""A table of scores made ready: signs of all pairs of models under each test, and bootstrap draws."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fathom.config.ranking import RankingSettings
from fathom.ranking.resampling import bound, draw_models, weigh_pairs
from fathom.ranking.significance import compare_unpaired, order_pairs
from fathom.ranking.table import ScoreTable
from fathom.scoring.summaries import format_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PLAIN, UNPAIRED, PAIRED = "tau", "tau_significant", "tau_paired"
"""Statistics: every difference counts; those that an unpaired or a paired test confirms."""

ALL, KINDS = "all", ("base", "chat")


@dataclass(frozen=True)
class Statistic:
    """A number of one setting: its name, then its values in the table as it is and in each resample."""

    setting: str
    name: str
    values: "Array"


@dataclass(frozen=True)
class ResampledScores:
    """A table of scores with what all statistics need of it.

    Attributes
    ----------
    table : ScoreTable
    settings : RankingSettings
    """

    table: ScoreTable
    settings: RankingSettings

    @cached_property
    def oriented(self) -> "Array":
        """Scores [settings, models, benchmarks], high is good."""
        return self.table.oriented()

    @cached_property
    def signs(self) -> dict[str, "Array"]:
        """Signs [settings, benchmarks, pairs of models] by statistic, of the tests that the table allows."""
        import numpy as np

        unpaired = compare_unpaired(
            self.oriented,
            self.table.errors,
            self.settings.ranking.significance,
        )
        found = {PLAIN: order_pairs(self.oriented), UNPAIRED: unpaired, PAIRED: self.table.paired}
        tasks = self.table.tasks
        # a test counts where it was made for every task of every setting
        return {
            name: signs
            for name, signs in found.items()
            if name == PLAIN or not np.isnan(signs[:, tasks]).all(axis=2).any()
        }

    def choose_models(self, group: str) -> "NDArray[np.bool_]":
        """Return which models belong to a group: all, a kind, or a family."""
        import numpy as np

        return np.array([group == ALL or group in (model.kind, model.family) for model in self.table.models])

    def draw(self, chosen: "NDArray[np.bool_] | None" = None) -> "Array":
        """Return how often each model is drawn, shape (1 + rounds, models)."""
        return draw_models(self.choose_models(ALL) if chosen is None else chosen, self.settings.summary)

    def weigh(self, chosen: "NDArray[np.bool_] | None" = None) -> "Array":
        """Return how often every two models stand beside each other, shape (1 + rounds, pairs)."""
        return weigh_pairs(self.draw(chosen))

    def format(self, values: "Array") -> list[str]:
        """Return a statistic and its interval as tables hold them."""
        return [format_number(number) for number in bound(values, self.settings.summary)]


def name_change(before: str, after: str) -> str:
    """Return the setting under which the change from one setting to another stands."""
    return f"{after} - {before}"


def name_transfer(before: str, after: str) -> str:
    """Return the setting under which one thing before is compared with another one after."""
    return f"{before} > {after}"


def add_changes(statistics: Sequence[Statistic], settings: Sequence[str]) -> list[Statistic]:
    """Return statistics, then the change of each from the first setting to every other, round by round."""
    by_name = {(each.setting, each.name): each.values for each in statistics}
    changes = [
        Statistic(
            name_change(settings[0], each.setting), each.name, each.values - by_name[settings[0], each.name]
        )
        for each in statistics
        if each.setting in settings[1:] and (settings[0], each.name) in by_name
    ]
    return [*statistics, *changes]


def tabulate_statistics(statistics: Iterable[Statistic], draws: ResampledScores) -> list[tuple[Any, ...]]:
    """Return the rows of agreement.csv."""
    return [(each.setting, each.name, *draws.format(each.values)) for each in statistics]
