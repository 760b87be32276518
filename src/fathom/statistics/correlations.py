"""Agreement of two metrics over models: Pearson, Spearman and Kendall correlations with intervals.

The papers report Pearson's r with its p-value [RawCorpora, Sec. 4.1, App. A.5]. Ties are common among
models, so Kendall's tau is tau-b [KendallTauB]. Intervals come from a bootstrap over models.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import scan_rows
from fathom.jobs.program import log
from fathom.statistics.bootstrap import Estimate, Resampled, draw_resamples
from fathom.statistics.clustered_tests import adjust_holm
from fathom.statistics.metrics import METRICS, SUMMARIZED
from fathom.statistics.summaries import format_number

Array = NDArray[np.float64]


STATISTICS = ("pearson", "spearman", "kendall")
MIN_MODELS, MIN_MODELS_FOR_INTERVAL = 3, 4
"""Least numbers of models for a correlation, and for its interval."""

_CHUNK = 100  # resamples at once: Kendall's tau needs all pairs of models of each in memory


class Correlation(NamedTuple):
    """A correlation coefficient over models, with interval and p-value; NaN if undefined."""

    statistic: str
    value: float
    low: float
    high: float
    p: float


def correlate(first: list[float], second: list[float]) -> tuple[float, float] | None:
    """Return Pearson's r and its p over models; None if a metric is constant or has under three."""
    from scipy.stats import pearsonr

    if len(first) != len(second):
        raise ValueError(f"different numbers of values: {len(first)} and {len(second)}")
    if len(first) < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    found = pearsonr(first, second)
    return float(found.statistic), float(found.pvalue)


def correlate_series(first: Array, second: Array, settings: Summary) -> list[Correlation]:
    """Return Pearson's r, Spearman's rho and Kendall's tau-b of two metrics over the same models.

    Returned: in the order of STATISTICS. All NaN if there are fewer than three models or a metric is
    constant; the interval is NaN with three models, or if most resamples have no correlation. p is SciPy's,
    two-sided.

    Parameters
    ----------
    first, second : ndarray of shape (n_models,), float64
    """
    from scipy import stats

    nan = float("nan")
    count = len(first)
    if count < MIN_MODELS or np.ptp(first) == 0 or np.ptp(second) == 0:
        return [Correlation(name, nan, nan, nan, nan) for name in STATISTICS]
    tests = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    places = _draw_models(count, settings)
    found = []
    for name in STATISTICS:
        result = tests[name](first, second)
        low = high = nan
        if count >= MIN_MODELS_FOR_INTERVAL:
            drawn = correlate_rows(name, first[places], second[places])  # NaN if all are the same model
            _, low, high = Resampled.join(result.statistic, drawn, count, count - 1).estimate(
                settings.confidence
            )
        found.append(Correlation(name, float(result.statistic), low, high, float(result.pvalue)))
    return found


def _draw_models(count: int, settings: Summary) -> NDArray[np.int64]:
    """Draw models with replacement; return their indices, shape (n_resamples, count)."""
    counts = draw_resamples(count, settings)
    return np.repeat(np.tile(np.arange(count), len(counts)), counts.ravel()).reshape(len(counts), count)


def _measure_pearson(first: Array, second: Array) -> Array:
    """Return r of each row; NaN where a row is constant up to rounding."""
    largest = [np.abs(values).max(axis=1, keepdims=True) for values in (first, second)]
    first, second = (values - values.mean(axis=1, keepdims=True) for values in (first, second))
    constant = [
        (np.abs(values) <= 1e-12 * limit).all(axis=1)
        for values, limit in zip((first, second), largest, strict=True)
    ]
    denominator = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    denominator[constant[0] | constant[1] | (denominator == 0)] = np.nan
    return np.asarray((first * second).sum(axis=1) / denominator)


def _measure_spearman(first: Array, second: Array) -> Array:
    from scipy.stats import rankdata

    return _measure_pearson(rankdata(first, axis=1), rankdata(second, axis=1))


def _measure_kendall(first: Array, second: Array) -> Array:
    signs = [np.sign(values[:, :, None] - values[:, None, :]) for values in (first, second)]
    numerator = (signs[0] * signs[1]).sum(axis=(1, 2))
    denominator = np.sqrt((signs[0] ** 2).sum(axis=(1, 2)) * (signs[1] ** 2).sum(axis=(1, 2)))
    denominator[denominator == 0] = np.nan
    return np.asarray(numerator / denominator)


ROW_STATISTICS: dict[str, Callable[[Array, Array], Array]] = {
    "pearson": _measure_pearson,
    "spearman": _measure_spearman,
    "kendall": _measure_kendall,
}
"""Computes a statistic of two arrays of shape (n_resamples, n_models) in each row; NaN if undefined."""


def correlate_rows(statistic: str, first: Array, second: Array) -> Array:
    """Return a statistic of each row of two arrays of shape (n_resamples, n_models); NaN if undefined."""
    pieces = max(1, len(first) // _CHUNK)
    both = zip(np.array_split(first, pieces), np.array_split(second, pieces), strict=True)
    return np.concatenate([ROW_STATISTICS[statistic](*some) for some in both])


def read_series(summary: Path | str) -> dict[str, dict[str, dict[str, float]]]:
    """Read the series to correlate from `summary.csv`: values by domain, series and model.

    A series of bits, ranks or probabilities has one statistic on one variant. The leading one is not named,
    any other is: `tf bits`, `tf rank`, `tf rank (geometric mean)`. Other metrics (perplexity, attribute rate)
    do not depend on the variant; the metric names their series. Raise `InputError` if a column is missing or
    a value is not a number.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for where, row in scan_rows(summary, SUMMARY):
        name = row["metric"]
        if name in SUMMARIZED:
            first, *others = METRICS[name].compared
            labels = {first.name: "", **{each.name: f" ({each.label})" for each in others}}
            if row["aggregate"] not in labels:
                continue
            name = f"{row['variant']} {name}{labels[row['aggregate']]}"
        if math.isnan(row["value"]):
            raise InputError("there is no value", where, "create it again")
        found.setdefault(row["domain"], {}).setdefault(name, {})[row["model"]] = row["value"]
    return found


def tabulate_correlations(
    domains: Mapping[str, Mapping[str, Mapping[str, float]]], settings: Summary
) -> list[tuple[Any, ...]]:
    """Return rows under CORRELATIONS: every two series of a domain (:func:`read_series`), over models."""
    return [row for domain, series in domains.items() for row in _correlate_domain(domain, series, settings)]


def _correlate_domain(
    domain: str, series: Mapping[str, Mapping[str, float]], settings: Summary
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one domain; each correlation covers the models that both series have."""
    made = []
    for x, y in combinations(series, 2):
        models = sorted(set(series[x]) & set(series[y]))
        values = [np.array([series[name][model] for model in models]) for name in (x, y)]
        made += [(x, y, each, len(models)) for each in correlate_series(values[0], values[1], settings)]
    adjusted = {
        name: iter(adjust_holm(np.array([each.p for _, _, each, _ in made if each.statistic == name])))
        for name in STATISTICS
    }
    for x, y, (statistic, *numbers), count in made:
        texts = map(format_number, (*numbers, float(next(adjusted[statistic]))))
        yield (domain, x, y, statistic, *texts, count)
    if any(count < MIN_MODELS_FOR_INTERVAL for *_, count in made):
        log.info(
            "%s: correlations over fewer than %s models are unreliable and have no interval",
            domain,
            MIN_MODELS_FOR_INTERVAL,
        )


_CELLS = 1_000_000  # numbers worked on at once: they stay in the processor's cache


def draw_models(chosen: NDArray[np.bool_], settings: Summary) -> Array:
    """Return how often each model is in the table (once) and each resample, (1 + n_rounds, n_models).

    `chosen` says, by model, whether to draw it.
    """
    counts = np.zeros((1 + settings.rounds, len(chosen)))
    number = int(chosen.sum())
    if number:
        counts[0, chosen] = 1
        counts[1:, chosen] = draw_resamples(number, settings)
    return counts


def weigh_pairs(counts: Array) -> Array:
    """Return the number of times each pair of models is drawn, of shape (n_rounds, n_model_pairs)."""
    first, second = np.triu_indices(counts.shape[1], 1)
    return counts[:, first] * counts[:, second]


def measure_tau(first: Array, second: Array, weights: Array) -> Array:
    """Return tau-b of each benchmark in one group with each in another.

    Parameters
    ----------
    first : ndarray of shape (m, n_model_pairs)
        Signs of the pairs of models on each benchmark, see
        :func:`fathom.statistics.significance.order_pairs`.
    second : ndarray of shape (n, n_model_pairs)
    weights : ndarray of shape (n_rounds, n_model_pairs)
        Number of times each pair counts; integers, so that sums are exact in any order.

    Returns
    -------
    ndarray of shape (n_rounds, m, n)
        NaN if a benchmark orders no pair of models that both score.
    """
    known = [(~np.isnan(signs)).astype(np.float64) for signs in (first, second)]
    values = [np.nan_to_num(signs, nan=0.0) for signs in (first, second)]
    rows = max(1, _CELLS // max(1, first.size))
    parts = []
    for start in range(0, len(weights), rows):
        some = weights[start : start + rows, None, :]
        above = (values[0] * some) @ values[1].T
        # each benchmark counts only pairs that the other one has as well
        below = ((np.abs(values[0]) * some) @ known[1].T) * ((known[0] * some) @ np.abs(values[1]).T)
        parts.append(np.divide(above, np.sqrt(below), out=np.full(above.shape, np.nan), where=below > 0))
    return np.concatenate(parts)


def pick_pairs(matrix: Array) -> Array:
    """Return the entries above the diagonal of square matrices, shape (n_rounds, n_benchmark_pairs)."""
    first, second = np.triu_indices(matrix.shape[-1], 1)
    return matrix[..., first, second]


def share_improved(before: Array, after: Array) -> Array:
    """Return each round's share of benchmark pairs whose tau is higher after than before, if both exist."""
    change = after - before
    return average(np.where(np.isnan(change), np.nan, (change > 0).astype(np.float64)))


def spread_left_out(value: Array, left_out: Array) -> Array:
    """Return numbers followed by rows whose standard deviation is the jackknife's standard error.

    Rows of two numbers from the same models can be subtracted, as resamples can. `left_out` (ndarray of shape
    (n_models, ...)): the same numbers without each of the models in turn.
    """
    moves = np.sqrt(len(left_out) - 1) * (left_out - left_out.mean(axis=0))
    return np.concatenate([value[None], value + moves])


def estimate_over_models(
    rows: Array, models: int, confidence: float, least: float, most: float, odds: bool = False
) -> Estimate:
    """Return a number with its interval over models, by Student's t.

    Copies of a model are not compared with each other, so resamples of models lie to one side of some
    numbers, and their percentiles can leave out the number itself. Their standard deviation does not.
    Returned: the interval is NaN if half of the resamples or the number itself is undefined.

    Parameters
    ----------
    rows : ndarray of shape (1 + n_rounds,)
        The number itself, then that of each resample; resamples without one are left out.
    models : int
        Models that were drawn from; t has one degree of freedom fewer.
    least, most : float
        Limits of the number, which the interval does not cross.
    odds : bool, default=False
        Whether the interval is symmetric in log-odds between the limits, as for a share.
    """
    from scipy.stats import t

    drawn = rows[1:][~np.isnan(rows[1:])]
    value = float(rows[0])
    if np.isnan(value) or 2 * len(drawn) <= len(rows) - 1 or models < 2:
        return Estimate(value, float("nan"), float("nan"))
    half = float(t.ppf((1 + confidence) / 2, models - 1) * drawn.std())
    if odds and least < value < most:
        low, high = ((value - least) / (most - value) * np.exp(side * half * (most - least)
                     / ((value - least) * (most - value))) for side in (-1, 1))  # fmt: skip
        return Estimate(value, *(least + (most - least) * float(each / (1 + each)) for each in (low, high)))
    return Estimate(value, min(value, max(least, value - half)), max(value, min(most, value + half)))


def average(values: Array) -> Array:
    """Return the mean of the finite values along the last axis; NaN if there are none."""
    known = np.isfinite(values)
    number = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0))
