"""Ranks in words, for a terminal."""

import math
from collections.abc import Sequence

import polars as pl

from fathom.config.scoring import Summary
from fathom.statistics.aggregates import COMPARED, GEOMETRIC_MEAN, MEAN, MEDIAN, TRIMMED_MEAN
from fathom.statistics.bootstrap import Estimate
from fathom.statistics.clusters import KEYWORDS, choose_clusters
from fathom.statistics.metrics import BITS, RIVAL_RANK
from fathom.statistics.summaries import select_known, summarize_values


def format_rank(value: float, low: float, high: float) -> str:
    """Return `12.3 [11.0, 13.9]`, or the value alone where there is no interval.

    From 100 on there are no decimals: differences that small are in groups.csv, not in a table.
    """
    digits = 1 if abs(value) < 100 else 0
    if math.isnan(value):
        return "unknown"
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{value:,.{digits}f}"
    return f"{value:,.{digits}f} [{low:,.{digits}f}, {high:,.{digits}f}]"


def describe_ranks(scores: pl.DataFrame, pairs: pl.DataFrame) -> str:
    """Return knowledge in bits and mean ranks of some pairs, with intervals, and what these draw."""
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
    missing = f", ranks of {unknown:,} too high for the server to tell" if unknown else ""
    left_out = f", {len(pairs) - len(scores):,} left out" if len(pairs) > len(scores) else ""
    return f"{', '.join(parts)}, {len(scores):,} pairs{drawn}{missing}{left_out}"


def _describe_bits(scores: pl.DataFrame, clusters: Sequence[str]) -> str:
    """Return mean knowledge with its interval and ceiling, if there is one."""
    import numpy as np

    if BITS.name not in scores.columns:
        return "no bits"
    known, names = select_known(scores[BITS.name].to_numpy(), clusters)
    if not len(known):
        return "no bits"
    found = summarize_values(known, names, Summary(), [MEAN.name])[MEAN.name]
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
    without = f" ({len(scores) - len(values):,} pairs have none)" if len(values) < len(scores) else ""
    return [f"{RIVAL_RANK.describe(GEOMETRIC_MEAN)} {_format(found, len(values))}{without}"]


def _format(found: Estimate, pairs: int) -> str:
    """Return a rank with its interval; a single pair has nothing to resample."""
    return format_rank(found.value, *((math.nan, math.nan) if pairs == 1 else (found.low, found.high)))
