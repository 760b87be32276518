"""How far tasks agree: with the others, in pairs, by category [TrainBeforeTest, Figs. 2, 3, 9, 10, 12-15]."""

import math
from typing import TYPE_CHECKING, Any

from fathom.figures.ranking import (
    RankingTables,
    add_colorbar,
    draw_matrix,
    draw_note,
    label_statistic,
    measure_names,
    read_number,
    setting_look,
    title_setting,
)
from fathom.figures.style import clean_name, make_figure
from fathom.io.contracts.ranking import CATEGORY_COLUMNS, PAIRWISE_COLUMNS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]

NO_TEST = "There is no test of differences: the table of scores has no standard errors."


def draw_means(tables: RankingTables, statistic: str | None) -> tuple["Figure", Table]:
    """Draw each task's mean tau with all others as bars, a bar for each setting.

    Source: [TrainBeforeTest, Figs. 2, 12].

    Tasks are in the order of the first setting; whiskers are intervals.

    Returns
    -------
    (matplotlib.figure.Figure, (header, rows))
        The figure and its numbers.
    """
    if statistic is None:
        return draw_note(NO_TEST), (PAIRWISE_COLUMNS, [])
    rows = [row for row in tables.read("means") if row["statistic"] == statistic]
    values = {(row["setting"], row["first"]): row for row in rows}
    tasks = list(dict.fromkeys(row["first"] for row in rows))
    # a task without tau, the same for all models, comes first
    tasks.sort(key=lambda task: float(values[tables.settings[0], task]["value"] or "-inf"))
    titles = [clean_name(tables.benchmarks[task].title) for task in tasks]
    figure = make_figure(max(5.0, 1.5 + 0.36 * len(tasks)), 3.2 + 0.7 * measure_names(titles, 9))
    axes = figure.subplots()
    width = 0.8 / len(tables.settings)
    for place, setting in enumerate(tables.settings):
        lines = [values[setting, task] for task in tasks]
        heights, lows, highs = ([read_number(line[key]) for line in lines]
                                for key in ("value", "ci_low", "ci_high"))  # fmt: skip
        at = [task + (place - (len(tables.settings) - 1) / 2) * width for task in range(len(tasks))]
        axes.bar(at, heights, width, label=title_setting(setting), **setting_look(place))
        axes.vlines(at, lows, highs, color="0.25", linewidth=0.9)
    axes.set_xticks(range(len(tasks)), titles, rotation=45, ha="right", rotation_mode="anchor")
    axes.grid(False, axis="x")
    axes.set_xlim(-0.6, len(tasks) - 0.4)
    axes.set_ylim(min([0.0, *(float(row["ci_low"]) for row in rows if row["ci_low"])]), 1.0)
    axes.set_ylabel(f"Mean {label_statistic(statistic)}")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(tables.settings))
    return figure, (PAIRWISE_COLUMNS, [tuple(values[s, t].values()) for s in tables.settings for t in tasks])


def draw_tasks(tables: RankingTables, statistic: str | None, setting: str) -> tuple["Figure", Table]:
    """Draw tau of every two tasks in one setting as a heat map, by category.

    Source: [TrainBeforeTest, Figs. 9, 10, 14, 15].
    """
    if statistic is None:
        return draw_note(NO_TEST), (PAIRWISE_COLUMNS, [])
    tasks = [name for name, each in tables.benchmarks.items() if not each.corpus]
    rows = [row for row in tables.read("pairwise")
            if (row["setting"], row["statistic"]) == (setting, statistic)
            and row["first"] in tasks and row["second"] in tasks]  # fmt: skip
    values = _fill(rows, tasks)
    titles = [tables.benchmarks[task].title for task in tasks]
    side = 1.2 + measure_names(titles, 9) + 0.36 * len(tasks)
    figure = make_figure(side + 1.0, side)
    axes = figure.subplots()
    image = draw_matrix(axes, values, titles, titles, size=7.0, lowest=_find_lowest(values))
    categories = [tables.benchmarks[task].category for task in tasks]
    for place in range(1, len(tasks)):
        if categories[place] != categories[place - 1]:
            axes.axhline(place - 0.5, color="white", linewidth=2.5)
            axes.axvline(place - 0.5, color="white", linewidth=2.5)
    add_colorbar(figure, image, axes, label_statistic(statistic))
    mean = next(row for row in tables.read("agreement")
                if (row["setting"], row["statistic"]) == (setting, f"mean_{statistic}"))  # fmt: skip
    axes.set_title(f"{title_setting(setting)}: mean {_describe(mean)}")
    return figure, (PAIRWISE_COLUMNS, [tuple(row.values()) for row in rows])


def draw_categories(tables: RankingTables, statistic: str | None) -> tuple["Figure", Table]:
    """Draw mean tau within and between categories, a heat map for each setting.

    Source: [TrainBeforeTest, Figs. 3, 13].
    """
    if statistic is None:
        return draw_note(NO_TEST), (CATEGORY_COLUMNS, [])
    rows = [row for row in tables.read("categories") if row["statistic"] == statistic]
    names = list(dict.fromkeys(name for row in rows for name in (row["first"], row["second"])))
    if not names:
        return draw_note("The tasks have no categories."), (CATEGORY_COLUMNS, [])
    grids = [_fill([row for row in rows if row["setting"] == setting], names, diagonal=math.nan)
             for setting in tables.settings]  # fmt: skip
    lowest = min(_find_lowest(grid) for grid in grids)
    side = 1.2 + measure_names(names, 9) + 0.55 * len(names)
    figure = make_figure(side * len(grids) + 1.0, side)
    panels = figure.subplots(1, len(grids), squeeze=False)[0]
    for axes, setting, grid in zip(panels, tables.settings, grids, strict=True):
        image = draw_matrix(axes, grid, names, names, size=9.0, lowest=lowest)
        axes.set_title(title_setting(setting))
    add_colorbar(figure, image, list(panels), f"Mean {label_statistic(statistic)}")
    return figure, (CATEGORY_COLUMNS, [tuple(row.values()) for row in rows])


def _fill(rows: list[dict[str, str]], names: list[str], diagonal: float = 1.0) -> list[list[float]]:
    """Return a symmetric matrix from the rows of its pairs; the diagonal as given, unless a row says it."""
    found = {(row["first"], row["second"]): read_number(row["value"]) for row in rows}
    return [
        [found.get((a, b), found.get((b, a), diagonal if a == b else math.nan)) for b in names] for a in names
    ]


def _find_lowest(values: list[list[float]]) -> float:
    """Return 0, or the lowest value rounded down to a tenth where some are below 0."""
    known = [value for line in values for value in line if not math.isnan(value)]
    return min(0.0, math.floor(10 * min(known, default=0.0)) / 10)


def _describe(row: dict[str, str]) -> str:
    """Return a value with its interval as text."""
    value, low, high = (read_number(row[key]) for key in ("value", "ci_low", "ci_high"))
    return f"{value:.2f}" if math.isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"
