"""Summaries of scores with intervals, and agreement of two metrics [RawCorpora, Sec. 2.6].

Pairs of one keyword are not independent, so the bootstrap draws keywords, and the same ones for every model
of a benchmark: differences between models are then paired.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.tables import read_table
from fathom.running.program import log

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
        check_same_pairs(models, f"{domain}, {variant}")
        for model, frame in models.items():
            for metric in METRICS:
                found = summarize_values(frame[metric].to_numpy(), frame["keyword"].to_list(), settings)
                for aggregate in AGGREGATES:
                    numbers = [format_number(number) for number in found[aggregate]]
                    rows.append((domain, variant, model, metric, aggregate, *numbers, len(frame)))
    return rows


def read_scores(files: Iterable[tuple[str, str, str, str]]) -> dict[Key, pl.DataFrame]:
    """Read what summaries need of scores.

    Parameters
    ----------
    files : iterable of (domain, variant, model, path)

    Raises
    ------
    InputError
        If a model is given twice for one benchmark, or a file is no table of scores.
    """
    scores: dict[Key, pl.DataFrame] = {}
    for domain, variant, model, path in files:
        if (domain, variant, model) in scores:
            raise InputError(f"{model} on {domain}, {variant} is given twice", "--scores", "give it once")
        scores[domain, variant, model] = read_table(path, SCORES, ["pair_id", "keyword", *reversed(METRICS)])
    return scores


def check_same_pairs(models: Mapping[str, pl.DataFrame], benchmark: str) -> None:
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


def check_benchmarks(scores: Mapping[Key, pl.DataFrame], files: Iterable[tuple[str, str, str]]) -> None:
    """Raise `InputError` unless scores are those of the benchmarks' own pairs.

    Parameters
    ----------
    scores : mapping of (domain, variant, model) to DataFrame
        See :func:`read_scores`.
    files : iterable of (domain, variant, path)
        Pairs of the benchmarks.
    """
    for domain, variant, path in files:
        names = read_table(path, PAIRS, ["pair_id", "keyword"]).sort("pair_id")
        for key, frame in scores.items():
            theirs = frame.select("pair_id", "keyword").sort("pair_id")
            if key[:2] == (domain, variant) and not names.equals(theirs):
                differ = len(set(names["pair_id"]) ^ set(theirs["pair_id"]))
                raise InputError(
                    f"the scores of {key[2]} are of other pairs than the benchmark's"
                    f" ({differ:,} are not shared)",
                    path,
                    "score the model again, or give the benchmark that it was scored on",
                )


def format_number(number: float) -> str:
    """Return a number as tables hold it: six significant digits, or nothing for NaN."""
    return "" if math.isnan(number) else f"{number:.6g}"


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

    whole, drawn = resample_values(values, keywords, settings)
    tail = (1 - settings.confidence) / 2
    estimates = {}
    for name in AGGREGATES:
        low, high = np.quantile(drawn[name], [tail, 1 - tail])
        estimates[name] = Estimate(whole[name], float(low), float(high))
    return estimates


def resample_values(
    values: "NDArray[np.float64]",
    keywords: list[str],
    settings: Summary,
    aggregates: Sequence[str] = AGGREGATES,
) -> tuple[dict[str, float], dict[str, "NDArray[np.float64]"]]:
    """Return each aggregate of some values, and of each bootstrap resample of their keywords.

    The same keywords are drawn in round i for any values with these keywords: what two models give in a round
    can be subtracted.

    Parameters
    ----------
    values : ndarray, shape (pairs,)
    keywords : list of str
        The keyword of each value.
    settings : Summary
    aggregates : sequence of str
        Which ones; each takes its time.

    Returns
    -------
    (dict of str to float, dict of str to ndarray of shape (rounds,))
        By the name of the aggregate.
    """
    import numpy as np

    _, codes = np.unique(np.array(keywords), return_inverse=True)
    order = np.argsort(values, kind="stable")
    ranked, codes = values[order].astype(np.float64), codes[order]
    whole = _aggregate(ranked, np.ones((1, len(ranked)), dtype=np.int32), settings.trim, aggregates)
    counts = draw_resamples(int(codes.max()) + 1, settings)
    parts = [
        _aggregate(ranked, counts[place : place + _CHUNK, codes], settings.trim, aggregates)
        for place in range(0, len(counts), _CHUNK)
    ]
    drawn = {name: np.concatenate([part[name] for part in parts]) for name in aggregates}
    return {name: float(whole[name][0]) for name in aggregates}, drawn


def draw_resamples(keywords: int, settings: Summary) -> "NDArray[np.int32]":
    """Draw keywords with replacement: how often each was drawn, shape (rounds, keywords), from the seed."""
    import numpy as np

    seed = int.from_bytes(hashlib.sha256(f"keywords {settings.seed}".encode()).digest()[:8], "little")
    random = np.random.default_rng(seed)
    drawn = random.integers(keywords, size=(settings.rounds, keywords))
    drawn += np.arange(settings.rounds)[:, None] * keywords
    counts = np.bincount(drawn.ravel(), minlength=settings.rounds * keywords)
    return counts.reshape(settings.rounds, keywords).astype(np.int32)


def _aggregate(
    ranked: "NDArray[np.float64]", copies: "NDArray[np.int32]", trim: float, names: Sequence[str]
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
    names : sequence of str
        Which aggregates.

    Returns
    -------
    dict of str to ndarray, shape (rounds,)
    """
    import numpy as np

    ends = np.cumsum(copies, axis=1, dtype=np.int32)
    sizes = ends[:, -1]
    found = {}
    if "mean" in names:
        found["mean"] = copies @ ranked / sizes
    if "median" in names:
        middle = [
            [ranked[np.searchsorted(row, place, side="right")] for place in ((size - 1) // 2, size // 2)]
            for row, size in zip(ends, sizes, strict=True)
        ]
        found["median"] = np.array(middle).mean(axis=1)
    if "trimmed_mean" in names:
        cut = (trim * sizes).astype(np.int32)
        # copies of a value take the places [end - copies, end) of a resample; [cut, size - cut) is kept
        inner = np.clip(ends, cut[:, None], (sizes - cut)[:, None])
        kept = np.diff(inner, axis=1, prepend=cut[:, None])
        found["trimmed_mean"] = kept @ ranked / (sizes - 2 * cut)
    return found


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
