"""Which targets one model predicts better than another, and how near these are to the domain's name.

Source: [RawCorpora, App. A.9, Fig. 15, Table 9]. Pairs with one target are averaged; gains in probability and
in rank are put on one scale, averaged, and weighted by the logarithm of the target's frequency. The paper
does not say which scale: here a gain is divided by its standard deviation over targets and not centred, so
that 0 stays no change.

Two things are left to chance: which targets there are, and which keywords, whose targets change together.
A bootstrap over targets and one over keywords are drawn apart, and the wider interval counts. Both drawn at
once would count the noise of single pairs twice.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.scoring import Summary, Targets
from fathom.errors import InputError
from fathom.jobs.program import log
from fathom.statistics.bootstrap import Estimate, Resampled, draw_resamples

Array = NDArray[np.float64]

GAINS = ("probability_gain", "rank_gain")
GROUPS = ("top", "middle", "bottom")


class Cells(NamedTuple):
    """Sums over the pairs of one keyword and one target.

    `pairs`: shape (n_cells,); `gains`: in the order of GAINS, shape (2, n_cells).
    """

    keywords: NDArray[np.int64]
    targets: NDArray[np.int64]
    pairs: Array
    gains: Array


class Contrast(NamedTuple):
    """Contrast of the similarities of two groups: means, their difference, and Cohen's d."""

    top: float
    bottom: float
    difference: float
    d: float


def join_pairs(model: pl.DataFrame, other: pl.DataFrame, pairs: pl.DataFrame, benchmark: str) -> pl.DataFrame:
    """Return the gain of a model over another one on each pair.

    Raise `InputError` if the models were scored on other pairs, or no score differs. Returned: columns
    keyword, target (no blank), probability_gain, rank_gain; positive is better.

    Parameters
    ----------
    model, other : DataFrame
        Columns pair_id, rank, probability of contract SCORES.
    """
    joined = pairs.join(model, on="pair_id").join(other, on="pair_id", suffix="_other")
    if not len(pairs) == len(joined) == len(model) == len(other):
        raise InputError(
            "the scores belong to other pairs than the benchmark's", benchmark, "score both models again"
        )
    found = joined.sort("pair_id").select(
        "keyword",
        pl.col("target").str.strip_chars(),
        probability_gain=pl.col("probability") - pl.col("probability_other"),
        rank_gain=pl.col("rank_other") - pl.col("rank"),
    )
    if found.is_empty() or all((found[gain] == 0).all() for gain in GAINS):
        raise InputError("no score differs between the two models", benchmark, "compare two other models")
    return found


def score_targets(pairs: pl.DataFrame, similarities: Mapping[str, float], settings: Targets) -> pl.DataFrame:
    """Return the targets of a benchmark, the one with the largest gain first.

    Returned: columns target, pairs, probability_gain, rank_gain, score, similarity, group.
    """
    cells, names = _make_cells(pairs)
    known, frequency, gains, scores = _score(cells, np.ones(len(cells.pairs)), np.ones(len(names)))
    order = np.argsort(-scores, kind="stable")
    size = count_group(len(order), settings)
    groups = [GROUPS[0]] * size + [GROUPS[1]] * (len(order) - 2 * size) + [GROUPS[2]] * size
    chosen = [names[place] for place in known[order]]
    return pl.DataFrame(
        {
            "target": chosen,
            "pairs": frequency[order].astype(np.int64),
            **{name: gain[order] for name, gain in zip(GAINS, gains, strict=True)},
            "score": scores[order],
            "similarity": [similarities[name] for name in chosen],
            "group": groups,
        }
    )


def count_group(targets: float, settings: Targets) -> int:
    """Return how many targets the groups top and bottom have each."""
    return int(settings.share * targets)


def contrast_groups(
    pairs: pl.DataFrame, similarities: Mapping[str, float], settings: Targets, summary: Summary
) -> tuple[Contrast, Contrast, Contrast]:
    """Return the contrast of the groups top and bottom, and the ends of its intervals.

    A resample draws targets, with all their pairs; or keywords, and takes frequencies and gains from what
    was drawn, where a target counts as often as its pairs were drawn on average. Scores and groups are those
    of the resample. The wider interval of both counts.

    Returns
    -------
    value, low, high : Contrast
        NaN throughout for groups of fewer than two targets.
    """
    cells, names = _make_cells(pairs)
    cosines = np.array([similarities[name] for name in names])
    pairs_of_targets = np.bincount(cells.targets, cells.pairs)
    ones, copies = np.ones(len(cells.pairs)), np.ones(len(names))
    value = _contrast(cells, ones, copies, cosines, settings)
    by_target = [
        _contrast(cells, ones, row.astype(np.float64), cosines, settings)
        for row in draw_resamples(len(names), summary)
    ]
    by_keyword, keywords = [], int(cells.keywords.max()) + 1
    for row in draw_resamples(keywords, summary):
        weights = row[cells.keywords].astype(np.float64)
        copies = np.bincount(cells.targets, weights * cells.pairs) / pairs_of_targets
        by_keyword.append(_contrast(cells, weights, copies, cosines, settings))
    found = []
    for drawn in zip(value, np.array(by_target).T, np.array(by_keyword).T, strict=True):
        estimates = [
            Resampled.join(drawn[0], rows, freedom=max(1, count - 1)).estimate(summary.confidence)
            for rows, count in zip(drawn[1:], (len(names), keywords), strict=True)
        ]
        found.append(_choose_wider(*estimates))
    middle, low, high = (Contrast(*numbers) for numbers in zip(*found, strict=True))
    return middle, low, high


def _choose_wider(first: Estimate, second: Estimate) -> Estimate:
    """Return the estimate with the wider interval; no interval if either has none."""
    widths = [each.high - each.low for each in (first, second)]
    return first if math.isnan(widths[0]) or widths[0] >= widths[1] else second


def compare_similarities(targets: pl.DataFrame) -> tuple[float, float]:
    """Return Student's t and p of the similarities of top and bottom, as if targets were independent."""
    from scipy.stats import ttest_ind

    top, bottom = (targets.filter(group=group)["similarity"].to_numpy() for group in (GROUPS[0], GROUPS[2]))
    if len(top) < 2:
        return float("nan"), float("nan")
    found = ttest_ind(top, bottom)
    return float(found.statistic), float(found.pvalue)


def list_extremes(targets: pl.DataFrame, count: int) -> Iterator[tuple[int, str, str]]:
    """Yield place, best and worst target, counted from either end [RawCorpora, Table 9]."""
    names = targets["target"].to_list()
    if len(names) < 2 * count:
        count = len(names) // 2
        log.info("%s targets: %s of them are listed at each end", len(names), count)
    for place in range(count):
        yield place + 1, names[place], names[-1 - place]


def _make_cells(pairs: pl.DataFrame) -> tuple[Cells, Sequence[str]]:
    cells = (
        pairs.group_by("keyword", "target")
        .agg(pl.len().alias("pairs"), *(pl.col(name).sum() for name in GAINS))
        .sort("keyword", "target")
    )
    numbers = cells.select(
        pl.col("keyword").rank("dense").cast(pl.Int64) - 1, pl.col("target").rank("dense").cast(pl.Int64) - 1
    )
    gains = cells.select(GAINS).to_numpy().T
    names = sorted(set(pairs["target"].to_list()))
    sizes = cells["pairs"].cast(pl.Float64).to_numpy()
    return Cells(numbers["keyword"].to_numpy(), numbers["target"].to_numpy(), sizes, gains), names


def _score(
    cells: Cells, weights: Array, copies: Array
) -> tuple[NDArray[np.int64], Array, list[Array], Array]:
    """Return the targets that were drawn, with their frequencies, both mean gains, and scores."""
    count = len(copies)
    frequency = np.asarray(np.bincount(cells.targets, weights * cells.pairs, count), dtype=np.float64)
    known = np.asarray(np.flatnonzero((frequency > 0) & (copies > 0)), dtype=np.int64)
    frequency, copies = frequency[known], copies[known]
    gains = [np.bincount(cells.targets, weights * gain, count)[known] / frequency for gain in cells.gains]
    scaled = [gain / _measure_spread(gain, copies) for gain in gains]
    scores = np.asarray(np.mean(scaled, axis=0) * np.log1p(frequency), dtype=np.float64)
    return known, frequency, gains, scores


def _measure_spread(gain: Array, copies: Array) -> float:
    """Return the standard deviation over targets; 1 if a gain is the same for all but for rounding."""
    spread = math.sqrt(np.average((gain - np.average(gain, weights=copies)) ** 2, weights=copies))
    return spread if spread > 1e-12 * np.abs(gain).max() else 1.0


def _contrast(cells: Cells, weights: Array, copies: Array, cosines: Array, settings: Targets) -> Contrast:
    """Return the contrast of top and bottom in one resample, where each target counts so many times."""
    known, _, _, scores = _score(cells, weights, copies)
    order = known[np.argsort(-scores, kind="stable")]
    counted, ordered = copies[order], cosines[order]
    total, reached = counted.sum(), np.cumsum(counted)
    size = count_group(float(total + 1e-9), settings)
    if size < 2:
        return Contrast(*[float("nan")] * 4)
    shares = [np.clip(size - (reached - counted), 0, counted), np.clip(reached - (total - size), 0, counted)]
    top, bottom = (float(share @ ordered) / size for share in shares)
    variances = [
        share @ (ordered - mean) ** 2 / (size - 1) for share, mean in zip(shares, (top, bottom), strict=True)
    ]
    difference, spread = top - bottom, math.sqrt(sum(variances) / 2)
    # equal similarities differ by rounding
    effect = difference / spread if spread > 1e-12 else float("nan")
    return Contrast(top, bottom, difference, effect)
