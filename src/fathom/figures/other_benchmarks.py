"""Benchmarks that others made, all on one map of their domain [CompComp, Fig. 1b]."""

from typing import TYPE_CHECKING

import polars as pl

from fathom.figures.coverage import name_axes
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import add_legend, list_handles
from fathom.figures.style import clean_name, make_figure, wrap_name
from fathom.io.contracts.coverage import OTHERS_MAP
from fathom.io.tables import read_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SENTENCE = "#DDDDDD"
_LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "P"),
          ("#56B4E9", "X"), ("#000000", "v"))  # fmt: skip
"""Colours and markers of benchmarks; of more than these the markers are hollow."""
_CROWD = 300
"""Questions of a benchmark beyond which its points get smaller."""
_LEGEND, _SHORT = 30, 16
"""Letters of a benchmark's name on one line of the legend, and where three stand beside each other."""


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the benchmarks of one domain that others made."""
    rows = read_table(inputs["map"], OTHERS_MAP)
    return draw_map(rows, settings.title or parts["domain"]), (OTHERS_MAP, rows.rows(named=True))


def draw_map(rows: pl.DataFrame, title: str) -> "Figure":
    """Draw all benchmarks in one panel, large ones below small ones; call it inside `use_style`."""
    sentences = rows.filter(kind="sentence")
    questions = rows.filter(kind="question").partition_by("benchmark", maintain_order=True)
    names = [wrap_name(table["benchmark"][0], _LEGEND) for table in questions]
    columns = 3 if max(map(len, names), default=0) <= _SHORT else 2
    figure = make_figure(6.6, 5.4 + 0.25 * (len(questions) // columns))
    figure.suptitle(wrap_name(clean_name(title), 60))
    axes = figure.subplots()
    axes.scatter(
        sentences["x"], sentences["y"], s=5, c=_SENTENCE, linewidths=0, label="sentence of the domain",
        rasterized=True, zorder=1,
    )  # fmt: skip
    most = max(map(len, questions), default=0)
    for place, (name, table) in enumerate(zip(names, questions, strict=True)):
        color, marker = _LOOKS[place % len(_LOOKS)]
        shrink = min(1.0, (_CROWD / len(table)) ** 0.5)
        axes.scatter(
            table["x"], table["y"], s=18 * max(0.2, shrink), marker=marker, edgecolors=color, linewidths=0.4,
            facecolors=color if place < len(_LOOKS) else "none", alpha=0.7, rasterized=True,
            label=f"{name} ({len(table):,})", zorder=3 - len(table) / (most + 1),
        )  # fmt: skip
    name_axes([axes])
    add_legend(figure, list_handles(axes), columns, markerscale=1.5)
    return figure
