"""Ranks on documents from before and after the last day of each model's training text."""

import math
from collections.abc import Sequence

from fathom.config.benchmark import VARIANTS
from fathom.config.short_names import shorten_names
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.model_ranks import label_ranks, scale_axis
from fathom.figures.panels import Row, add_legend, draw_note, draw_rows
from fathom.figures.style import RANKING_COLORS, Series, clean_name, make_figure, wrap_name
from fathom.io import delimited
from fathom.io.contracts.figures import DATES_FIGURE
from fathom.io.contracts.statistics import AFTER, BEFORE, DATES
from fathom.io.delimited import read_rows
from fathom.statistics.aggregates import LEADING

LOOKS = {
    BEFORE: Series("documents up to that day", RANKING_COLORS[0], "o", True, "-"),
    AFTER: Series("later documents", RANKING_COLORS[4], "s", False, "--"),
}
_LINE, _NAME, _NUMBERS = 0.42, 34, ("rank", "ci_low", "ci_high")
_COLUMNS = ("model", "cutoff", "part", *_NUMBERS, "pairs")


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw ranks on documents from before and after the end of each model's training text.

    A line for each model, the earliest cut-off first: the leading statistic of its TF ranks.
    """
    shown = (parts["domain"], VARIANTS[0], LEADING.name)
    ranks = [
        row
        for row in read_rows(inputs["dates"], DATES)
        if (row["domain"], row["variant"], row["aggregate"]) == shown
    ]
    title = clean_name(settings.title or parts["domain"])
    if not ranks:
        return draw_note(f"{title}: no pair comes from a document with a date."), (DATES_FIGURE, [])
    models = sorted({(each["cutoff"], each["model"]) for each in ranks})
    short = shorten_names(model for _, model in models)
    names = [f"{wrap_name(short[model], _NAME)}\n{_tell_dates(model, day, ranks)}" for day, model in models]
    lines = sum(name.count("\n") + 1 for name in names)
    figure = make_figure(7.4, 1.6 + _LINE * lines / 2 + 0.1 * len(models))
    axes = figure.subplots()
    rows = [
        Row(models.index((each["cutoff"], each["model"])), LOOKS[part], *(each[end] for end in _NUMBERS))
        for part in LOOKS
        for each in ranks
        if each["part"] == part
    ]
    handles = draw_rows(axes, names, rows)
    scale_axis(axes, "x", [n for row in rows for n in row[2:] if math.isfinite(n)])
    axes.set_title(title)
    axes.set_xlabel(f"TF: {label_ranks(settings.summary)}")
    add_legend(figure, handles, loc="outside upper center")
    return figure, (DATES_FIGURE, [[each[name] for name in _COLUMNS] for each in ranks])


def _tell_dates(model: str, day: str, ranks: Sequence[delimited.Row]) -> str:
    """Return the last day of a model's text, and the pairs from before and after it."""
    pairs = {each["part"]: each["pairs"] for each in ranks if each["model"] == model}
    before, after = (f"{pairs.get(part, 0):,}" for part in LOOKS)
    return f"{day}: {before} and {after} pairs"
