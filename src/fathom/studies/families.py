"""A base and the models adapted from it, as every metric sees them: correlations, order, gains.

Each resample draws items (keywords or documents). Correlations draw seeds, too, gains have an error of the
seeds; both are the same for all models and metrics.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fathom.config.claims import Condition
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.studies import BASE
from fathom.statistics.bootstrap import Resampled, draw_seeds
from fathom.statistics.correlations import MIN_MODELS_FOR_INTERVAL, correlate_rows
from fathom.statistics.metrics import METRICS
from fathom.studies.following import Measured, average_seeds

OWN, NEAR, FAR = "own", "near", "far"
OWN_LAST, OWN_FIRST = f"{FAR}, then {OWN}", f"{OWN}, then {FAR}"
ROLES = (BASE, OWN, NEAR, FAR, OWN_LAST, OWN_FIRST)
"""What a model was adapted to: the domain that it is measured on, or others."""
EXPECTED = {OWN: 3, NEAR: 3, OWN_LAST: 2, BASE: 1, FAR: 0}
"""The order that is expected of models [BeyondBenchmarks, Sec. 3.1.1], the best with the highest number."""

Metric = tuple[str, str, str]
"""Variant, metric, aggregate."""


class Family:
    """A base and the models adapted from it, as every metric of one domain sees them.

    Parameters
    ----------
    conditions : sequence of Condition
        The base first.

    Raises
    ------
    InputError
        If conditions have different numbers of seeds.
    """

    def __init__(
        self,
        domain: str,
        conditions: Sequence[Condition],
        near: Sequence[str],
        measured: Measured,
        settings: Summary,
    ) -> None:
        self.domain, self.conditions, self.settings = domain, list(conditions), settings
        self._near, self._measured = near, measured
        counts = {len(each.models) for each in self.conditions if each.path}
        if len(counts) != 1:
            told = ", ".join(
                f"{'+'.join(each.path)}: {len(each.models)}" for each in self.conditions if each.path
            )
            raise InputError(
                f"{self.base}: its adapted models differ in their number of seeds ({told})",
                "models.adapt",
                "give all entries with this base the same seeds",
            )
        self.seeds = counts.pop()
        self._chosen = draw_seeds(self.seeds, settings)

    @property
    def base(self) -> str:
        """The model that all others come from."""
        return self.conditions[0].models[0]

    @property
    def metrics(self) -> list[Metric]:
        """What the models of this domain were measured by."""
        return [place[1:] for place in sorted(self._measured) if place[0] == self.domain]

    def find_role(self, condition: Condition) -> str:
        """Return what a model was adapted to, of ROLES; nothing for other paths."""
        kinds = [
            OWN if name == self.domain else NEAR if name in self._near else FAR for name in condition.path
        ]
        role = ", then ".join(kinds) or BASE
        return role if role in ROLES else ""

    def find_series(self, metric: Metric) -> Mapping[str, Resampled] | None:
        """Return a metric of all models; None where it was not measured."""
        return self._measured.get((self.domain, *metric))

    def list_points(self, metric: Metric, ends: bool = False) -> Resampled | None:
        """Return a metric of all models, the base once, high where it is good; None if not measured.

        `ends`: without what has no place in the expected order, such as checkpoints.
        """
        series = self.find_series(metric)
        if series is None:
            return None
        rows = []
        for condition in self._list_ends() if ends else self.conditions:
            own = np.stack([series[name].rows for name in condition.models])
            chosen = self._chosen if condition.path else np.zeros((own.shape[1], 1), dtype=np.int64)
            rows.append(own[chosen, np.arange(own.shape[1])[:, None]])
        found = METRICS[metric[1]].sign * np.concatenate(rows, axis=1)
        return replace(series[self.base], rows=found, seeds=self.seeds)

    def _list_ends(self) -> list[Condition]:
        return [each for each in self.conditions if each.is_end and self.find_role(each) in EXPECTED]

    def correlate(self, metric: Metric, other: Metric, statistic: str = "spearman") -> Resampled | None:
        """Return how two metrics agree over models; 1 if they order them alike, whatever their direction."""
        one, two = self.list_points(metric), self.list_points(other)
        if one is None or two is None or len(self.conditions) < MIN_MODELS_FOR_INTERVAL:
            return None
        return one.combine(two, correlate_rows(statistic, one.rows, two.rows))

    def follow_order(self, metric: Metric) -> Resampled | None:
        """Return how well a metric follows the expected order of models, as Somers' D; 1 if it does for all.

        Of the pairs of models with different expected places, it is the share in that order less the share in
        the opposite one. None if a place has no model.
        """
        points, ends = self.list_points(metric, ends=True), self._list_ends()
        levels = np.array([EXPECTED[self.find_role(each)] for each in ends for _ in each.models])
        if points is None or len(np.unique(levels)) < len(set(EXPECTED.values())):
            return None
        better, worse = np.nonzero(levels[:, None] > levels[None])
        return replace(points, rows=np.sign(points.rows[:, better] - points.rows[:, worse]).mean(axis=1))

    def gain(self, metric: Metric, role: str) -> Resampled | None:
        """Return how much better models with a role are than the base, in the mean over them and over seeds.

        Ranks and perplexity by ln of the factor, others by the difference.
        """
        series = self.find_series(metric)
        same = [
            each for each in self.conditions if each.is_end and each.path and self.find_role(each) == role
        ]
        if series is None or not same:
            return None
        means = [average_seeds([series[name] for name in each.models], self.settings) for each in same]
        gains = [METRICS[metric[1]].measure_gain(mean, series[self.base]) for mean in means]
        return replace(gains[0], rows=np.mean([each.rows for each in gains], axis=0))
