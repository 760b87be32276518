"""How many models a comparison needs before a change of agreement is significant."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fathom.config.ranking import RankingSettings
from fathom.jobs.program import log, show_progress
from fathom.ranking.resampled_scores import name_change
from fathom.ranking.table import ScoreTable
from fathom.statistics.agreement import (
    average,
    draw_models,
    estimate_over_models,
    measure_tau,
    pick_pairs,
    weigh_pairs,
)
from fathom.statistics.bootstrap import Estimate
from fathom.statistics.significance import order_pairs
from fathom.statistics.summaries import format_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SUBSETS = 100
"""Samples that are drawn for each size, without replacement."""

ROUNDS = 200
"""Bootstrap resamples of the models of each drawn sample."""


def forecast_change(table: ScoreTable, settings: RankingSettings) -> list[tuple[Any, ...]]:
    """Return the rows of forecast.csv: how often a sample of so many models finds a significant change.

    Parameters
    ----------
    table : ScoreTable
        With two conditions or more; the change is from the first to each other one.

    Returns
    -------
    list of tuples
        Under FORECAST, by condition and size; the whole table last.
    """
    count = len(table.models)
    large = [size for size in settings.ranking.forecast if size >= count]
    if large:
        log.info("forecast: the table has %s models; no forecast for %s", count, ", ".join(map(str, large)))
    sizes = sorted({size for size in settings.ranking.forecast if size < count} | {count})
    signs = order_pairs(table.oriented())[:, table.downstream]
    rows = []
    for place, condition in enumerate(table.conditions[1:], start=1):
        for size in sizes:
            drawn = list(_draw_samples(signs[[0, place]], count, size, settings))
            samples = [sample for sample, _ in drawn]
            pairs = format_number(sum(number for _, number in drawn) / len(drawn))
            row = _describe(samples)
            rows.append((name_change(table.conditions[0], condition), size, *row, len(samples), pairs))
            log.info("%s models: %s of %s samples find a change", size, sum(s.apart for s in samples),
                     len(samples))  # fmt: skip
    return rows


def _draw_samples(
    signs: "Array", count: int, size: int, settings: RankingSettings
) -> Iterator[tuple[Estimate, int]]:
    """Yield samples of `size` of `count` models, with the number of pairs of benchmarks that count."""
    import numpy as np

    pairs = np.zeros((count, count), dtype=np.int64)
    pairs[np.triu_indices(count, 1)] = np.arange(count * (count - 1) // 2)
    summary = settings.summary.model_copy(update={"rounds": ROUNDS})
    for number in show_progress(range(SUBSETS if size < count else 1), "samples"):
        random = np.random.default_rng([settings.summary.seed, size, number])
        models = np.sort(random.choice(count, size, replace=False))
        first, second = np.triu_indices(size, 1)
        some = signs[:, :, pairs[models[first], models[second]]]
        weights = weigh_pairs(draw_models(np.ones(size, dtype=bool), summary))
        before, after = (pick_pairs(measure_tau(each, each, weights)) for each in some)
        change = after - before  # NaN, and left out, where a pair of benchmarks has no tau in either
        yield (
            estimate_over_models(average(change), size, summary.confidence, -2.0, 2.0),
            int(np.isfinite(change[0]).sum()),
        )


def _describe(samples: list[Estimate]) -> list[str]:
    """Return mean change, interval of 95 % of samples, mean width of their intervals, share significant."""
    import numpy as np

    changes = np.array([sample.value for sample in samples])
    known = changes[np.isfinite(changes)]
    low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (float("nan"),) * 2
    width = average(np.array([sample.high - sample.low for sample in samples]))
    share = sum(sample.apart for sample in samples) / len(samples)
    return [format_number(float(each)) for each in (average(changes), low, high, width, share)]
