"""Summaries of scores with intervals, and agreement of two metrics [RawCorpora, Sec. 2.6].

Pairs of one keyword are not independent, so the bootstrap draws keywords. It draws the same keywords for all
models of a benchmark, so that differences between models are paired.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.statistics.aggregates import STATISTICS, Resamples, measure_resamples
from fathom.statistics.bootstrap import Estimate, Resampled, draw_resamples
from fathom.statistics.clusters import choose_clusters
from fathom.statistics.metrics import SUMMARIZED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AGGREGATES = tuple(STATISTICS)
_CHUNK = 64  # resamples at once: their arrays stay in the CPU's cache


Key = tuple[str, str, str]
"""Domain, variant, model."""


def summarize_scores(scores: Mapping[Key, pl.DataFrame], settings: Summary) -> list[tuple[Any, ...]]:
    """Summarize the scores of all models on all benchmarks.

    Parameters
    ----------
    scores : mapping of (domain, variant, model) to DataFrame
        Columns pair_id, keyword, rank, probability of contract SCORES.
    settings : Summary

    Returns
    -------
    list of tuples
        Rows under SUMMARY, sorted; numbers are text with six significant digits. With a single
        keyword nothing can be resampled: both ends of the interval equal the value.

    Raises
    ------
    InputError
        If models of one benchmark were scored on different pairs, or a benchmark has no pairs.
    """
    rows: list[tuple[Any, ...]] = []
    for domain, variant in sorted({key[:2] for key in scores}):
        models = {
            key[2]: scores[key].sort("pair_id") for key in sorted(scores) if key[:2] == (domain, variant)
        }
        check_same_pairs(models, f"{domain}, {variant}")
        for model, frame in models.items():
            clusters = choose_clusters(frame)
            for metric in SUMMARIZED:
                found = summarize_values(frame[metric].to_numpy(), clusters, settings)
                for aggregate in AGGREGATES:
                    numbers = [format_number(number) for number in found[aggregate]]
                    rows.append((domain, variant, model, metric, aggregate, *numbers, len(frame)))
    return rows


def read_scores(files: Iterable[tuple[str, str, str, str]]) -> dict[Key, pl.DataFrame]:
    """Read the columns of score tables that summaries need.

    Parameters
    ----------
    files : iterable of (domain, variant, model, path)

    Raises
    ------
    InputError
        If a model is given twice for one benchmark, or a file is not a score table.
    """
    scores: dict[Key, pl.DataFrame] = {}
    columns = ["pair_id", "keyword", *reversed(SUMMARIZED)]
    for domain, variant, model, path in files:
        if (domain, variant, model) in scores:
            raise InputError(f"duplicate scores of {model} on {domain}, {variant}", path, "give them once")
        scores[domain, variant, model] = read_table(path, SCORES, columns)
    return scores


def check_same_pairs(models: Mapping[str, pl.DataFrame], benchmark: str) -> None:
    """Raise `InputError` unless all models were scored on the same pairs, at least one."""
    first, *others = models
    names = models[first].select("pair_id", "keyword")
    if names.is_empty():
        raise InputError("no scores", benchmark, "the benchmark has no pairs")
    if names["keyword"].n_unique() == 1:
        log.info("%s has no two keywords: its intervals draw pairs", benchmark)
    for other in others:
        theirs = models[other].select("pair_id", "keyword")
        if not names.equals(theirs):
            differ = len(set(names["pair_id"]) ^ set(theirs["pair_id"]))
            raise InputError(
                f"{first} and {other} were scored on different pairs ({differ:,} are not shared)",
                benchmark,
                "score both models on the same pairs.parquet",
            )


def check_benchmarks(scores: Mapping[Key, pl.DataFrame], files: Iterable[tuple[str, str, str]]) -> None:
    """Raise `InputError` unless scores belong to the current pairs of their benchmarks.

    Parameters
    ----------
    scores : mapping of (domain, variant, model) to DataFrame
        See :func:`read_scores`.
    files : iterable of (domain, variant, path)
        Paths of pairs.parquet.
    """
    for domain, variant, path in files:
        names = read_table(path, PAIRS, ["pair_id", "keyword"]).sort("pair_id")
        for key, frame in scores.items():
            theirs = frame.select("pair_id", "keyword").sort("pair_id")
            if key[:2] == (domain, variant) and not names.equals(theirs):
                differ = len(set(names["pair_id"]) ^ set(theirs["pair_id"]))
                raise InputError(
                    f"the scores of {key[2]} belong to other pairs than the benchmark's"
                    f" ({differ:,} are not shared)",
                    path,
                    "score the model again, or give the benchmark that it was scored on",
                )


def format_number(number: float) -> str:
    """Format a number for tables: six significant digits; NaN is empty."""
    return "" if math.isnan(number) else f"{number:.6g}"


def summarize_values(
    values: "NDArray[np.float64]", keywords: list[str], settings: Summary
) -> dict[str, Estimate]:
    """Return aggregates of values, with intervals from a bootstrap over keywords.

    Parameters
    ----------
    values : ndarray of shape (n_pairs,), float64
    keywords : list of str
        The keyword of each value.
    settings : Summary

    Returns
    -------
    dict of str to Estimate
        By name of the aggregate.
    """
    found = resample_values(values, keywords, settings)
    return {name: each.estimate(settings.confidence) for name, each in found.items()}


def resample_values(
    values: "NDArray[np.float64]",
    keywords: list[str],
    settings: Summary,
    aggregates: Sequence[str] = AGGREGATES,
) -> dict[str, Resampled]:
    """Return aggregates of values, and of every bootstrap resample of their keywords.

    Resample i has the same keywords for any values with these keywords, so that resamples of two models can
    be subtracted.

    Parameters
    ----------
    values : ndarray of shape (n_pairs,), float64
    keywords : list of str
        The keyword of each value.
    settings : Summary
    aggregates : sequence of str
        Which ones to compute.

    Returns
    -------
    dict of str to Resampled
        By name of the aggregate.
    """
    import numpy as np

    _, codes = np.unique(np.array(keywords), return_inverse=True)
    order = np.argsort(values, kind="stable")
    ordered, codes = values[order].astype(np.float64), codes[order]
    once = np.ones((1, len(ordered)), dtype=np.int32)
    sample = measure_resamples(Resamples(ordered, once, settings.trim), aggregates)
    clusters = int(codes.max()) + 1
    counts = draw_resamples(clusters, settings)
    parts = [
        measure_resamples(
            Resamples(ordered, counts[start : start + _CHUNK, codes], settings.trim), aggregates
        )
        for start in range(0, len(counts), _CHUNK)
    ]
    return {
        name: Resampled(
            np.concatenate([part[name] for part in (sample, *parts)]), len(values), max(1, clusters - 1)
        )
        for name in aggregates
    }
