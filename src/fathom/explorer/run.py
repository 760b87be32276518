"""Content of a run: benchmarks with ranks and rankings, rows of tables, figures."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.short_names import Titles, label_variant, shorten_names
from fathom.io import paths
from fathom.models.origins import Origins
from fathom.statistics.aggregates import MEAN, Statistic
from fathom.statistics.metrics import BITS, RANK, RANKED, Metric
from fathom.statistics.summaries import format_value

Row = dict[str, Any]

SUMMARY, COMPARISONS = paths.SUMMARY.below, paths.COMPARISONS.below
GROUPS, CORRELATIONS = paths.GROUPS.below, paths.CORRELATIONS.below
TUNING, AGREEMENT = paths.TUNING.below, paths.RANKING.of(table="agreement").below
CHOICE_ACCURACY, CHOICE_DIAGNOSIS = (paths.CHOICES.of(table=name).below for name in ("accuracy", "diagnosis"))
QUESTION_SCORES = paths.QUESTION_SCORES.below
"""Tables that the page computes with, as paths below a run's folder."""


class Named(NamedTuple):
    """What the configuration of a run names.

    `models`: those that are scored, followed or answer questions; empty: all that have tables. `benchmarks`:
    DOMAIN/VARIANT that they are scored on; empty: all that have pairs. `left_out`: optional models left out
    of the run. `titles`: what domains are called.
    """

    models: Sequence[str] = ()
    benchmarks: Sequence[str] = ()
    left_out: Sequence[str] = ()
    titles: Titles = MappingProxyType({})


WHATEVER = Named()
"""All that is in the folder, for an unknown configuration."""

NAN = float("nan")
_COMPARED = ("better", "worse", "difference", "ci_low", "ci_high", "p", "p_adjusted", "apart")


class Order(NamedTuple):
    """An order of models: a metric of pairs and its statistic."""

    metric: Metric
    statistic: Statistic

    @property
    def name(self) -> str:
        """Its name on the page and in :attr:`Benchmark.rankings`."""
        if self.metric is RANK:
            return self.statistic.name
        return self.metric.name if self.statistic is MEAN else f"{self.metric.name}.{self.statistic.name}"

    @property
    def label(self) -> str:
        """Its label, such as `trimmed mean rank`."""
        return self.metric.describe(self.statistic)

    def show(self, value: float) -> str:
        """Format a value for sentences: a rank, a share in per cent, bits, or a number."""
        return format_value(self.metric.unit, value)

    def show_differences(self, *values: float) -> list[str]:
        """Format differences; the last one of shares has its unit."""
        if not self.is_share:
            return [self.show(value) for value in values]
        *others, last = (f"{100 * value:.1f}" for value in values)
        return [*others, f"{last} points"]

    @property
    def is_knowledge(self) -> bool:
        """Whether values are knowledge in bits, which has a zero and a ceiling."""
        return self.metric is BITS

    @property
    def is_share(self) -> bool:
        """Whether values are shares, such as accuracies."""
        return self.metric.unit == "proportion"


ORDERS = {
    each.name: each
    for each in (Order(metric, statistic) for metric in RANKED for statistic in metric.compared)
}
"""All orders by name; the first one leads."""


class Ranked(NamedTuple):
    """A model of a ranking with its interval, and letters shared with models that do not differ."""

    model: str
    value: float
    low: float
    high: float
    letters: str


class Compared(NamedTuple):
    """Two models of a ranking: who is ahead, how far, and whether they are apart, all compared together.

    `p_signs` is that of the exact test of signs, for scores of items.
    """

    better: str
    worse: str
    difference: float
    low: float
    high: float
    p: float
    p_adjusted: float
    apart: bool
    p_signs: float = NAN


class Ranking(NamedTuple):
    """The models of one benchmark in one order, best first, and every two of them.

    `clusters` is what intervals draw; empty in a run of an older version. `ceiling` is the largest possible
    knowledge in bits.
    """

    models: list[Ranked]
    comparisons: list[Compared]
    clusters: str = ""
    ceiling: float | None = None


NO_RANKING = Ranking([], [])


@dataclass(frozen=True)
class Benchmark:
    """One benchmark of a run and the ranks of all models on it.

    Attributes
    ----------
    left_out : ndarray of shape (n_pairs,), bool
        Pairs that the summary leaves out because they occur in training text.
    ranks : mapping of str to ndarray of shape (n_pairs,), float64
        By model, in the order of the pairs; models by name.
    manifest : mapping
        What the benchmark was made from; empty if it is not there yet.
    rankings : mapping of str to Ranking
        By name of the order; only those that a model has.
    rivals : mapping of str to DataFrame
        Columns rival_rank, rival, bits, ceiling by model, in the order of the pairs; a model may lack them.
    vocabularies : mapping of str to int
        By model, the size of the vocabulary that ranks count among, if known.
    name : str
        Of a reference, as configured, if known.
    """

    domain: str
    variant: str
    pairs: pl.DataFrame
    left_out: NDArray[np.bool_]
    ranks: Mapping[str, NDArray[np.float64]]
    manifest: Mapping[str, Any]
    rankings: Mapping[str, Ranking] = field(default_factory=dict)
    rivals: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    vocabularies: Mapping[str, int] = field(default_factory=dict)
    name: str = ""

    @property
    def title(self) -> str:
        """Title of the domain."""
        section = self.manifest.get("parameters", {}).get("domain") or {}
        return str(section.get("title") or self.domain)

    @property
    def label(self) -> str:
        """What it is called among those of its domain: a reference has its configured name."""
        return label_variant(self.variant, {self.variant: self.name})

    @property
    def orders(self) -> Mapping[str, Order]:
        """What may put its models in an order, by name."""
        return ORDERS

    @property
    def kept(self) -> pl.DataFrame:
        """Pairs that count."""
        return self.pairs.filter(~pl.Series(self.left_out))

    def select_scores(self, model: str) -> pl.DataFrame:
        """Return pair_id, keyword, doc_id, and metrics of one model on the pairs that count."""
        others = {
            metric.name: self.rivals[model][metric.name] if model in self.rivals else pl.lit(math.nan)
            for metric in RANKED
            if metric is not RANK
        }
        frame = self.pairs.select("pair_id", "keyword", "doc_id").with_columns(
            rank=pl.Series(self.ranks[model], dtype=pl.Float64), **others
        )
        return frame.filter(~pl.Series(self.left_out))

    def measure_ceiling(self) -> float | None:
        """Return the mean ceiling of the pairs that count, the same for all models; None if unknown."""
        for each in self.rivals.values():
            ceiling = each["ceiling"].filter(~pl.Series(self.left_out)).drop_nans().mean()
            if isinstance(ceiling, float):
                return ceiling
        return None

    def select_values(self, metric: Metric) -> tuple[dict[str, NDArray[np.float64]], pl.DataFrame]:
        """Return values of the models that have a metric, on the pairs that count and all have; and these."""
        values = dict(self.ranks)
        if metric is not RANK:
            values = {name: each[metric.name].to_numpy() for name, each in self.rivals.items()}
        values = {name: each for name, each in values.items() if not np.isnan(each).all()}
        known = ~self.left_out
        for each in values.values():
            known = known & ~np.isnan(each)
        return {name: each[known] for name, each in values.items()}, self.pairs.filter(pl.Series(known))


class CoverageMap(NamedTuple):
    """How far a benchmark covers its domain: sentences and pairs on a map, and numbers."""

    domain: str
    variant: str
    table: pl.DataFrame
    numbers: Mapping[str, Any]


class QuestionSet(NamedTuple):
    """A set of questions, and the answers of each model to them, without those with other thresholds."""

    name: str
    questions: pl.DataFrame
    answers: Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class Run:
    """Content of a run.

    `benchmarks`: by domain, then variant. `rows`: rows with numbers of the tables that the page computes
    with, by path below the run's folder; without a summary those that follow from the scores. `tables`: rows
    of every CSV as text, likewise. `models`: data on each scored or measured model, by name. `computed`:
    whether the summary was computed here. `missing`: sentences on what this run lacks of a finished one.
    `titles`: what domains are called, if known.
    """

    name: str
    benchmarks: list[Benchmark]
    rows: Mapping[str, list[Row]] = field(default_factory=dict)
    tables: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    coverage: list[CoverageMap] = field(default_factory=list)
    questions: list[QuestionSet] = field(default_factory=list)
    vectors: Mapping[str, Mapping[str, NDArray[np.float64]]] = field(default_factory=dict)
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    origins: Origins = field(default_factory=lambda: Origins([], []))
    figures: list[Path] = field(default_factory=list)
    computed: bool = False
    missing: list[str] = field(default_factory=list)
    titles: Titles = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """What models are called, by name."""
        listed = [name for rows in self.rows.values() for row in rows if (name := row.get("model"))]
        ranked = [name for each in self.benchmarks for name in each.ranks]
        return shorten_names(dict.fromkeys([*ranked, *self.models, *listed]), self.titles)


def rank_models(benchmark: Benchmark, rows: Mapping[str, list[Row]]) -> dict[str, Ranking]:
    """Return the ranking of a benchmark in each order: from groups.csv, else from the summary."""
    found = {}
    for order in ORDERS.values():
        summary, groups, comparisons = (
            [
                row
                for row in rows.get(name, [])
                if (row["domain"], row["variant"]) == (benchmark.domain, benchmark.variant)
                # groups.csv of an older run has ranks alone
                and (row["metric"] or RANK.name, row["aggregate"])
                == (order.metric.name, order.statistic.name)
            ]
            for name in (SUMMARY, GROUPS, COMPARISONS)
        )
        drawn = next((row["clusters"] for row in summary), "")
        ends = {row["model"]: (row["ci_low"], row["ci_high"]) for row in summary}
        models = [
            Ranked(row["model"], row["value"], *ends.get(row["model"], (NAN, NAN)), row.get("groups", ""))
            for row in groups or summary
            if math.isfinite(row["value"])
        ]
        if not groups:
            models.sort(key=lambda each: (-order.metric.sign * each.value, each.model))
        compared = [Compared(*(row[column] for column in _COMPARED)) for row in comparisons]
        if models:
            ceiling = benchmark.measure_ceiling() if order.is_knowledge else None
            found[order.name] = Ranking(models, compared, drawn, ceiling)
    return found


def choose_order(benchmark: Benchmark) -> str:
    """Return the name of the order that a page opens with: the first one that models have, or the first."""
    return next((name for name in ORDERS if name in benchmark.rankings), next(iter(ORDERS)))
