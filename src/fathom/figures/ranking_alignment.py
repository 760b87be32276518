"""Bump chart of two rankings after reordering models that do not differ significantly.

Source: [TrainBeforeTest, Fig. 1].
"""

from typing import TYPE_CHECKING

from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.ranking import RankingTables, measure_names, title_condition
from fathom.figures.style import clean_name, make_figure
from fathom.io.contracts.ranking import ALIGNMENT
from fathom.io.delimited import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STILL = 20  # models that move by at most 1/20 of the number of models are drawn in grey
_SPAN = 2.3  # inches between the two sides


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw one bump chart per condition, with names on both sides."""
    from matplotlib.lines import Line2D

    tables = RankingTables(inputs["models"].parent)
    rows = tables.read("alignment")
    count = max(sum(row["condition"] == condition for row in rows) for condition in tables.conditions)
    still = count // _STILL
    side = 0.3 + measure_names((tables.models[row["model"]].title for row in rows), 7.5)
    figure = make_figure((_SPAN + 2 * side) * len(tables.conditions), 1.7 + 0.172 * count)
    panels = figure.subplots(1, len(tables.conditions), squeeze=False)[0]
    agreement = {(row["condition"], row["statistic"]): row for row in tables.read("agreement")}
    for axes, condition in zip(panels, tables.conditions, strict=True):
        _draw_condition(axes, tables, [row for row in rows if row["condition"] == condition], still, side)
        crossed = agreement[condition, "opposite_aligned"]["value"]
        axes.set_title(f"{title_condition(condition)}: {100 * crossed:.1f} % of pairs cross", pad=22)
    handles = [
        Line2D([], [], color=style.color, marker=style.marker, label=clean_name(style.label))
        for style in tables.families.values()
    ]
    handles.append(Line2D([], [], color="0.75", label=f"moves {still} places or fewer" if still else "stays"))
    figure.legend(handles=handles, loc="outside upper center", ncols=min(7, len(handles)))
    return figure, (ALIGNMENT, rows)


def _draw_condition(axes: "Axes", tables: RankingTables, rows: list[Row], still: int, side: float) -> None:
    """Draw a line per model between its two ranks, with `side` inches for names on each side."""
    for row in rows:
        model = tables.models[row["model"]]
        style = tables.families[model.family]
        ends = [row["place_first"], row["place_second"]]
        moves = abs(ends[0] - ends[1]) > still
        axes.plot([0, 1], ends, color=style.color if moves else "0.75", linewidth=1.3 if moves else 1.0,
                  zorder=3 if moves else 2)  # fmt: skip
        axes.plot(
            [0, 1], ends, color=style.color, marker=style.marker, markersize=4, linestyle="none", zorder=4
        )
        for at, place, where in ((-0.04, ends[0], "right"), (1.04, ends[1], "left")):
            axes.text(at, place, clean_name(model.title), ha=where, va="center", fontsize=7.5, color="0.1")
    axes.set_xlim(-side / _SPAN, 1 + side / _SPAN)
    axes.set_ylim(len(rows) + 0.8, 0.2)
    axes.set_xticks(
        [0, 1], [clean_name(tables.benchmarks[rows[0][which]].title) for which in ("first", "second")]
    )
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_yticks([])
    axes.grid(False)
    for edge in axes.spines.values():
        edge.set_visible(False)
