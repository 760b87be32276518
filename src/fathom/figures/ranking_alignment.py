"""Two rankings side by side after reordering models that are not apart: a bump chart (004: Figure 1)."""

from typing import TYPE_CHECKING, Any

from fathom.figures.ranking import RankingTables, title_setting
from fathom.figures.style import clean_name, make_figure
from fathom.tables import ALIGNMENT_COLUMNS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]

_STILL = 3  # a model that moves no further is drawn in grey


def draw_alignment(tables: RankingTables) -> tuple["Figure", Table]:
    """Draw a bump chart for each setting, names on both sides.

    Returns
    -------
    (matplotlib.figure.Figure, (header, rows))
        The figure and its numbers.
    """
    from matplotlib.lines import Line2D

    rows = tables.read("alignment")
    count = max(sum(row["setting"] == setting for row in rows) for setting in tables.settings)
    figure = make_figure(5.4 * len(tables.settings), 1.7 + 0.172 * count)
    panels = figure.subplots(1, len(tables.settings), squeeze=False)[0]
    agreement = {(row["setting"], row["statistic"]): row for row in tables.read("agreement")}
    for axes, setting in zip(panels, tables.settings, strict=True):
        _draw_setting(axes, tables, [row for row in rows if row["setting"] == setting])
        crossed = float(agreement[setting, "opposite_aligned"]["value"] or "nan")
        axes.set_title(f"{title_setting(setting)}: {100 * crossed:.1f} % of pairs cross", pad=22)
    handles = [
        Line2D([], [], color=look.color, marker=look.marker, label=clean_name(look.label))
        for look in tables.families.values()
    ]
    handles.append(Line2D([], [], color="0.75", label=f"moves {_STILL} places or fewer"))
    figure.legend(handles=handles, loc="outside upper center", ncols=min(7, len(handles)))
    return figure, (ALIGNMENT_COLUMNS, [tuple(row.values()) for row in rows])


def _draw_setting(axes: "Axes", tables: RankingTables, rows: list[dict[str, str]]) -> None:
    """Draw one line for each model, from its place on the first benchmark to that on the second."""
    for row in rows:
        model = tables.models[row["model"]]
        look = tables.families[model.family]
        ends = [int(row["place_first"]), int(row["place_second"])]
        moves = abs(ends[0] - ends[1]) > _STILL
        axes.plot([0, 1], ends, color=look.color if moves else "0.75", linewidth=1.3 if moves else 1.0,
                  zorder=3 if moves else 2)  # fmt: skip
        axes.plot(
            [0, 1], ends, color=look.color, marker=look.marker, markersize=4, linestyle="none", zorder=4
        )
        for at, place, side in ((-0.04, ends[0], "right"), (1.04, ends[1], "left")):
            axes.text(at, place, clean_name(model.title), ha=side, va="center", fontsize=7.5, color="0.1")
    axes.set_xlim(-0.75, 1.75)
    axes.set_ylim(len(rows) + 0.8, 0.2)
    axes.set_xticks(
        [0, 1], [clean_name(tables.benchmarks[rows[0][side]].title) for side in ("first", "second")]
    )
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_yticks([])
    axes.grid(False)
    for edge in axes.spines.values():
        edge.set_visible(False)
