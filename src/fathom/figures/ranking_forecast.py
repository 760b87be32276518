"""How the change of agreement becomes significant with the number of models."""

from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import draw_note
from fathom.figures.ranking import RankingTables, condition_color
from fathom.figures.style import clean_name, make_figure
from fathom.io.contracts.ranking import FORECAST


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the change of mean tau and the share of significant samples against the number of models.

    The band holds 95 % of the samples drawn; the last point is the whole table.
    """
    rows = RankingTables(inputs["models"].parent).read("forecast")
    if not rows:
        return draw_note("A forecast needs two conditions."), (FORECAST, [])
    figure = make_figure(7.4, 3.3)
    changes, shares = figure.subplots(1, 2)
    for place, condition in enumerate(dict.fromkeys(row["condition"] for row in rows)):
        some = [row for row in rows if row["condition"] == condition]
        sizes = [row["models"] for row in some]
        values, lows, highs, power = ([row[key] for row in some] for key in
                                      ("change", "ci_low", "ci_high", "significant"))  # fmt: skip
        look = {"color": condition_color(place), "label": clean_name(condition)}
        changes.plot(sizes, values, marker="o", **look)
        changes.fill_between(sizes, lows, highs, color=look["color"], alpha=0.2, linewidth=0)
        shares.plot(sizes, [100 * share for share in power], marker="o", **look)
    changes.axhline(0, color="0.25", linewidth=0.9)
    changes.set_ylabel("Change of mean tau-b")
    shares.set_ylabel("Samples with a significant change (%)")
    shares.set_ylim(0, 105)
    for axes in (changes, shares):
        axes.set_xlabel("Models")
        axes.set_xlim(left=0)
        axes.xaxis.get_major_locator().set_params(integer=True)
    shares.legend(loc="lower right")
    return figure, (FORECAST, rows)
