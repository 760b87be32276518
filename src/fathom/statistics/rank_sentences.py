"""Ranks in words, for a terminal."""

import math

import polars as pl

from fathom.config.scoring import Summary
from fathom.statistics.aggregates import COMPARED, MEDIAN, TRIMMED_MEAN
from fathom.statistics.clusters import KEYWORDS, choose_clusters
from fathom.statistics.summaries import summarize_values


def format_rank(value: float, low: float, high: float) -> str:
    """Return `12.3 [11.0, 13.9]`, or the value alone where there is no interval.

    From 100 on there are no decimals: differences that small are in groups.csv, not in a table.
    """
    digits = 1 if value < 100 else 0
    if math.isnan(value):
        return "unknown"
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{value:,.{digits}f}"
    return f"{value:,.{digits}f} [{low:,.{digits}f}, {high:,.{digits}f}]"


def describe_ranks(scores: pl.DataFrame, pairs: pl.DataFrame) -> str:
    """Return the trimmed and the geometric mean rank of some pairs, with intervals, and what these draw.

    Parameters
    ----------
    scores : DataFrame
        Under contract SCORES or TOP_SCORES, of shape (n_pairs, n_columns), at least one row.
    pairs : DataFrame
        The pairs that were scored, in the same order, among others.
    """
    clusters = choose_clusters(pairs.filter(pairs["pair_id"].is_in(scores["pair_id"].implode())))
    found = summarize_values(scores["rank"].to_numpy(), clusters.names, Summary())
    unknown = int(scores["rank"].is_infinite().sum())
    parts = []
    for statistic in (TRIMMED_MEAN, MEDIAN) if unknown else COMPARED:
        value, low, high = found[statistic.name]
        if len(scores) == 1:  # nothing to resample
            low = high = math.nan
        parts.append(f"{statistic.label} rank {format_rank(value, low, high)}")
    drawn = f" (intervals over {clusters.kind})" if clusters.kind != KEYWORDS and len(scores) > 1 else ""
    missing = f", ranks of {unknown:,} too high for the server to tell" if unknown else ""
    left_out = f", {len(pairs) - len(scores):,} left out" if len(pairs) > len(scores) else ""
    return f"{', '.join(parts)}, {len(scores):,} pairs{drawn}{missing}{left_out}"
