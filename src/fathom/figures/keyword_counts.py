"""Matched sentences by keyword."""

import polars as pl

from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.style import make_figure
from fathom.io.contracts.benchmark import MATCHES
from fathom.io.contracts.figures import KEYWORD_COUNTS
from fathom.io.tables import read_table


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw how many sentences each keyword has, most first."""
    matches = read_table(inputs["matches"], MATCHES, ["keyword"])
    counts = matches.group_by("keyword").agg(sentences=pl.len().cast(pl.Int64))
    counts = counts.sort("sentences", "keyword", descending=[True, False])
    figure = make_figure(6.5, 1.5 + 0.2 * len(counts))
    axes = figure.subplots()
    axes.barh(counts["keyword"].to_list(), counts["sentences"].to_list())
    axes.invert_yaxis()
    axes.set_title(f"{settings.title or parts['domain']}: matched sentences")
    axes.set_xlabel("Sentences")
    return figure, (KEYWORD_COUNTS, counts.rows(named=True))
