"""Summaries of scores with intervals, and agreement of two metrics [RawCorpora, Sec. 2.6].

Pairs of one keyword are not independent, so the bootstrap draws keywords, or their replacement (see
`clusters`). It draws the same ones for all models of a benchmark, so that differences between models are
paired.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import AFTER, BEFORE
from fathom.io.names import show_count
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.statistics.aggregates import (
    COMPARED,
    GEOMETRIC_MEAN,
    MEAN,
    MEDIAN,
    STATISTICS,
    TRIMMED_MEAN,
    Resamples,
    measure_resamples,
)
from fathom.statistics.bootstrap import NOTHING, Estimate, Reach, Resampled, draw_resamples
from fathom.statistics.clusters import KEYWORDS, choose_clusters, explain_clusters
from fathom.statistics.left_out import Key
from fathom.statistics.metrics import BITS, METRICS, RANK, RIVAL_RANK, SUMMARIZED, is_measured

Array = NDArray[np.float64]


AGGREGATES = tuple(STATISTICS)
_BEYOND = 1e300  # more than any rank; unlike infinity, 0 times this is 0
_CHUNK = 64  # resamples at once: their arrays stay in the CPU's cache


def summarize_scores(scores: Mapping[Key, pl.DataFrame], settings: Summary) -> list[tuple[Any, ...]]:
    """Summarize the scores of all models on all benchmarks.

    Raise `InputError` if models of one benchmark were scored on different pairs, or a benchmark has no pairs.
    Returned: rows under SUMMARY, sorted; none of a metric that no pair has. Numbers are text with six
    significant digits. With a single pair nothing can be resampled: both ends of the interval equal the
    value.
    """
    rows: list[tuple[Any, ...]] = []
    for (domain, variant), models in divide_scores(scores):
        for model, frame in models.items():
            clusters = choose_clusters(frame)
            for metric in (each for each in SUMMARIZED if is_measured(each, settings.lead)):
                if metric not in frame.columns:
                    continue
                values, names = select_known(frame[metric].to_numpy(), clusters.names)
                tell_unknown(metric, frame, (model, domain, variant))
                if not len(values):
                    continue
                aggregates = [each.name for each in METRICS[metric].statistics]
                found = summarize_values(values, names, settings, aggregates, METRICS[metric].fitted_on)
                for aggregate in aggregates:
                    numbers = [format_number(number) for number in found[aggregate]]
                    place = (domain, variant, model, metric, aggregate)
                    rows.append((*place, *numbers, len(values), clusters.kind))
    return rows


def divide_scores(
    scores: Mapping[Key, pl.DataFrame],
) -> Iterator[tuple[tuple[str, str], dict[str, pl.DataFrame]]]:
    """Yield domain and variant of each benchmark with its scores by model, sorted by pair.

    Raise `InputError` if models of one benchmark were scored on different pairs, or it has no pairs.
    """
    for benchmark, keys in groupby(sorted(scores), key=lambda key: key[:2]):
        models = {key[2]: scores[key].sort("pair_id") for key in keys}
        check_same_pairs(models, ", ".join(benchmark))
        yield benchmark, models


def select_known(
    values: NDArray[np.float64], clusters: Sequence[str]
) -> tuple[NDArray[np.float64], list[str]]:
    """Return the existing values and their clusters, as pairs may lack a rank among rivals."""
    known = ~np.isnan(values)
    return values[known], [name for name, has in zip(clusters, known, strict=True) if has]


def tell_unknown(metric: str, scores: pl.DataFrame, where: Sequence[str]) -> None:
    """Log how many pairs have no value of a metric, if any."""
    if unknown := int(scores[metric].is_nan().sum()):
        count = f"{unknown:,} of {len(scores):,} pairs have no {METRICS[metric].label}"
        log.info("%s: %s, so they do not count for it", ", ".join(where), count)


def read_scores(
    files: Iterable[tuple[str, str, str, str]],
    pairs: Iterable[tuple[str, str, str]] = (),
    metrics: Iterable[str] = SUMMARIZED,
) -> dict[Key, pl.DataFrame]:
    """Read the columns of score tables that summaries need.

    Raise `InputError` if a model is given twice for one benchmark, a file is invalid, or scores belong to
    other pairs than those given.

    Parameters
    ----------
    files : iterable of (domain, variant, model, path)
    pairs : iterable of (domain, variant, path)
        Files of the pairs that scores belong to, the only source of documents.
    """
    scores: dict[Key, pl.DataFrame] = {}
    columns = ["pair_id", "keyword", *metrics]
    for domain, variant, model, path in files:
        if (domain, variant, model) in scores:
            raise InputError(f"duplicate scores of {model} on {domain}, {variant}", path, "give them once")
        scores[domain, variant, model] = read_table(path, SCORES, columns)
    return add_documents(scores, pairs)


def check_same_pairs(models: Mapping[str, pl.DataFrame], benchmark: str) -> None:
    """Raise `InputError` unless all models were scored on the same pairs, at least one."""
    first, *others = models
    names = models[first].select("pair_id", "keyword")
    if names.is_empty():
        raise InputError("no scores", benchmark, "the benchmark has no pairs")
    clusters = choose_clusters(models[first])
    if explained := explain_clusters(clusters.kind):
        log.info("%s: %s", benchmark, explained)
    for other in others:
        theirs = models[other].select("pair_id", "keyword")
        if not names.equals(theirs):
            differ = len(set(names["pair_id"]) ^ set(theirs["pair_id"]))
            raise InputError(
                f"{first} and {other} were scored on different pairs ({differ:,} are not shared)",
                benchmark,
                "score both models on the same pairs.parquet",
            )


def add_documents(
    scores: Mapping[Key, pl.DataFrame], files: Iterable[tuple[str, str, str]]
) -> dict[Key, pl.DataFrame]:
    """Return scores with the document of each pair, for benchmarks whose pairs are given.

    Raise `InputError` if scores belong to other pairs than the current ones of their benchmark.
    """
    found = dict(scores)
    for domain, variant, path in files:
        pairs = read_table(path, PAIRS, ["pair_id", "keyword", "doc_id"]).sort("pair_id")
        for key in (key for key in scores if key[:2] == (domain, variant)):
            theirs = scores[key].select("pair_id", "keyword").sort("pair_id")
            if not pairs.drop("doc_id").equals(theirs):
                differ = len(set(pairs["pair_id"]) ^ set(theirs["pair_id"]))
                raise InputError(
                    f"the scores of {key[2]} belong to other pairs than the benchmark's"
                    f" ({differ:,} are not shared)",
                    path,
                    "score the model again, or give the benchmark that it was scored on",
                )
            documents = pairs.select("pair_id", "doc_id")
            found[key] = scores[key].join(documents, on="pair_id", how="left", maintain_order="left")
    return found


def format_number(number: float) -> str:
    """Format a number for tables: six significant digits; NaN is empty."""
    return "" if math.isnan(number) else f"{number:.6g}"


def summarize_values(
    values: NDArray[np.float64],
    clusters: list[str],
    settings: Summary,
    aggregates: Sequence[str] = AGGREGATES,
    fitted_on: float = 0.0,
) -> dict[str, Estimate]:
    """Return aggregates of values, with intervals from a bootstrap over clusters.

    `values` (ndarray of shape (n_pairs,), float64): infinite values are unknown, and above all others.
    Returned: by name of the aggregate. A number that would be another one with other unknown values is NaN.
    """
    unknown = np.isposinf(values)
    if unknown.any():
        least = float(values[~unknown].max(initial=1.0))
        low, high = (
            summarize_values(np.where(unknown, end, values), clusters, settings, aggregates, fitted_on)
            for end in (least, _BEYOND)
        )
        return {name: _keep_known(low[name], high[name]) for name in low}
    found = resample_values(values, clusters, settings, aggregates, fitted_on)
    return {name: each.estimate(settings.confidence) for name, each in found.items()}


def _keep_known(low: Estimate, high: Estimate) -> Estimate:
    """Return an estimate from its least and its largest: NaN where they differ, all NaN if the values do."""
    if low.value != high.value:
        return NOTHING
    return Estimate(*(one if one == other else math.nan for one, other in zip(low, high, strict=True)))


def resample_values(
    values: NDArray[np.float64],
    clusters: list[str],
    settings: Summary,
    aggregates: Sequence[str] = AGGREGATES,
    fitted_on: float = 0.0,
) -> dict[str, Resampled]:
    """Return aggregates of values, and of every bootstrap resample of their clusters.

    Resample i has the same clusters for any values with these clusters, so that resamples of two models can
    be subtracted. `fitted_on`: the metric's, see :class:`fathom.statistics.metrics.Metric`: if not 0, means
    have a reach. Returned: by name of the aggregate.
    """
    _, codes = np.unique(np.array(clusters), return_inverse=True)
    reach = find_reach(values.astype(np.float64), codes, fitted_on) if fitted_on else None
    order = np.argsort(values, kind="stable")
    ordered, codes = values[order].astype(np.float64), codes[order]
    count = int(codes.max()) + 1
    counts = draw_resamples(count, settings)
    pieces = (counts[start : start + _CHUNK, codes] for start in range(0, len(counts), _CHUNK))
    copies = chain([np.ones((1, len(ordered)), dtype=np.int32)], pieces)
    parts = [measure_resamples(Resamples(ordered, each, settings.trim), aggregates) for each in copies]
    return {
        name: Resampled(
            np.concatenate([part[name] for part in parts]),
            len(values),
            max(1, count - 1),
            reach=reach if name == MEAN.name else None,
        )
        for name in aggregates
    }


def find_reach(values: Array, clusters: NDArray[np.int64], fitted_on: float) -> Reach | None:
    """Return the part of the error of a mean log-likelihood in bits that resamples of clusters miss.

    - Clusters of different sizes vary more than resamples of them: the jackknife's variance over clusters
      says how much [ClusterJackknife].
    - A few that are large, or far from the mean, say most of how much it varies. Freedom is one less than
      the number of clusters of one size that would say as much [Kish], and at most that of a
      variance with this kurtosis [Satterthwaite].
    - A number that was fitted on other values costs half a nat by value that speaks for itself, which are
      fewer than all where those of a cluster are alike [Takeuchi]. It lowers the mean, so the upper end of
      its interval lies higher.

    Measured in perf/calibration; nothing is fitted again. Returned: None where all clusters have the same
    mean, or there is one.

    Parameters
    ----------
    values : ndarray of shape (n_values,), float64
        In bits.
    clusters : ndarray of shape (n_values,), int64
        The cluster of each, numbers from 0 of which none is missing.
    fitted_on : float
        Share of the values that the fitted number of each value comes from.
    """
    count, total = int(clusters.max()) + 1, len(values)
    sizes, mean = np.bincount(clusters), values.mean()
    apart = np.bincount(clusters, values) - mean * sizes
    spread = (apart**2).sum() / total**2
    if count < 2 or math.sqrt(spread) <= 1e-12 * max(1.0, abs(mean)):
        return None
    variance, freedom = measure_variance(apart, sizes)
    alike = max(1.0, variance * total**2 / ((values - mean) ** 2).sum())
    return Reach(
        freedom=freedom,
        stretch=math.sqrt(variance / (spread * count / (count - 1))),
        cost=float(alike / (2 * math.log(2) * fitted_on * total)),
    )


def measure_variance(apart: Array, sizes: NDArray[np.int64]) -> tuple[float, float]:
    """Return the jackknife's variance of a ratio of sums over clusters, and its degrees of freedom.

    `apart` (ndarray of shape (n_clusters,), float64): how far the sum of each of at least two clusters lies
    from its size times the ratio; not all 0. `sizes` (ndarray of shape (n_clusters,), int64): what the ratio
    divides by.
    """
    count, total = len(sizes), int(sizes.sum())
    moved = apart / (total - sizes)  # the ratio without each cluster
    variance = (count - 1) / count * (moved**2).sum()
    kish = total**2 / (sizes.astype(np.float64) ** 2).sum()
    uneven = (moved**4).sum() / (moved**2).sum() ** 2 - 1 / count
    freedom = min(kish - 1, 2 / uneven if uneven > 1e-12 else math.inf)
    return float(variance), max(1.0, float(freedom))


ALL, FOUND, OTHERS = "all", "found", "others"
"""Parts of a benchmark by a set of pairs."""


def split_ranks(
    scores: Mapping[str, pl.DataFrame], flagged: pl.DataFrame, settings: Summary
) -> list[tuple[Any, ...]]:
    """Return each model's ranks on all pairs, on a set of pairs, and on the others.

    Raise `InputError` if models were scored on different pairs. Returned: rows under PAIR_PARTS by model,
    statistic and part; a part without pairs has no row.
    """
    check_same_pairs({name: frame.sort("pair_id") for name, frame in scores.items()}, "--scores")
    inside = pl.col("pair_id").is_in(flagged["pair_id"].implode())
    parts = {ALL: pl.lit(True), FOUND: inside, OTHERS: ~inside}
    return [
        row
        for model, frame in sorted(scores.items())
        for row in _summarize(model, {name: frame.filter(part) for name, part in parts.items()}, settings)
    ]


def split_by_date(
    scores: Mapping[str, pl.DataFrame], dates: pl.DataFrame, cutoffs: Mapping[str, str], settings: Summary
) -> list[tuple[Any, ...]]:
    """Return each model's ranks on pairs of documents from before and after its training ended.

    `dates`: columns pair_id and date, `YYYY-MM-DD`; pairs without one are in neither part. `cutoffs`: last
    day of each model's training text, `YYYY-MM-DD`.
    """
    known = dates.filter(pl.col("date") != "")
    rows: list[tuple[Any, ...]] = []
    for model, day in sorted(cutoffs.items()):
        dated = scores[model].join(known, on="pair_id", maintain_order="left")
        early = pl.col("date") <= day
        rows += _summarize(model, {BEFORE: dated.filter(early), AFTER: dated.filter(~early)}, settings)
    return rows


def _summarize(model: str, parts: Mapping[str, pl.DataFrame], settings: Summary) -> Iterable[tuple[Any, ...]]:
    for name, frame in parts.items():
        if frame.is_empty():
            continue
        clusters = choose_clusters(frame)
        found = summarize_values(frame["rank"].to_numpy(), clusters.names, settings)
        for statistic in COMPARED:
            numbers = (format_number(number) for number in found[statistic.name])
            yield (model, statistic.name, name, *numbers, len(frame), clusters.kind)


def format_value(unit: str, value: float, low: float = math.nan, high: float = math.nan) -> str:
    """Return a value as its unit is written, `12.3 [11.0, 13.9]`, or alone where there is no interval.

    Bits have two decimals, proportions are in per cent, what is no rank has four significant digits. From 100
    ranks have no decimals; such small differences are in groups.csv.
    """
    if math.isnan(value):
        return "unknown"
    forms = {
        "bits": "z.2f",
        "rank": ",.1f" if abs(value) < 100 else ",.0f",
        "proportion": ".1f",
    }  # z: no -0.00
    form, is_share = forms.get(unit, ".4g"), unit == "proportion"
    own, *ends = (format(100 * each if is_share else each, form) for each in (value, low, high))
    interval = f" [{', '.join(ends)}]" if math.isfinite(low) and math.isfinite(high) else ""
    return f"{own}{interval}{' %' if is_share else ''}"


def describe_ranks(scores: pl.DataFrame, pairs: pl.DataFrame) -> str:
    """Describe knowledge in bits and mean ranks of some pairs, with intervals and their clusters."""
    clusters = choose_clusters(pairs.filter(pairs["pair_id"].is_in(scores["pair_id"].implode())))
    found = summarize_values(scores["rank"].to_numpy(), clusters.names, Summary())
    unknown = int(scores["rank"].is_infinite().sum())
    parts = [_describe_bits(scores, clusters.names)]
    parts += [
        f"{statistic.label} rank {_format(found[statistic.name], len(scores))}"
        for statistic in ((TRIMMED_MEAN, MEDIAN) if unknown else COMPARED)
    ]
    parts += _describe_rivals(scores, clusters.names)
    drawn = f" (intervals over {clusters.kind})" if clusters.kind != KEYWORDS and len(scores) > 1 else ""
    missing = f", ranks of {unknown:,} beyond the server's limit" if unknown else ""
    left_out = f", {len(pairs) - len(scores):,} left out" if len(pairs) > len(scores) else ""
    return f"{', '.join(parts)}, {show_count(len(scores), 'pair')}{drawn}{missing}{left_out}"


def _describe_bits(scores: pl.DataFrame, clusters: Sequence[str]) -> str:
    if BITS.name not in scores.columns:
        return "no bits"
    known, names = select_known(scores[BITS.name].to_numpy(), clusters)
    if not len(known):
        return "no bits"
    found = summarize_values(known, names, Summary(), [MEAN.name], BITS.fitted_on)[MEAN.name]
    ends = f" [{found.low:z.2f}, {found.high:z.2f}]" if len(known) > 1 else ""
    ceilings = scores["ceiling"].to_numpy()
    most = float(ceilings[~np.isnan(ceilings)].mean())
    return f"{found.value:z.2f}{ends} bits of at most {most:.2f}"


def _describe_rivals(scores: pl.DataFrame, clusters: Sequence[str]) -> list[str]:
    """Return the geometric mean rank among rivals, if there is one, and how many pairs have none."""
    if RIVAL_RANK.name not in scores.columns:
        return [f"no {RIVAL_RANK.label}"]
    values, names = select_known(scores[RIVAL_RANK.name].to_numpy(), clusters)
    if not len(values):
        return [f"no {RIVAL_RANK.label}"]
    found = summarize_values(values, names, Summary())[GEOMETRIC_MEAN.name]
    without = (
        f" ({show_count(len(scores) - len(values), 'pair')} without)" if len(values) < len(scores) else ""
    )
    return [f"{RIVAL_RANK.describe(GEOMETRIC_MEAN)} {_format(found, len(values))}{without}"]


def _format(found: Estimate, pairs: int) -> str:
    """Return a rank with its interval; a single pair has nothing to resample."""
    return format_value(
        RANK.unit, found.value, *((math.nan, math.nan) if pairs == 1 else (found.low, found.high))
    )
