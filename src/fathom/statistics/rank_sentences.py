"""Ranks in words, for a terminal."""

import math

import polars as pl

from fathom.config.scoring import Summary
from fathom.statistics.aggregates import COMPARED
from fathom.statistics.summaries import summarize_values


def format_rank(value: float, low: float, high: float) -> str:
    """Return `12.3 [11.0, 13.9]`, or the value alone where there is no interval.

    From 100 on there are no decimals: differences that small are in groups.csv, not in a table.
    """
    digits = 1 if value < 100 else 0
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{value:,.{digits}f}"
    return f"{value:,.{digits}f} [{low:,.{digits}f}, {high:,.{digits}f}]"


def describe_ranks(scores: pl.DataFrame) -> str:
    """Return the trimmed and the geometric mean rank of some pairs, with intervals over several keywords.

    Parameters
    ----------
    scores : DataFrame
        Under contract SCORES, of shape (n_pairs, n_columns), at least one row.
    """
    keywords = scores["keyword"].to_list()
    found = summarize_values(scores["rank"].to_numpy(), keywords, Summary())
    parts = []
    for statistic in COMPARED:
        value, low, high = found[statistic.name]
        if len(set(keywords)) == 1:  # nothing to resample
            low = high = math.nan
        parts.append(f"{statistic.label} rank {format_rank(value, low, high)}")
    return f"{', '.join(parts)}, {len(scores):,} pairs"
