"""How far two metrics order the models alike: Pearson, Spearman and Kendall with intervals.

The papers report Pearson's r with its p-value [RawCorpora, Sec. 4.1, App. A.5]. Ties are common among
models, so Kendall's tau is tau-b [KendallTauB]. Intervals come from a bootstrap over models.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.scoring import SUMMARY_COLUMNS
from fathom.io.files import read_delimited
from fathom.running.program import log
from fathom.scoring.comparisons import AGGREGATE
from fathom.scoring.summaries import METRICS, draw_resamples, format_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

STATISTICS = ("pearson", "spearman", "kendall")
FEWEST_POINTS, FEWEST_MODELS = 3, 4
"""Models from which there is a correlation, and from which it gets an interval."""

_CHUNK = 100  # bootstrap rounds at once: Kendall's tau holds all pairs of models of each


class Correlation(NamedTuple):
    """One statistic over models with its interval; NaN where there is none."""

    statistic: str
    value: float
    low: float
    high: float
    p: float


def correlate_series(first: "Array", second: "Array", settings: Summary) -> list[Correlation]:
    """Return Pearson's r, Spearman's rho and Kendall's tau-b of two metrics over the same models.

    Parameters
    ----------
    first, second : ndarray, shape (models,)
    settings : Summary
        Uses `rounds`, `confidence` and `seed`.

    Returns
    -------
    list of Correlation
        In the order of STATISTICS. All NaN with fewer than three models or a metric that is the same for all;
        without an interval with three, or where most resamples have no correlation. p is SciPy's, two-sided.
    """
    import numpy as np
    from scipy import stats

    nan = float("nan")
    count = len(first)
    if count < FEWEST_POINTS or np.ptp(first) == 0 or np.ptp(second) == 0:
        return [Correlation(name, nan, nan, nan, nan) for name in STATISTICS]
    tests = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    places = _draw_places(count, settings)
    tail = (1 - settings.confidence) / 2
    found = []
    for name in STATISTICS:
        result = tests[name](first, second)
        low = high = nan
        if count >= FEWEST_MODELS:
            drawn = np.concatenate(
                [
                    _MEASURES[name](first[some], second[some])
                    for some in np.array_split(places, max(1, len(places) // _CHUNK))
                ]
            )
            drawn = drawn[np.isfinite(drawn)]  # a resample of one model, again and again, has none
            if len(drawn) > len(places) / 2:
                low, high = (float(end) for end in np.quantile(drawn, [tail, 1 - tail]))
        found.append(Correlation(name, float(result.statistic), low, high, float(result.pvalue)))
    return found


def _draw_places(count: int, settings: Summary) -> "NDArray[np.int64]":
    """Draw models with replacement: their places, shape (rounds, count)."""
    import numpy as np

    counts = draw_resamples(count, settings)
    return np.repeat(np.tile(np.arange(count), len(counts)), counts.ravel()).reshape(len(counts), count)


def _measure_pearson(first: "Array", second: "Array") -> "Array":
    """Return r of each row; NaN where a row is constant, also up to rounding."""
    import numpy as np

    size = [np.abs(values).max(axis=1, keepdims=True) for values in (first, second)]
    first, second = (values - values.mean(axis=1, keepdims=True) for values in (first, second))
    constant = [
        (np.abs(values) <= 1e-12 * most).all(axis=1)
        for values, most in zip((first, second), size, strict=True)
    ]
    below = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    below[constant[0] | constant[1] | (below == 0)] = np.nan
    return np.asarray((first * second).sum(axis=1) / below)


def _measure_spearman(first: "Array", second: "Array") -> "Array":
    """Return Pearson's r of the ranks of each row."""
    from scipy.stats import rankdata

    return _measure_pearson(rankdata(first, axis=1), rankdata(second, axis=1))


def _measure_kendall(first: "Array", second: "Array") -> "Array":
    """Return tau-b of each row."""
    import numpy as np

    signs = [np.sign(values[:, :, None] - values[:, None, :]) for values in (first, second)]
    above = (signs[0] * signs[1]).sum(axis=(1, 2))
    below = np.sqrt((signs[0] ** 2).sum(axis=(1, 2)) * (signs[1] ** 2).sum(axis=(1, 2)))
    below[below == 0] = np.nan
    return np.asarray(above / below)


_MEASURES: dict[str, Callable[["Array", "Array"], "Array"]] = {
    "pearson": _measure_pearson,
    "spearman": _measure_spearman,
    "kendall": _measure_kendall,
}


def read_series(summary: Path | str) -> dict[str, dict[str, dict[str, float]]]:
    """Read what is correlated from `summary.csv`: a value for each model, by domain and name.

    Ranks and probabilities are trimmed means, named `tf rank`; of what a domain has once, whatever its
    benchmark's variant (perplexity, attribute rate), the one value there is, under the metric's name.

    Raises
    ------
    InputError
        If a column is missing or a value is no number.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for number, row in enumerate(read_delimited(summary, ","), start=2):
        missing = [column for column in SUMMARY_COLUMNS if column not in row]
        if missing:
            raise InputError(f"columns are missing: {', '.join(missing)}", str(summary), "make it again")
        ranked = row["metric"] in METRICS
        if ranked and row["aggregate"] != AGGREGATE:
            continue
        name = f"{row['variant']} {row['metric']}" if ranked else row["metric"]
        try:
            value = float(row["value"])
        except ValueError as error:
            where = f"{summary}, line {number}"
            raise InputError(f"{row['value']!r} is no number", where, "make it again") from error
        found.setdefault(row["domain"], {}).setdefault(name, {})[row["model"]] = value
    return found


def tabulate_correlations(
    domains: Mapping[str, Mapping[str, Mapping[str, float]]], settings: Summary
) -> list[tuple[Any, ...]]:
    """Return the rows of correlations.csv: every two variants and metrics of a domain, over models.

    Parameters
    ----------
    domains : mapping
        See :func:`read_series`.
    settings : Summary

    Returns
    -------
    list of tuples
        Under CORRELATION_COLUMNS; numbers are text with six significant digits, empty where there is none.
    """
    return [row for domain, series in domains.items() for row in _correlate_domain(domain, series, settings)]


def _correlate_domain(
    domain: str, series: Mapping[str, Mapping[str, float]], settings: Summary
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one domain; models that a series lacks are left out of its correlations."""
    import numpy as np

    few = False
    for x, y in combinations(series, 2):
        models = sorted(set(series[x]) & set(series[y]))
        few |= len(models) < FEWEST_MODELS
        values = [np.array([series[name][model] for model in models]) for name in (x, y)]
        for found in correlate_series(values[0], values[1], settings):
            numbers = [format_number(each) for each in (found.value, found.low, found.high, found.p)]
            yield (domain, x, y, found.statistic, *numbers, len(models))
    if few:
        log.info(
            "%s: a correlation over fewer than %s models says little, and has no interval",
            domain,
            FEWEST_MODELS,
        )
