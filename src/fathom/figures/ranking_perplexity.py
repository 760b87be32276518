"""Tau of perplexity with benchmarks: in each condition, and across conditions by kind of model.

Source: [TrainBeforeTest, Figs. 4, 5].
"""

import math

from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import draw_note
from fathom.figures.ranking import (
    RankingTables,
    add_colorbar,
    draw_matrix,
    label_statistic,
    measure_names,
    title_condition,
)
from fathom.figures.style import make_figure
from fathom.io.contracts.ranking import CORPUS_AGREEMENT
from fathom.ranking.resampled_scores import ALL, KINDS, PLAIN, name_transfer


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw how perplexity goes with tasks, in each condition or across them."""
    tables = RankingTables(inputs["models"].parent)
    return draw_conditions(tables) if parts["figure"] == "perplexity" else draw_transfer(tables)


def draw_conditions(tables: RankingTables) -> DrawnFigure:
    """Draw tau of each corpus with corpora and benchmarks by condition [TrainBeforeTest, Fig. 4]."""
    panels = [(condition, ALL, title_condition(condition)) for condition in tables.conditions]
    return _draw(tables, panels, corpora=True)


def draw_transfer(tables: RankingTables) -> DrawnFigure:
    """Draw tau of perplexity before with benchmarks after tuning, separately for base and chat models.

    Source: [TrainBeforeTest, Fig. 5].
    """
    first, *others = tables.conditions
    panels = [
        (name_transfer(first, other), group, f"{group} models: perplexity {first}, benchmarks {other}")
        for other in others
        for group in KINDS
    ]
    return _draw(tables, [(s, g, t[:1].upper() + t[1:]) for s, g, t in panels], corpora=False)


def _draw(tables: RankingTables, panels: list[tuple[str, str, str]], corpora: bool) -> DrawnFigure:
    rows = tables.read("perplexity")
    names = [name for name, each in tables.benchmarks.items() if each.corpus]
    columns = [*(names if corpora else []), *(n for n, each in tables.benchmarks.items() if not each.corpus)]
    grids: list[tuple[str, list[list[float]]]] = []
    used = []
    for condition, group, title in panels:
        some = [row for row in rows if (row["condition"], row["group"]) == (condition, group)
                and row["benchmark"] in columns]  # fmt: skip
        if some:
            values = {(row["corpus"], row["benchmark"]): row["value"] for row in some}
            tasks = [v for (_, name), v in values.items() if name not in names and not math.isnan(v)]
            mean = sum(tasks) / len(tasks) if tasks else math.nan
            grids.append((f"{title}: mean over benchmarks {mean:.2f}, {some[0]['models']} models",
                          [[values.get((a, b), math.nan) for b in columns] for a in names]))  # fmt: skip
            used += some
    if not grids:
        return draw_note("There is no perplexity of enough models."), (CORPUS_AGREEMENT, [])
    known = [value for _, grid in grids for line in grid for value in line if not math.isnan(value)]
    lowest = min(0.0, math.floor(10 * min(known, default=0.0)) / 10)
    titles = [tables.benchmarks[name].title for name in columns]
    width = 1.6 + measure_names(tables.benchmarks[name].title for name in names) + 0.37 * len(columns)
    height = 0.7 + len(grids) * (0.45 + 0.34 * len(names)) + 0.7 * measure_names(titles, 9)
    figure = make_figure(max(width, 7.0), height)
    axes_of = figure.subplots(len(grids), 1, squeeze=False, sharex=True)[:, 0]
    for axes, (title, grid) in zip(axes_of, grids, strict=True):
        image = draw_matrix(
            axes, grid, [tables.benchmarks[name].title for name in names], titles, 7.0, lowest
        )
        axes.set_title(title)
        if corpora:
            axes.axvline(len(names) - 0.5, color="0.3", linewidth=1.2)
    add_colorbar(figure, image, list(axes_of), label_statistic(PLAIN))
    return figure, (CORPUS_AGREEMENT, used)
