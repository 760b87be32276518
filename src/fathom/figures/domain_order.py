"""Domains by similarity to one of them, and which continual pretraining takes [RawCorpora, Sec. 4.3]."""

from typing import TYPE_CHECKING

import polars as pl

from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.style import SIMILARITY_COLOR_MAP, clean_name, make_figure
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.tables import read_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_NAMES = 40  # all are named up to so many, else only those that are taken
_LONGEST = 34  # letters of a name that is drawn
_LINE = 0.2  # inches


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw domains by similarity to the target of a study."""
    order = read_table(inputs["order"], DOMAIN_ORDERS)
    return draw_order(order, parts["study"]), (DOMAIN_ORDERS, order.rows(named=True))


def draw_order(order: pl.DataFrame, title: str) -> "Figure":
    """Draw an order of domains; call it inside `use_style`."""
    import numpy as np

    named = order if len(order) <= _MOST_NAMES else order.filter((pl.col("stage") > 0) | pl.col("chosen"))
    named = named.with_row_index("line")
    figure = make_figure(6.5, 1.6 + _LINE * max(len(named), 8))
    other = clean_name(order["evaluation_domain"][0])
    figure.suptitle(f"{clean_name(title)}: {len(order)} domains by similarity to {other}")
    axes = figure.subplots()
    cosines, taken = order["similarity"].to_numpy(), (order["stage"] > 0).to_numpy()
    # by place: those without a name between the lines of others
    heights = np.interp(order["place"].to_numpy(), named["place"].to_numpy(), named["line"].to_numpy())
    axes.scatter(
        cosines[~taken], heights[~taken], s=22, facecolors="white", edgecolors="0.35", linewidths=0.6,
        zorder=3, label="compared",
    )  # fmt: skip
    axes.scatter(
        cosines[taken], heights[taken], s=40, c=cosines[taken], cmap=SIMILARITY_COLOR_MAP, edgecolors="black",
        linewidths=0.6, zorder=3, vmin=cosines.min(), vmax=cosines.max(),
        label="trained on; the number is the stage",
    )  # fmt: skip
    for line, stage, cosine in named.select("line", "stage", "similarity").iter_rows():
        if stage:
            axes.annotate(
                str(stage), (cosine, line), xytext=(7, 0), textcoords="offset points", va="center", fontsize=8
            )
    names = [_shorten(name) for name in named["domain"]]
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(-0.8, len(names) - 0.2)
    axes.margins(x=0.08)
    axes.set_xlabel(f"Cosine of mean abstracts with {other}")
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _shorten(name: str) -> str:
    clean = clean_name(name)
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 1] + "…"
