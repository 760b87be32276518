"""Ranks of models on parts of a benchmark: with and without contaminated pairs, before and after a date."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from fathom.config.scoring import Summary
from fathom.io.contracts.statistics import AFTER, BEFORE
from fathom.statistics.aggregates import COMPARED
from fathom.statistics.clusters import choose_clusters
from fathom.statistics.summaries import check_same_pairs, format_number, summarize_values

ALL, FOUND, OTHERS = "all", "found", "others"
"""Parts of a benchmark by a set of pairs."""


def split_ranks(
    scores: Mapping[str, pl.DataFrame], flagged: pl.DataFrame, settings: Summary
) -> list[tuple[Any, ...]]:
    """Return each model's ranks on all pairs, on those of a set, and on the others.

    Returns
    -------
    list of tuples
        Rows under PAIR_PARTS by model, statistic and part; a part without pairs has no row.

    Raises
    ------
    InputError
        If models were scored on different pairs.
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

    Parameters
    ----------
    dates : DataFrame
        Columns pair_id and date, `YYYY-MM-DD`; pairs without one are in neither part.
    cutoffs : mapping of str to str
        Last day of each model's training text, `YYYY-MM-DD`.
    """
    known = dates.filter(pl.col("date") != "")
    rows: list[tuple[Any, ...]] = []
    for model, day in sorted(cutoffs.items()):
        late = known.filter(pl.col("date") > day)["pair_id"].implode()
        early = known.filter(pl.col("date") <= day)["pair_id"].implode()
        frame = scores[model]
        parts = {
            BEFORE: frame.filter(pl.col("pair_id").is_in(early)),
            AFTER: frame.filter(pl.col("pair_id").is_in(late)),
        }
        rows += _summarize(model, parts, settings)
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
