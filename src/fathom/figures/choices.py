"""Accuracy on multiple-choice questions by how they are asked [RawCorpora, Figs. 3 (left), 11, 12, 13]."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.config.short_names import shorten_names
from fathom.errors import InputError
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import (
    PanelRow,
    add_legend,
    draw_values,
    list_handles,
    measure_columns,
    wrap_column,
)
from fathom.figures.style import SERIES_COLORS, SERIES_MARKERS, Series, clean_name, make_figure, style_series
from fathom.io.contracts.answering import CHOICE_ACCURACY, EVERY_SET
from fathom.io.delimited import Row, read_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDERS, OPTIONS = "orders", "options"
CHANCE = 0.25
"""Share of right answers by guessing among four options."""

_TITLES = {
    "examples": "The right options of the examples moved to one letter, or shuffled",
    OPTIONS: "The right options of the questions moved to one letter, or shuffled",
    "styles": "Styles of the prompt",
    ORDERS: "Accuracy by the order of the options",
}
_WAYS = {"letter": "the most likely letter", "text": "the letter in what a model writes"}
_LINES = ("-", "--", ":", "-.")
_LEAST, _HEIGHT = 7.2, 2.5  # inches: of the figure, of axes


def read_accuracy(path: Path | str, factor: str, way: str) -> list[Row]:
    """Read the rows of one factor from a table under CHOICE_ACCURACY, with the baselines of its models.

    They are of all sets together where there are several. Raise `InputError` if no answer varies the factor.
    """
    rows = read_rows(path, CHOICE_ACCURACY)
    sets = {row["questions"] for row in rows}
    questions = EVERY_SET if EVERY_SET in sets else min(sets, default="")
    some = [row for row in rows if (row["questions"], row["way"]) == (questions, way)]
    factors = {factor, OPTIONS} if factor == ORDERS else {factor}
    models = {row["model"] for row in some if row["factor"] in factors}
    baselines = {(row["model"], row["baseline"]) for row in some if row["factor"] in factors}
    found = [
        row
        for row in some
        if row["model"] in models
        and (row["factor"] in factors or (row["model"], row["variation"]) in baselines)
    ]
    if not found:
        raise InputError(f"no answers that vary {factor}, way {way!r}", str(path), "ask models that way")
    return found


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw accuracy by how questions were asked, one factor and one way of answering."""
    asked = read_accuracy(inputs["accuracy"], parts["factor"], parts["way"])
    draw = draw_orders if parts["factor"] == ORDERS else draw_factor
    return draw(asked, parts["factor"], parts["way"]), (CHOICE_ACCURACY, asked)


def draw_factor(asked: Sequence[Row], factor: str, way: str) -> "Figure":
    """Draw accuracy, and its relative change from the baseline, a band for each model; inside `use_style`."""
    from matplotlib.ticker import PercentFormatter

    models = list(dict.fromkeys(each["model"] for each in asked))
    looks = _style(asked)
    columns = measure_columns([wrap_column(model) for model in models], len(looks))
    width = max(_LEAST, 1.1 + columns.width * len(models))
    height = 1.5 + 0.24 * -(-len(looks) // 4) + columns.below + 2 * _HEIGHT
    figure = make_figure(width, height)
    top, bottom = figure.subplots(2, 1, sharex=True)
    for axes, *ends in (
        (top, "accuracy", "ci_low", "ci_high"),
        (bottom, "relative_change", "relative_low", "relative_high"),
    ):
        for number, (variation, look) in enumerate(looks.items()):
            rows = [
                PanelRow(
                    columns.place(models.index(each["model"]), number), look, *(each[end] for end in ends)
                )
                for each in asked
                if each["variation"] == variation and not isnan(each[ends[0]])
            ]
            if rows:
                draw_values(axes, look, rows, 1.0, 4.5, upright=True).set_label(look.label)
        axes.locator_params(axis="y", nbins=6)
    for axes, level in ((top, CHANCE), (bottom, 0)):
        axes.axhline(level, color="0.4", linewidth=0.9, linestyle="--", zorder=1)
    columns.name(bottom)
    top.set_ylabel("accuracy (dashed: guessing)")
    bottom.set_ylabel("change from the baseline,\nrelative to its accuracy")
    bottom.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    figure.suptitle(f"{_TITLES[factor]}\n{_tell(asked, way)}", fontsize=10.5)
    add_legend(figure, list_handles(top), 4)
    return figure


def draw_orders(asked: Sequence[Row], factor: str, way: str) -> "Figure":
    """Draw accuracy over the orders of the options, a line for each model; call it inside `use_style`."""
    names = list(dict.fromkeys(each["variation"] for each in asked))
    models = list(dict.fromkeys(each["model"] for each in asked))
    short = {model: clean_name(name) for model, name in shorten_names(models).items()}
    widest = max(map(len, short.values()))
    figure = make_figure(1.4 + 0.62 * len(names) + 0.085 * widest, max(3.6, 1.7 + 0.22 * len(models)))
    axes = figure.subplots()
    for place, model in enumerate(models):
        shares = {each["variation"]: each["accuracy"] for each in asked if each["model"] == model}
        known = [name for name in names if name in shares]
        axes.plot(
            [names.index(name) for name in known],
            [shares[name] for name in known],
            color=SERIES_COLORS[place % len(SERIES_COLORS)],
            linestyle=_LINES[place // len(SERIES_COLORS) % len(_LINES)],
            marker=SERIES_MARKERS[place % len(SERIES_MARKERS)],
            markersize=5,
            label=short[model],
            clip_on=False,  # marks at 0 are whole
        )
    axes.axhline(CHANCE, color="0.4", linewidth=0.9, linestyle="--", zorder=1)
    axes.set_xticks(range(len(names)), [_label(name) for name in names], rotation=40, ha="right")
    axes.set_ylabel("accuracy (dashed: guessing)")
    axes.set_ylim(bottom=0)
    axes.set_title(f"{_TITLES[factor]}\n{_tell(asked, way)}")
    figure.legend(loc="outside right upper")
    return figure


def _tell(asked: Sequence[Row], way: str) -> str:
    """Return what is counted, for the title."""
    row = asked[0]
    which = "" if row["questions"] == EVERY_SET else f" of {clean_name(row['questions'])}"
    return f"{row['items']} questions{which}; answer: {_WAYS[way]}"


def _style(asked: Sequence[Row]) -> dict[str, Series]:
    """Return the look of each variation: baselines in black and first, others apart in colour and marker."""
    names = list(dict.fromkeys(each["variation"] for each in asked))
    baselines = {each["variation"] for each in asked if isnan(each["change"])}
    ordered = sorted(names, key=lambda name: name not in baselines)
    looks = {}
    for place, name in enumerate(ordered):
        plain = Series(_label(name), "#000000", "o", True, "-")
        looks[name] = plain if name in baselines else style_series(_label(name), place - len(baselines))
    return looks


def _label(name: str) -> str:
    kind, _, rest = name.partition("-")
    plain = {"as-shipped": "as shipped"}
    words = {
        "examples": "examples",
        "options": "options",
        "right": "right:",
        "order": "moved by",
        "style": "",
    }
    return plain.get(name) or f"{words[kind]} {rest.replace('-', ' ')}".strip()
