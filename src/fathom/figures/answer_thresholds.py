"""Scores of answers over t_d and t_c [CompComp, Table 4]."""

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from fathom.config.short_names import shorten_names
from fathom.errors import InputError
from fathom.figures.answers import LEADING, measure_ends
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import add_legend, list_handles
from fathom.figures.style import clean_name, make_figure, wrap_name
from fathom.io.contracts.questions import QUESTION_THRESHOLDS
from fathom.io.delimited import Row, read_rows
from fathom.statistics.metrics import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PARAMETERS = (("t_d", "questions"), ("t_c", "records"))
_CLOSED = ("binary", "multiple-choice", "multiple-answer")
"""Forms whose scores are drawn from 0 to 1; BLEU is low."""
_MARKERS = "os^Dv<>P"


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the scores of all models on a set of questions over both thresholds."""
    rows = read_rows(inputs["scores"], QUESTION_THRESHOLDS)
    own = [row for row in rows if row["set"] == parts["set"] and _find_kind(row) in LEADING]
    if not own:
        hint = "let a model answer it"
        raise InputError(f"there are no scores of {parts['set']}", str(inputs["scores"]), hint)
    return draw_answer_thresholds(own, parts["set"]), (QUESTION_THRESHOLDS, own)


def draw_answer_thresholds(rows: Sequence[Row], title: str) -> "Figure":
    """Draw a row of panels for each threshold, one for each form and level; call it inside `use_style`."""
    kinds = [kind for kind in LEADING if any(_find_kind(row) == kind for row in rows)]
    models = list(dict.fromkeys(row["model"] for row in rows))
    drawn = [each for each in _PARAMETERS if any(row["parameter"] == each[0] for row in rows)]
    figure = make_figure(max(4.5, 2.9 * len(kinds)), 0.9 + 2.5 * len(drawn))
    figure.suptitle(wrap_name(clean_name(title), 70))
    grid = figure.subplots(len(drawn), len(kinds), squeeze=False)
    for line, (parameter, what) in zip(grid, drawn, strict=True):
        own = [row for row in rows if row["parameter"] == parameter]
        columns = list(dict.fromkeys((_label(row), row["size"]) for row in own))
        for axes, kind in zip(line, kinds, strict=True):
            _draw_panel(axes, [row for row in own if _find_kind(row) == kind], models, columns)
            form, level, metric = kind
            axes.set_title(f"{form}, {level}")
            axes.set_ylabel(METRICS[metric].label)
            axes.set_xlabel(f"{parameter}, and {what}")
            if form in _CLOSED:
                axes.set_ylim(-0.02, 1.02)
    handles = {wrap_name(label, 40): handle for label, handle in list_handles(grid.flat[0]).items()}
    add_legend(figure, handles, min(3, len(handles)))
    return figure


def _draw_panel(
    axes: "Axes", rows: Sequence[Row], models: Sequence[str], columns: Sequence[tuple[str, int]]
) -> None:
    """Draw the scores of one form and level, a line for each model, with intervals."""
    for place, (model, name) in enumerate(shorten_names(models).items()):
        own = {_label(row): row for row in rows if row["model"] == model and not isnan(row["value"])}
        shift = 0.12 * (place - (len(models) - 1) / 2)
        where = [number + shift for number, (threshold, _) in enumerate(columns) if threshold in own]
        found = [own[threshold] for threshold, _ in columns if threshold in own]
        axes.errorbar(
            where, [row["value"] for row in found], yerr=measure_ends(found), label=name, color=f"C{place}",
            marker=_MARKERS[place % len(_MARKERS)], markersize=4, linewidth=1.1, clip_on=False,
        )  # fmt: skip
    names = [f"{threshold}\n{size:,}" for threshold, size in columns]
    axes.set_xticks(range(len(columns)), names)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(bottom=0)


def _label(row: Row) -> str:
    """Return a threshold as text."""
    return "none" if isnan(row["threshold"]) else f"{row['threshold']:g}"


def _find_kind(row: Row) -> tuple[str, str, str]:
    """Return the form, level and metric of a score."""
    return row["form"], row["level"], row["metric"]
