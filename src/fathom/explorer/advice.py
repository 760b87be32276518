"""What to do next with a run: unsettled comparisons, unknown keywords, disagreeing metrics."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.explorer.run import NO_RANKING, ORDERS, SUMMARY, Benchmark, Order, Row, Run, choose_order
from fathom.io.names import show_count
from fathom.statistics.aggregates import MEAN, measure_values
from fathom.statistics.clustered_tests import measure_influence
from fathom.statistics.clusters import choose_clusters
from fathom.statistics.metrics import BITS_PER_BYTE, RANK, RIVAL_RANK
from fathom.statistics.sizing import POWERS, Variances, count_keywords, estimate_variances

Array = NDArray[np.float64]

FIRST = next(iter(ORDERS.values()))
"""The order that a page opens with, if the run has it."""

UNKNOWN_RANK = 100
"""A keyword is one that no model knows if its best rank is above this; see :func:`find_limit`."""

FEWEST_PAIRS = 3
"""Fewest pairs of a keyword to judge it."""

ERROR = 0.05
"""Chance that any two models of a benchmark are wrongly called different."""

TOO_MANY = 100_000
"""Pairs above which two models count as equal."""


class Unsettled(NamedTuple):
    """Two models that are not significantly different, and the pairs that would settle it.

    `gap`: ratio of what they are ordered by, at least 1 where the better one is ahead; of means, such as
    those of bits, the better one's less the worse one's. `pairs`: how many find a difference of this size in
    80 % of such benchmarks; None if more than TOO_MANY, or unknown from the pilot. `keywords`: those that
    these pairs belong to, or documents where there are no two keywords.
    """

    better: str
    worse: str
    gap: float
    pairs: int | None
    keywords: int | None


class UnknownKeyword(NamedTuple):
    """A keyword whose targets no model knows, with the best model and its rank, or bits."""

    keyword: str
    pairs: int
    model: str
    value: float


class Disagreement(NamedTuple):
    """Two models in opposite orders by a metric and by bits per byte.

    `bits`: bits per byte of both. `apart`: whether they are significantly different in the order. `certain`:
    whether the intervals of the bits per byte do not overlap.
    """

    by_order: str
    by_text: str
    bits: tuple[float, float]
    apart: bool
    certain: bool


def find_unsettled(
    benchmark: Benchmark, order: Order = FIRST, settings: Summary | None = None
) -> list[Unsettled]:
    """Return every two models that are not apart in an order, the cheapest to settle first.

    The difference of two models on a pair is that of the influence of its values on the statistic, so that
    its mean is the logarithm of their ratio [HuberRonchetti, Ch. 3]; of the geometric mean it is that of
    the log ranks. Of bits it is their difference, whose mean is that of the means.
    """
    values, pairs = benchmark.select_values(order.metric)
    comparisons = benchmark.rankings.get(order.name, NO_RANKING).comparisons
    if not values or not len(pairs):
        return []
    trim = (settings or Summary()).trim
    levels, moves = measure_influence(np.stack(list(values.values())), order.statistic, trim)
    effects = dict(zip(values, levels[:, None] + moves, strict=True))
    clusters = choose_clusters(pairs).names
    found = []
    for row in comparisons:
        pair = (row.better, row.worse)
        if row.apart or any(model not in effects for model in pair):
            continue
        gaps = order.metric.sign * (effects[row.better] - effects[row.worse])
        # the smallest p of all must reach this share of the error
        needed = _count_needed(gaps, clusters, 1 - ERROR / len(comparisons))
        gap = float(gaps.mean())
        found.append(Unsettled(*pair, gap if order.statistic is MEAN else math.exp(gap), *needed))
    return sorted(found, key=lambda each: (each.pairs or math.inf, each.better, each.worse))


def _count_needed(
    differences: Array, clusters: list[str], confidence: float
) -> tuple[int | None, int | None]:
    """Return pairs and clusters for a significant difference, with as many pairs a cluster as now."""
    try:
        pilot = estimate_variances(differences, clusters)
    except InputError:  # one pair, or no cluster with two: nothing to plan with
        return None, None
    return plan_size(pilot, confidence)


def plan_size(pilot: Variances, confidence: float) -> tuple[int | None, int | None]:
    """Return the pairs, or items, and the clusters that find a pilot's difference; None for TOO_MANY."""
    each = max(1, round(pilot.pairs / pilot.keywords))
    spread = pilot.between + pilot.within / each
    # eight times the variance is less than any test with this power needs
    if not pilot.difference or not spread or spread / pilot.difference**2 * 8 * each > TOO_MANY:
        return None, None
    count = count_keywords(pilot, each, pilot.difference, POWERS[0], confidence)
    return (None, None) if count * each > TOO_MANY else (count * each, count)


def find_unknown_keywords(
    benchmark: Benchmark, order: Order = FIRST, settings: Summary | None = None
) -> list[UnknownKeyword]:
    """Return keywords with enough pairs that no model knows, the least known first.

    That is those whose best rank is above the limit, or on which no model has more than 0 bits; none by
    other metrics.
    """
    values, pairs = benchmark.select_values(order.metric)
    limit = find_limit(benchmark, order, settings)
    if limit is None or not values or not len(pairs):
        return []
    models, trim, sign = list(values), (settings or Summary()).trim, order.metric.sign
    names, codes, sizes = np.unique(pairs["keyword"].to_numpy(), return_inverse=True, return_counts=True)
    groups = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
    found = []
    for name, group in zip(names.tolist(), groups, strict=True):
        # no statistic is worse than the worst value
        worst = max((sign * each[group]).min() for each in values.values())
        if len(group) < FEWEST_PAIRS or _is_known(worst, sign, limit):
            continue
        means = [sign * measure_values(each[group], order.statistic, trim) for each in values.values()]
        best = max(range(len(models)), key=means.__getitem__)
        if not _is_known(means[best], sign, limit):
            found.append(UnknownKeyword(name, len(group), models[best], sign * means[best]))
    return sorted(found, key=lambda each: (sign * each.value, each.keyword))


def find_limit(benchmark: Benchmark, order: Order, settings: Summary | None = None) -> float | None:
    """Return the value beyond which a model knows a keyword; None for a metric that has none.

    That is 0 bits; or UNKNOWN_RANK, among a few candidates what guessing gives: no rank is as high there.
    """
    if order.is_knowledge:
        return 0.0
    if order.metric.unit != RANK.unit:
        return None
    ceiling = benchmark.measure_ceiling() if order.metric is RIVAL_RANK else None
    if ceiling is None:
        return float(UNKNOWN_RANK)
    guessed = np.arange(1.0, round(2**ceiling) + 1)  # each place is equally likely
    return min(measure_values(guessed, order.statistic, (settings or Summary()).trim), float(UNKNOWN_RANK))


def count_judged(benchmark: Benchmark, order: Order) -> int:
    """Return how many keywords have enough pairs to judge them."""
    _, pairs = benchmark.select_values(order.metric)
    return int((pairs["keyword"].value_counts()["count"] >= FEWEST_PAIRS).sum())


def _is_known(signed: float, sign: int, limit: float) -> bool:
    """Return whether a value, times the sign of its metric, is a rank up to a limit, or bits above it."""
    return signed > limit if sign > 0 else signed >= -limit


def find_disagreements(
    benchmark: Benchmark, summary: Sequence[Row], order: Order = FIRST
) -> list[Disagreement]:
    """Return every two models that an order and bits per byte, rows of summary.csv, order in opposite ways.

    Those that are apart come first, then in the order of the ranking.
    """
    bits = {
        row["model"]: (row["value"], row["ci_low"], row["ci_high"])
        for row in summary
        if row["domain"] == benchmark.domain and row["metric"] == BITS_PER_BYTE.name
    }
    ranking = benchmark.rankings.get(order.name, NO_RANKING)
    apart = {(each.better, each.worse) for each in ranking.comparisons if each.apart}
    measured = [each for each in ranking.models if each.model in bits]
    found = []
    for one, other in combinations(measured, 2):
        ahead, behind = bits[one.model], bits[other.model]
        if one.value == other.value or behind[0] >= ahead[0]:
            continue
        names = (one.model, other.model)
        found.append(Disagreement(*names, (ahead[0], behind[0]), names in apart, behind[2] < ahead[1]))
    return sorted(found, key=lambda each: not each.apart)


def describe_advice(
    benchmark: Benchmark, order: Order, summary: Sequence[Row], settings: Summary
) -> dict[str, Any]:
    """Return what to do next on one benchmark by one order, as lists."""
    found: dict[str, Sequence[tuple[Any, ...]]] = {
        "unsettled": find_unsettled(benchmark, order, settings),
        "unknown": find_unknown_keywords(benchmark, order, settings),
        "disagreements": find_disagreements(benchmark, summary, order),
    }
    lists = {name: [list(each) for each in some] for name, some in found.items()}
    return {
        **lists,
        "limit": find_limit(benchmark, order, settings),
        "judged": count_judged(benchmark, order),
        "clusters": choose_clusters(benchmark.kept).kind,
    }


def advise(run: Run) -> list[str]:
    """Return what to do next in a few lines, for a terminal; nothing for a run without comparisons."""
    lines = []
    for benchmark in run.benchmarks:
        where = f"{benchmark.domain}, {benchmark.variant}"
        order = benchmark.orders[choose_order(benchmark)]
        unsettled = find_unsettled(benchmark, order)
        planned = [each for each in unsettled if each.pairs]
        if unsettled:
            text = f"{where}: {show_count(len(unsettled), 'comparison')} not settled"
            if planned:
                first = planned[0]
                text += (
                    f"; that of {first.better} and {first.worse} would take about {first.pairs:,} pairs of"
                    f" {first.keywords:,} {choose_clusters(benchmark.kept).kind}"
                )
            lines.append(f"{text}.")
        unknown = find_unknown_keywords(benchmark, order)
        if unknown:
            names = ", ".join(each.keyword for each in unknown[:3])
            more = ", ..." if len(unknown) > 3 else ""
            lines.append(
                f"{where}: {show_count(len(unknown), 'keyword')} that no model knows ({names}{more})."
            )
        manner = "knowledge" if order.is_knowledge else order.metric.label
        lines += [
            f"{where}: {each.by_order} is ahead by {manner}, {each.by_text} by bits per byte."
            for each in find_disagreements(benchmark, run.rows.get(SUMMARY, []), order)
            if each.apart
        ]
    return lines
