"""Which models differ significantly: paired differences, and groups of indistinguishable models.

All models of a benchmark are scored on the same pairs, and every bootstrap resample has the same clusters
for all of them. A difficult resample is difficult for all models, so differences have tighter intervals than
the values themselves.

The interval of a difference holds for two models alone; which models are apart, for all together.

Models on the same text differ by Student's t over documents: resamples of few documents vary too little. The
jackknife over documents and degrees of freedom that count how few of them decide hold from five on;
perf/calibration shows it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from string import ascii_letters
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.scoring import Summary
from fathom.jobs.program import log
from fathom.statistics.aggregates import STATISTICS
from fathom.statistics.bootstrap import Estimate, Resampled
from fathom.statistics.clustered_tests import adjust_holm, compare_clustered
from fathom.statistics.clusters import choose_clusters, number_clusters
from fathom.statistics.left_out import Key
from fathom.statistics.metrics import METRICS, RANKED, SUMMARIZED, Metric, is_measured
from fathom.statistics.summaries import (
    divide_scores,
    format_number,
    measure_variance,
    resample_values,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ResampledMetric:
    """One statistic of a metric of all models on one benchmark, with its bootstrap resamples.

    `models`: statistic by model; resample i has the same clusters for all models with the same pairs.
    `tested` (ndarray of shape (n_models, n_models), float64): p of a t test of every two of them alone; NaN
    where there is none.
    """

    domain: str
    variant: str
    metric: Metric
    aggregate: str
    models: dict[str, Resampled]
    tested: Array
    clusters: str

    @property
    def order(self) -> list[str]:
        """Models, best first; ties by name."""
        sign = self.metric.sign
        return sorted(self.models, key=lambda model: (-sign * self.models[model].value, model))


@dataclass(frozen=True)
class Difference:
    """Difference between a better and a worse model on their common pairs.

    Interval and p are for the two models alone. `p_adjusted`, and whether they are apart, hold for all
    comparisons of the benchmark, metric and statistic together; NaN and False without a test.
    """

    better: str
    worse: str
    value: float
    low: float
    high: float
    p: float
    pairs: int
    p_adjusted: float = float("nan")
    apart: bool = False


def resample_scores(scores: Mapping[Key, pl.DataFrame], settings: Summary) -> list[ResampledMetric]:
    """Resample every metric of every model on every benchmark.

    Raise `InputError` if models of one benchmark were scored on different pairs, or a benchmark has no
    pair. Returned: by domain, variant, metric and statistic, the leading statistic first. Pairs without a
    value of a model (NaN) do not count for any; a model without any is left out of that metric.
    """
    found = []
    for (domain, variant), frames in divide_scores(scores):
        clusters = choose_clusters(next(iter(frames.values())))
        for metric in (each for each in SUMMARIZED if is_measured(each, settings.lead)):
            values, drawn = _select_common(frames, clusters.names, metric)
            if not values:
                continue
            names = [statistic.name for statistic in METRICS[metric].compared]
            resampled = {
                model: resample_values(each, drawn, settings, names) for model, each in values.items()
            }
            _, codes = np.unique(np.array(drawn), return_inverse=True)
            for name in names:
                models = {model: each[name] for model, each in resampled.items()}
                tested = compare_clustered(
                    np.stack(list(values.values())), codes, STATISTICS[name], settings.trim
                )
                found.append(
                    ResampledMetric(domain, variant, METRICS[metric], name, models, tested, clusters.kind)
                )
    return found


def _select_common(
    frames: Mapping[str, pl.DataFrame], clusters: Sequence[str], metric: str
) -> tuple[dict[str, Array], list[str]]:
    """Return values of the models that have a metric, on the pairs that all of these have, and clusters."""
    values = {
        model: frame[metric].cast(pl.Float64).to_numpy()
        for model, frame in frames.items()
        if metric in frame.columns
    }
    there = {model: each for model, each in values.items() if not np.isnan(each).all()}
    if not there:
        return {}, []
    known = ~np.isnan(np.stack(list(there.values()))).any(axis=0)
    names = [name for name, has in zip(clusters, known, strict=True) if has]
    return {model: each[known] for model, each in there.items()} if names else {}, names


def compare_models(resampled: ResampledMetric, settings: Summary) -> list[Difference]:
    """Return the difference of every two models, better model first, in ranking order.

    Two models are apart if p is at most 1 - confidence after Holm's correction for all comparisons here: p of
    the t test over clusters, but never below the bootstrap's p of the two models alone. Returned: values are
    not negative. With a single pair, interval and p are NaN.
    """
    lower = resampled.metric.low_is_best
    places = {model: place for place, model in enumerate(resampled.models)}
    found: list[Difference] = []
    tested: list[float] = []
    for better, worse in combinations(resampled.order, 2):
        first, second = resampled.models[better], resampled.models[worse]
        gap = second - first if lower else first - second
        value, low, high = gap.estimate(settings.confidence)
        p = gap.test()
        if first.items == 1:  # nothing to resample
            low = high = p = float("nan")
        found.append(Difference(better, worse, value, low, high, p, first.items))
        tested.append(float(resampled.tested[places[better], places[worse]]))
    adjusted = np.maximum(adjust_holm(np.array(tested)), [each.p for each in found])
    return _decide(found, adjusted, settings.confidence)


def _decide(found: Sequence[Difference], adjusted: Array, confidence: float) -> list[Difference]:
    return [
        replace(each, p_adjusted=float(p), apart=bool(p <= 1 - confidence))
        for each, p in zip(found, adjusted, strict=True)
    ]


def group_models(order: Sequence[str], differences: Iterable[Difference]) -> dict[str, str]:
    """Return the letters of each model: two models share a letter if and only if they are not apart.

    Compact letter display of Piepho (2004), by insertion and absorption: all models start in one group; every
    pair of models that is apart splits the groups that contain both; groups inside another are removed.
    Groups are lettered in the order of their best models. Returned: in the order of `order`; letters a to z,
    then A to Z, then numbers in brackets.
    """
    groups = [frozenset(order)]
    for difference in differences:
        if not difference.apart:
            continue
        both = {difference.better, difference.worse}
        split = [group - {model} for group in groups if both <= group for model in sorted(both)]
        whole = [group for group in groups if not both <= group]
        groups = _absorb([*whole, *split])
    positions = {model: index for index, model in enumerate(order)}
    groups.sort(key=lambda group: sorted(positions[model] for model in group))
    names = [ascii_letters[n] if n < len(ascii_letters) else f"({n + 1})" for n in range(len(groups))]
    return {
        model: "".join(name for name, group in zip(names, groups, strict=True) if model in group)
        for model in order
    }


def _absorb(groups: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    unique = list(dict.fromkeys(groups))
    return [group for group in unique if not any(group < other for other in unique)]


def tabulate_comparisons(
    resampled: Iterable[ResampledMetric], settings: Summary
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the rows of comparisons.csv, of all metrics, and of groups.csv, of RANKED only.

    Numbers are text with six significant digits; NaN is empty.
    """
    comparisons: list[tuple[Any, ...]] = []
    groups: list[tuple[Any, ...]] = []
    for each in resampled:
        differences = compare_models(each, settings)
        where = (each.domain, each.variant)
        for found in differences:
            numbers = [
                format_number(number)
                for number in (found.value, found.low, found.high, found.p, found.p_adjusted)
            ]
            what = (*where, each.metric.name, each.aggregate, found.better, found.worse)
            apart = "yes" if found.apart else "no"
            comparisons.append((*what, *numbers, apart, found.pairs, each.clusters))
        if each.metric not in RANKED:
            continue
        for place, (model, letters) in enumerate(group_models(each.order, differences).items(), start=1):
            value = format_number(each.models[model].value)
            ranked = (model, place, value, letters, each.models[model].items)
            groups.append((*where, each.metric.name, each.aggregate, *ranked, each.clusters))
        log.info(
            "%s, %s: %s of %s pairs of models differ significantly by %s",
            *where, sum(found.apart for found in differences), len(differences),
            each.metric.describe(STATISTICS[each.aggregate]),
        )  # fmt: skip
    return comparisons, groups


_ROUNDING = 1e-12


@dataclass(frozen=True)
class BitsPerByte:
    """Bits that models need per byte of the same text.

    `differences`: of every two models, the better one first, in the order of `order`. Intervals and p are
    those of the two alone, by one t test; `pairs` is the number of clusters.
    """

    models: dict[str, Estimate]  # bits per byte, with an interval that is NaN of a single cluster
    differences: list[Difference]
    clusters: int

    @cached_property
    def order(self) -> list[str]:
        """Models, fewest bits first; ties by name."""
        return _order(self.models)

    @cached_property
    def letters(self) -> dict[str, str]:
        """Letters of each model; those that share one do not differ significantly."""
        return group_models(self.order, self.differences)


def _order(models: Mapping[str, Estimate]) -> list[str]:
    return sorted(models, key=lambda model: (models[model].value, model))


def compare_bits_per_byte(
    bits: Mapping[str, Array], sizes: NDArray[np.int64], files: Sequence[str], confidence: float
) -> BitsPerByte:
    """Compare models by ratios of sums over documents.

    Parameters
    ----------
    sizes : ndarray of shape (n_documents,), int64
        Its bytes, more than 0.
    files : sequence of str
        Files as clusters: documents of one file together, each alone if all are of one.
    """
    codes = number_clusters(files)
    size = np.bincount(codes, sizes).astype(np.int64)
    sums = {model: np.bincount(codes, each).astype(np.float64) for model, each in bits.items()}
    models = {model: _test_ratio(each, size, confidence)[0] for model, each in sums.items()}
    models = {model: each._replace(low=np.maximum(each.low, 0.0)) for model, each in models.items()}
    found = []
    for better, worse in combinations(_order(models), 2):
        gap, p = _test_ratio(sums[worse] - sums[better], size, confidence)
        found.append(Difference(better, worse, *gap, p, len(size)))
    adjusted = adjust_holm(np.array([each.p for each in found]))
    return BitsPerByte(models, _decide(found, adjusted, confidence), len(size))


def _test_ratio(sums: Array, sizes: NDArray[np.int64], confidence: float) -> tuple[Estimate, float]:
    """Return a ratio of sums over clusters with its interval, and its two-sided p against 0."""
    from scipy.special import stdtr, stdtrit

    value = float(sums.sum() / sizes.sum())
    if len(sizes) < 2:
        return Estimate(value, float("nan"), float("nan")), float("nan")
    apart = sums - value * sizes
    if np.abs(apart).max() <= _ROUNDING * sizes.max():  # the same ratio in all clusters
        return Estimate(value, value, value), 0.0 if abs(value) > _ROUNDING else 1.0
    variance, freedom = measure_variance(apart, sizes)
    error = float(np.sqrt(variance))
    reach = float(-stdtrit(freedom, (1 - confidence) / 2)) * error
    p = float(2 * stdtr(freedom, -abs(value) / error))
    return Estimate(value, value - reach, value + reach), p
