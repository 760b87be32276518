"""Agreement of benchmarks after preparations of different cost."""

import math

from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.ranking import RankingTables, condition_color
from fathom.figures.style import make_figure
from fathom.io.contracts.ranking import PREPARATION


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw mean tau against training examples and against epochs; whiskers are intervals over models."""
    rows = RankingTables(inputs["models"].parent).read("preparation")
    whole = rows[-1]
    figure = make_figure(7.4, 3.3)
    left, right = figure.subplots(1, 2, sharey=True)
    panels = [
        (
            left,
            "examples",
            "Training examples",
            [row for row in rows if row["epochs"] in (0, whole["epochs"])],
        ),
        (right, "epochs", "Epochs", [row for row in rows if row["examples"] in (0, whole["examples"])]),
    ]
    for place, (axes, key, title, chosen) in enumerate(panels):
        some = sorted(chosen, key=lambda row: math.inf if row[key] is None else row[key])
        at = range(len(some))
        values, lows, highs = ([row[name] for row in some]
                               for name in ("mean_tau", "ci_low", "ci_high"))  # fmt: skip
        axes.vlines(at, lows, highs, color="0.25", linewidth=0.9)
        axes.plot(at, values, marker="o", color=condition_color(place))
        axes.set_xticks(at, ["all" if row[key] is None else row[key] for row in some])
        for where, row in zip(at, some, strict=True):
            axes.annotate(row["pairs"], (where, row["mean_tau"]), xytext=(4, 4), textcoords="offset points")
        axes.set_xlabel(title)
    left.set_ylabel("Mean tau-b of two benchmarks")
    return figure, (PREPARATION, rows)
