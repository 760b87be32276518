"""Summaries of scores with intervals, and agreement of two metrics (000: 2.6; spec 2.2).

Pairs of one keyword are not independent, so the bootstrap draws keywords, and the same ones for every model
of a benchmark: differences between models are then paired.
"""

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config import Summary
from fathom.errors import InputError
from fathom.program import log

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

METRICS = ("probability", "rank")
AGGREGATES = ("mean", "median", "trimmed_mean")
_CHUNK = 64  # bootstrap rounds at once: what they need stays in the processor's cache


class Estimate(NamedTuple):
    """A value with its percentile interval."""

    value: float
    low: float
    high: float


Key = tuple[str, str, str]
"""Domain, variant, model."""


def summarize_scores(scores: Mapping[Key, pl.DataFrame], settings: Summary) -> list[tuple[Any, ...]]:
    """Sum up the scores of all models on all benchmarks.

    Parameters
    ----------
    scores : mapping of (domain, variant, model) to DataFrame
        Frames with the columns pair_id, keyword, rank, probability of contract SCORES.
    settings : Summary

    Returns
    -------
    list of tuples
        Rows under SUMMARY_COLUMNS, sorted; numbers as text with six significant digits. Where a benchmark has
        one keyword only, nothing can be resampled: both ends of the interval are the value itself.

    Raises
    ------
    InputError
        If models of one benchmark were scored on different pairs, or a benchmark has no pair.
    """
    rows: list[tuple[Any, ...]] = []
    for domain, variant in sorted({key[:2] for key in scores}):
        models = {
            key[2]: scores[key].sort("pair_id") for key in sorted(scores) if key[:2] == (domain, variant)
        }
        _check_same_pairs(models, f"{domain}, {variant}")
        for model, frame in models.items():
            for metric in METRICS:
                found = summarize_values(frame[metric].to_numpy(), frame["keyword"].to_list(), settings)
                for aggregate in AGGREGATES:
                    numbers = [f"{number:.6g}" for number in found[aggregate]]
                    rows.append((domain, variant, model, metric, aggregate, *numbers, len(frame)))
    return rows


def _check_same_pairs(models: Mapping[str, pl.DataFrame], benchmark: str) -> None:
    """Raise `InputError` unless all models have scores for the same pairs, at least one."""
    first, *others = models
    names = models[first].select("pair_id", "keyword")
    if names.is_empty():
        raise InputError("there are no scores", benchmark, "the benchmark has no pair")
    if names["keyword"].n_unique() == 1:
        log.info("%s has one keyword only: its intervals have no width", benchmark)
    for other in others:
        theirs = models[other].select("pair_id", "keyword")
        if not names.equals(theirs):
            differ = len(set(names["pair_id"]) ^ set(theirs["pair_id"]))
            raise InputError(
                f"{first} and {other} were scored on different pairs ({differ:,} are not shared)",
                benchmark,
                "score both on the same pairs.parquet",
            )


def summarize_values(
    values: "NDArray[np.float64]", keywords: list[str], settings: Summary
) -> dict[str, Estimate]:
    """Return each aggregate of some values, with its bootstrap interval over keywords.

    Parameters
    ----------
    values : ndarray, shape (pairs,)
    keywords : list of str
        The keyword of each value.
    settings : Summary

    Returns
    -------
    dict of str to Estimate
        By the name of the aggregate.
    """
    import numpy as np

    _, codes = np.unique(np.array(keywords), return_inverse=True)
    order = np.argsort(values, kind="stable")
    ranked, codes = values[order].astype(np.float64), codes[order]
    whole = _aggregate(ranked, np.ones((1, len(ranked)), dtype=np.int32), settings.trim)
    counts = draw_keywords(int(codes.max()) + 1, settings)
    parts = [
        _aggregate(ranked, counts[place : place + _CHUNK, codes], settings.trim)
        for place in range(0, len(counts), _CHUNK)
    ]
    tail = (1 - settings.confidence) / 2
    estimates = {}
    for name in AGGREGATES:
        drawn = np.concatenate([part[name] for part in parts])
        low, high = np.quantile(drawn, [tail, 1 - tail])
        estimates[name] = Estimate(float(whole[name][0]), float(low), float(high))
    return estimates


def draw_keywords(keywords: int, settings: Summary) -> "NDArray[np.int32]":
    """Draw keywords with replacement: how often each was drawn, shape (rounds, keywords), from the seed."""
    import numpy as np

    seed = int.from_bytes(hashlib.sha256(f"keywords {settings.seed}".encode()).digest()[:8], "little")
    random = np.random.default_rng(seed)
    drawn = random.integers(keywords, size=(settings.rounds, keywords))
    drawn += np.arange(settings.rounds)[:, None] * keywords
    counts = np.bincount(drawn.ravel(), minlength=settings.rounds * keywords)
    return counts.reshape(settings.rounds, keywords).astype(np.int32)


def _aggregate(
    ranked: "NDArray[np.float64]", copies: "NDArray[np.int32]", trim: float
) -> dict[str, "NDArray[np.float64]"]:
    """Return the aggregates of resamples without building them.

    Parameters
    ----------
    ranked : ndarray, shape (pairs,)
        Values in rising order.
    copies : ndarray, shape (rounds, pairs)
        How often each value stands in each resample.
    trim : float
        Share cut from each end, as `scipy.stats.trim_mean` cuts it.

    Returns
    -------
    dict of str to ndarray, shape (rounds,)
    """
    import numpy as np

    ends = np.cumsum(copies, axis=1, dtype=np.int32)
    sizes = ends[:, -1]
    cut = (trim * sizes).astype(np.int32)
    # copies of a value take the places [end - copies, end) of a resample; those in [cut, size - cut) are kept
    inner = np.clip(ends, cut[:, None], (sizes - cut)[:, None])
    kept = np.diff(inner, axis=1, prepend=cut[:, None])
    middle = [
        [ranked[np.searchsorted(row, place, side="right")] for place in ((size - 1) // 2, size // 2)]
        for row, size in zip(ends, sizes, strict=True)
    ]
    return {
        "mean": copies @ ranked / sizes,
        "median": np.array(middle).mean(axis=1),
        "trimmed_mean": kept @ ranked / (sizes - 2 * cut),
    }


def correlate(first: list[float], second: list[float]) -> tuple[float, float] | None:
    """Return Pearson's r and its p-value for two metrics over models.

    Returns
    -------
    (float, float) or None
        None with fewer than three points, or where a metric is the same for all models: r means nothing then.
    """
    from scipy.stats import pearsonr

    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} values")
    if len(first) < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    found = pearsonr(first, second)
    return float(found.statistic), float(found.pvalue)
