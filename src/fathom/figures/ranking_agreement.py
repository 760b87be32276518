"""Agreement of benchmarks: overall, in pairs, by category [TrainBeforeTest, Figs. 2, 3, 9, 10, 12-15]."""

import math

from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import draw_note
from fathom.figures.ranking import (
    RankingTables,
    add_colorbar,
    condition_style,
    draw_matrix,
    label_statistic,
    measure_names,
    title_condition,
)
from fathom.figures.style import clean_name, make_figure
from fathom.io.contracts.ranking import CATEGORIES, PAIRWISE
from fathom.io.delimited import Row
from fathom.ranking.resampled_scores import PLAIN

NO_TEST = "There is no test of differences: the table of scores has no standard errors."


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw one figure of agreement; names that end in `significant` count only significant differences."""
    tables = RankingTables(inputs["models"].parent)
    name = parts.get("figure") or parts["statistic"]
    kind = name.removesuffix("-significant")
    statistic = PLAIN if kind == name else tables.tested
    if statistic is None:
        return draw_note(NO_TEST), (CATEGORIES if kind == "categories" else PAIRWISE, [])
    if kind == "tau":
        return draw_benchmarks(tables, statistic, parts["condition"])
    return draw_means(tables, statistic) if kind == "mean-tau" else draw_categories(tables, statistic)


def draw_means(tables: RankingTables, statistic: str) -> DrawnFigure:
    """Draw each benchmark's mean tau with all others, one bar per condition [TrainBeforeTest, Figs. 2, 12].

    Benchmarks are sorted by the first condition; whiskers are intervals.
    """
    rows = [row for row in tables.read("means") if row["statistic"] == statistic]
    values = {(row["condition"], row["first"]): row for row in rows}
    names = list(dict.fromkeys(row["first"] for row in rows))
    # benchmarks without tau, constant over models, come first
    means = {name: values[tables.conditions[0], name]["value"] for name in names}
    names.sort(key=lambda name: -math.inf if math.isnan(means[name]) else means[name])
    titles = [clean_name(tables.benchmarks[name].title) for name in names]
    figure = make_figure(max(5.0, 1.5 + 0.36 * len(names)), 3.2 + 0.7 * measure_names(titles, 9))
    axes = figure.subplots()
    width = 0.8 / len(tables.conditions)
    for place, condition in enumerate(tables.conditions):
        lines = [values[condition, name] for name in names]
        heights, lows, highs = ([line[key] for line in lines]
                                for key in ("value", "ci_low", "ci_high"))  # fmt: skip
        at = [column + (place - (len(tables.conditions) - 1) / 2) * width for column in range(len(names))]
        axes.bar(at, heights, width, label=title_condition(condition), **condition_style(place))
        axes.vlines(at, lows, highs, color="0.25", linewidth=0.9)
    axes.set_xticks(range(len(names)), titles, rotation=45, ha="right", rotation_mode="anchor")
    axes.grid(False, axis="x")
    axes.set_xlim(-0.6, len(names) - 0.4)
    lowest = min([0.0, *(row["ci_low"] for row in rows if not math.isnan(row["ci_low"]))])
    axes.set_ylim(lowest - 0.05 * (lowest < 0), 1.0)  # an interval ends above the axis
    axes.set_ylabel(f"Mean {label_statistic(statistic)}")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(tables.conditions))
    return figure, (PAIRWISE, [values[s, t] for s in tables.conditions for t in names])


def draw_benchmarks(tables: RankingTables, statistic: str, condition: str) -> DrawnFigure:
    """Draw a heat map of tau of every two benchmarks in one condition, by category.

    Source: [TrainBeforeTest, Figs. 9, 10, 14, 15].
    """
    names = [name for name, each in tables.benchmarks.items() if not each.corpus]
    pairs = (row for row in tables.read("pairwise") if row["first"] in names and row["second"] in names)
    every = [row for row in pairs if row["statistic"] == statistic]
    rows = [row for row in every if row["condition"] == condition]
    values = _fill(rows, names)
    # one scale for all conditions, so that a colour means the same in each figure
    lowest = _find_lowest([[row["value"] for row in every if row["condition"] in tables.conditions]])
    titles = [tables.benchmarks[name].title for name in names]
    side = 1.2 + measure_names(titles, 9) + 0.36 * len(names)
    figure = make_figure(side + 1.0, side)
    axes = figure.subplots()
    image = draw_matrix(axes, values, titles, titles, size=7.0, lowest=lowest)
    categories = [tables.benchmarks[name].category for name in names]
    for place in range(1, len(names)):
        if categories[place] != categories[place - 1]:
            axes.axhline(place - 0.5, color="white", linewidth=2.5)
            axes.axvline(place - 0.5, color="white", linewidth=2.5)
    add_colorbar(figure, image, axes, label_statistic(statistic))
    mean = next(row for row in tables.read("agreement")
                if (row["condition"], row["statistic"]) == (condition, f"mean_{statistic}"))  # fmt: skip
    axes.set_title(f"{title_condition(condition)}: mean {_describe(mean)}")
    return figure, (PAIRWISE, rows)


def draw_categories(tables: RankingTables, statistic: str) -> DrawnFigure:
    """Draw mean tau within and between categories by condition [TrainBeforeTest, Figs. 3, 13]."""
    rows = [row for row in tables.read("categories") if row["statistic"] == statistic]
    names = list(dict.fromkeys(name for row in rows for name in (row["first"], row["second"])))
    if not names:
        return draw_note("The benchmarks have no categories."), (CATEGORIES, [])
    grids = [_fill([row for row in rows if row["condition"] == condition], names, diagonal=math.nan)
             for condition in tables.conditions]  # fmt: skip
    lowest = min(_find_lowest(grid) for grid in grids)
    side = 1.2 + measure_names(names, 9) + 0.55 * len(names)
    figure = make_figure(side * len(grids) + 1.0, side)
    panels = figure.subplots(1, len(grids), squeeze=False)[0]
    for axes, condition, grid in zip(panels, tables.conditions, grids, strict=True):
        image = draw_matrix(axes, grid, names, names, size=9.0, lowest=lowest)
        axes.set_title(title_condition(condition))
    add_colorbar(figure, image, list(panels), f"Mean {label_statistic(statistic)}")
    return figure, (CATEGORIES, rows)


def _fill(rows: list[Row], names: list[str], diagonal: float = 1.0) -> list[list[float]]:
    """Return a symmetric matrix from the rows of its pairs, with a default for the diagonal."""
    found = {(row["first"], row["second"]): row["value"] for row in rows}
    return [
        [found.get((a, b), found.get((b, a), diagonal if a == b else math.nan)) for b in names] for a in names
    ]


def _find_lowest(values: list[list[float]]) -> float:
    known = [value for line in values for value in line if not math.isnan(value)]
    return min(0.0, math.floor(10 * min(known, default=0.0)) / 10)


def _describe(row: Row) -> str:
    value, low, high = (row[key] for key in ("value", "ci_low", "ci_high"))
    return f"{value:.2f}" if math.isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"
