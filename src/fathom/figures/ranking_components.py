"""Principal components: explained variance, and the first component by model and compute.

Source: [TrainBeforeTest, Figs. 6, 7, 8, 11].
"""

import math
from typing import TYPE_CHECKING

from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import draw_note
from fathom.figures.ranking import (
    RankingTables,
    condition_color,
    condition_style,
    measure_names,
    title_condition,
)
from fathom.figures.style import add_families, clean_name, make_figure, mark_model
from fathom.io.contracts.ranking import COMPONENTS, FIRST_COMPONENT
from fathom.io.delimited import Row
from fathom.ranking.resampled_scores import ALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw one figure of principal components."""
    tables = RankingTables(inputs["models"].parent)
    if parts["figure"] in ("pca", "pca-family"):
        return draw_shares(tables, ALL if parts["figure"] == "pca" else settings.ranking.one_family)
    return draw_compute(tables) if parts["figure"] == "pc1-compute" else draw_first(tables)


def draw_shares(tables: RankingTables, group: str = ALL) -> DrawnFigure:
    """Draw the variance that each component explains, by condition [TrainBeforeTest, Figs. 6, 8]."""
    rows = [row for row in tables.read("pca") if row["group"] == group and not math.isnan(row["share"])]
    single = [row for row in rows if " to " not in row["component"]]
    if not single:
        return draw_note("There are too few models for principal components."), (COMPONENTS, [])
    names = list(dict.fromkeys(row["component"] for row in single))
    conditions = [
        condition for condition in tables.conditions if any(row["condition"] == condition for row in single)
    ]
    figure = make_figure(3.7 * len(conditions) + 0.3, 3.4)
    panels = figure.subplots(1, len(conditions), squeeze=False, sharey=True)[0]
    for place, (axes, condition) in enumerate(zip(panels, conditions, strict=True)):
        lines = {row["component"]: row for row in single if row["condition"] == condition}
        heights, lows, highs = (
            [lines[name][key] if name in lines else math.nan for name in names]
            for key in ("share", "ci_low", "ci_high")
        )
        axes.bar(names, heights, 0.7, **condition_style(place))
        axes.vlines(range(len(names)), lows, highs, color="0.25", linewidth=1.1)
        for at, (height, high) in enumerate(zip(heights, highs, strict=True)):
            if not math.isnan(height):
                top = height if math.isnan(high) else max(height, high)
                axes.text(at, top + 0.015, f"{100 * height:.0f} %", ha="center", va="bottom", fontsize=9)
        axes.grid(False, axis="x")
        axes.set_ylim(0, 1.08)
        axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
        size = next(iter(lines.values()))
        family = "" if group == ALL else f"{group} "
        axes.set_title(f"{title_condition(condition)} ({size['models']} {family}models)")
    panels[0].set_ylabel("Share of the variance")
    return figure, (COMPONENTS, rows)


def draw_compute(tables: RankingTables) -> DrawnFigure:
    """Draw each model's first component against its training compute, by condition [TrainBeforeTest, Fig. 7].

    Chat models have hollow markers. Models of unknown compute are left out.
    """
    rows = [
        row
        for row in tables.read("pc1")
        if row["group"] == ALL and math.isfinite(row["log10_compute"] + row["score"])
    ]
    if not rows:
        return draw_note("No model's training compute is known."), (FIRST_COMPONENT, [])
    figure = make_figure(4.2 * len(tables.conditions), 4.6)
    panels = figure.subplots(1, len(tables.conditions), squeeze=False, sharey=True)[0]
    agreement = {(row["condition"], row["statistic"]): row["value"] for row in tables.read("agreement")}
    for axes, condition in zip(panels, tables.conditions, strict=True):
        some = [row for row in rows if row["condition"] == condition]
        for row in some:
            model = tables.models[row["model"]]
            look = mark_model(tables.families[model.family], model.kind)
            axes.plot(10 ** row["log10_compute"], row["score"], **look)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: format_power(value))
        axes.set_xlabel("Training compute, 6 N D (FLOP)")
        r = agreement.get((condition, "pc1_compute_pearson"), math.nan)
        found = "" if math.isnan(r) else f", r = {r:.2f}"
        axes.set_title(f"{title_condition(condition)}{found}, {len(some)} models")
    panels[0].set_ylabel("PC1 score")
    used = {tables.models[row["model"]].family for row in rows}
    _add_families(figure, tables, used)
    return figure, (FIRST_COMPONENT, rows)


def format_power(value: float) -> str:
    """Format a power of ten as text, such as `10²¹`, without math mode."""
    exponent = str(round(math.log10(value)))
    return "10" + exponent.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _add_families(figure: "Figure", tables: RankingTables, used: set[str]) -> None:
    """Add a legend of the families that are drawn, and of base and chat models if the run has both."""
    families = {name: look for name, look in tables.families.items() if name in used}
    add_families(figure, families, {model.kind for model in tables.models.values()})


def draw_first(tables: RankingTables) -> DrawnFigure:
    """Draw models' scores on the first component, sorted by the last condition [TrainBeforeTest, Fig. 11]."""
    rows = [row for row in tables.read("pc1") if row["group"] == ALL and not math.isnan(row["score"])]
    if not rows:
        return draw_note("There are too few models for principal components."), (FIRST_COMPONENT, [])
    # a condition in which all models are alike on every benchmark has no components
    conditions = [name for name in tables.conditions if any(row["condition"] == name for row in rows)]
    order = [row["model"] for row in rows if row["condition"] == conditions[-1]]
    names = measure_names(tables.models[name].title for name in order)
    figure = make_figure(0.8 + names + 3.0 * len(conditions), 1.6 + 0.185 * len(order))
    panels = figure.subplots(1, len(conditions), squeeze=False, sharey=True)[0]
    for axes, condition in zip(panels, conditions, strict=True):
        place = tables.conditions.index(condition)
        found = {row["model"]: row for row in rows if row["condition"] == condition}
        _draw_scores(axes, tables, [found[name] for name in order], condition_color(place))
        axes.set_title(title_condition(condition))
        axes.set_xlabel("PC1 score")
    panels[0].set_yticks(
        range(len(order)), [clean_name(tables.models[name].title) for name in order], fontsize=8
    )
    panels[0].set_ylim(len(order) - 0.4, -0.6)
    _add_families(figure, tables, {model.family for model in tables.models.values()})
    return figure, (FIRST_COMPONENT, rows)


def _draw_scores(axes: "Axes", tables: RankingTables, rows: list[Row], color: str) -> None:
    for place, row in enumerate(rows):
        model = tables.models[row["model"]]
        axes.plot([row["ci_low"], row["ci_high"]], [place, place], color=color, linewidth=1)
        look = mark_model(tables.families[model.family], model.kind)
        axes.plot(row["score"], place, markersize=5, **look)
    axes.tick_params(axis="y", length=0)
    axes.axvline(0, color="0.6", linewidth=0.8)
