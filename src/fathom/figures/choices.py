"""Accuracy on multiple-choice questions by how they are asked [RawCorpora, Figs. 3 (left), 11, 12, 13]."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fathom.errors import InputError
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.style import Series, clean_name, make_figure, wrap_name
from fathom.io.contracts.answering import CHOICE_ACCURACY, EVERY_SET
from fathom.io.delimited import read_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7F7F7F", "#B0A000")
_MARKERS, _LINES = "s^vDPX*hp<>", ("-", "--", ":", "-.")
_NAME, _STEP, _GAP, _WIDTH = 26, 0.105, 0.28, 3.6


class Share(NamedTuple):
    """A share with its interval."""

    value: float
    low: float
    high: float


class Asked(NamedTuple):
    """Accuracy of a model in one variation, and its change from the baseline; None: it is one.

    Attributes
    ----------
    model, variation, factor : str
    accuracy : Share
    change : Share or None
    row : mapping of str to str
        The whole row of the table.
    """

    model: str
    variation: str
    factor: str
    accuracy: Share
    change: Share | None
    row: Mapping[str, str]


def read_accuracy(path: Path | str, factor: str, way: str) -> list[Asked]:
    """Read the rows of one factor, with the baselines of its models.

    Parameters
    ----------
    path : Path or str
        CSV under CHOICE_ACCURACY.
    factor : str
        examples, options, styles or orders; orders come with options.
    way : str
        letter or text.

    Returns
    -------
    list of Asked
        Of all sets together where there are several, in the order of the file.

    Raises
    ------
    InputError
        If a column is missing, a value is no number, or no answer varies the factor.
    """
    rows = read_rows(path, CHOICE_ACCURACY)
    sets = {row["questions"] for row in rows}
    questions = EVERY_SET if EVERY_SET in sets else min(sets, default="")
    some = [row for row in rows if (row["questions"], row["way"]) == (questions, way)]
    factors = {factor, OPTIONS} if factor == ORDERS else {factor}
    models = {row["model"] for row in some if row["factor"] in factors}
    baselines = {(row["model"], row["baseline"]) for row in some if row["factor"] in factors}
    found = []
    for row in some:
        is_baseline = (row["model"], row["variation"]) in baselines
        if row["model"] not in models or not (row["factor"] in factors or is_baseline):
            continue
        accuracy = Share(row["accuracy"], row["ci_low"], row["ci_high"])
        change = Share(row["change"], row["change_low"], row["change_high"])
        told = None if math.isnan(row["change"]) else change
        found.append(Asked(row["model"], row["variation"], row["factor"], accuracy, told, row))
    if not found:
        raise InputError(f"no answers that vary {factor}, way {way!r}", str(path), "ask models that way")
    return found


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw accuracy by how questions were asked, one factor and one way of answering."""
    asked = read_accuracy(inputs["accuracy"], parts["factor"], parts["way"])
    draw = draw_orders if parts["factor"] == ORDERS else draw_factor
    rows = (CHOICE_ACCURACY, [each.row for each in asked])
    return draw(asked, parts["factor"], parts["way"]), rows


def draw_factor(asked: Sequence[Asked], factor: str, way: str) -> "Figure":
    """Draw accuracy, and its change from the baseline, a band for each model; call it inside `use_style`."""
    models = list(dict.fromkeys(each.model for each in asked))
    looks = _style(asked)
    height = _STEP * len(looks) + _GAP
    legend = 0.24 * -(-len(looks) // 4)
    figure = make_figure(2.0 + 2 * _WIDTH, 1.5 + legend + height * len(models))
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, part in ((left, "accuracy"), (right, "change")):
        for variation, look in looks.items():
            some = [each for each in asked if each.variation == variation and getattr(each, part) is not None]
            places = [_place(models, each.model, list(looks).index(variation), len(looks)) for each in some]
            _draw_shares(axes, look, [getattr(each, part) for each in some], places)
        axes.axvline(
            CHANCE if part == "accuracy" else 0, color="0.4", linewidth=0.9, linestyle="--", zorder=1
        )
        axes.locator_params(axis="x", nbins=6)
    left.set_yticks(range(len(models)), [wrap_name(model, _NAME) for model in models])
    left.set_ylim(len(models) - 0.5, -0.5)
    left.set_xlabel("accuracy (dashed: guessing)")
    right.set_xlabel("change from the baseline")
    figure.suptitle(f"{_TITLES[factor]}\n{_tell(asked, way)}", fontsize=10.5)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def draw_orders(asked: Sequence[Asked], factor: str, way: str) -> "Figure":
    """Draw accuracy over the orders of the options, a line for each model; call it inside `use_style`."""
    names = list(dict.fromkeys(each.variation for each in asked))
    models = list(dict.fromkeys(each.model for each in asked))
    widest = max(len(clean_name(model)) for model in models)
    figure = make_figure(1.4 + 0.62 * len(names) + 0.085 * widest, max(3.6, 1.7 + 0.22 * len(models)))
    axes = figure.subplots()
    for place, model in enumerate(models):
        shares = {each.variation: each.accuracy.value for each in asked if each.model == model}
        known = [name for name in names if name in shares]
        axes.plot(
            [names.index(name) for name in known],
            [shares[name] for name in known],
            color=_COLORS[place % len(_COLORS)],
            linestyle=_LINES[place // len(_COLORS) % len(_LINES)],
            marker=_MARKERS[place % len(_MARKERS)],
            markersize=5,
            label=clean_name(model),
        )
    axes.axhline(CHANCE, color="0.4", linewidth=0.9, linestyle="--", zorder=1)
    axes.set_xticks(range(len(names)), [_label(name) for name in names], rotation=40, ha="right")
    axes.set_ylabel("accuracy (dashed: guessing)")
    axes.set_ylim(bottom=0)
    axes.set_title(f"{_TITLES[factor]}\n{_tell(asked, way)}")
    figure.legend(loc="outside right upper")
    return figure


def _tell(asked: Sequence[Asked], way: str) -> str:
    """Return what is counted, for the title."""
    row = asked[0].row
    which = "" if row["questions"] == EVERY_SET else f" of {clean_name(row['questions'])}"
    return f"{row['items']} questions{which}; answer: {_WAYS[way]}"


def _style(asked: Sequence[Asked]) -> dict[str, Series]:
    """Return the look of each variation: baselines in black and first, others apart in colour and marker."""
    names = list(dict.fromkeys(each.variation for each in asked))
    baselines = {each.variation for each in asked if each.change is None}
    ordered = [
        *(name for name in names if name in baselines),
        *(name for name in names if name not in baselines),
    ]
    looks = {}
    for place, name in enumerate(ordered):
        plain = name in baselines
        other = place - len(baselines)
        color = "#000000" if plain else _COLORS[other % len(_COLORS)]
        marker = "o" if plain else _MARKERS[other % len(_MARKERS)]
        looks[name] = Series(_label(name), color, marker, plain or other % 2 == 0, "-")
    return looks


def _label(name: str) -> str:
    """Return what a variation is called in figures."""
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


def _place(models: Sequence[str], model: str, number: int, count: int) -> float:
    """Return the height of a mark in the band of its model."""
    step = _STEP / (_STEP * count + _GAP)
    return models.index(model) + step * (number - (count - 1) / 2)


def _draw_shares(axes: "Axes", look: Series, shares: Sequence[Share], places: Sequence[float]) -> None:
    """Draw values with whiskers, if there are any."""
    if not shares:
        return
    for share, place in zip(shares, places, strict=True):
        axes.plot([share.low, share.high], [place, place], color=look.color, linewidth=1.0, zorder=2)
    axes.plot(
        [share.value for share in shares], places, markersize=4.5, zorder=3, label=look.label, **look.marks()
    )
