"""Answers to questions: by form, level and prompting, as radar charts, by thresholds.

Source: [CompComp, Table 3, Fig. 6], over t_d and t_c [CompComp, Table 4].
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import cos, isnan, nan, pi, sin
from typing import TYPE_CHECKING

from fathom.config.short_names import shorten_names
from fathom.errors import InputError
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import add_legend, list_handles, make_panels, name_rows
from fathom.figures.style import clean_name, make_figure, wrap_name
from fathom.io.contracts.questions import QUESTION_SCORES, QUESTION_THRESHOLDS
from fathom.io.delimited import Row, read_rows
from fathom.questions.answer_scores import CHANCE
from fathom.statistics.metrics import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.projections.polar import PolarAxes


SHOWN = (
    ("binary", "memorise", "accuracy"),
    ("multiple-choice", "understand", "accuracy"),
    ("multiple-answer", "understand", "recall"),
    ("multiple-answer", "understand", "precision"),
    ("multiple-answer", "understand", "f1"),
    ("multiple-answer", "apply", "recall"),
    ("multiple-answer", "apply", "precision"),
    ("multiple-answer", "apply", "f1"),
    ("open", "create", "bleu_2"),
    ("open", "create", "bleu_4"),
)
"""Form, level and metric of the columns of the paper's Table 3, which are the spokes of its radar charts."""
LEADING = (SHOWN[0], SHOWN[1], SHOWN[4], SHOWN[7], SHOWN[9])
"""The metric of each form and level that has a panel."""
_LOOKS = {"plain": ("#0072B2", "o"), "few-shot": ("#E69F00", "s"), "rag": ("#009E73", "^")}
_LINES = (("-", "solid"), ("--", "dashed"), (":", "dotted"), ("-.", "dashes and dots"))


def draw_answers_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the scores of all models on a set of questions: by form and level, or radar charts."""
    is_radar = parts["figure"] == "radar"
    rows = read_rows(inputs["scores"], QUESTION_SCORES)
    own = _select(rows, parts["set"], SHOWN if is_radar else LEADING)
    figure = draw_radar(own, parts["set"], settings.bases) if is_radar else draw_scores(own, parts["set"])
    return figure, (QUESTION_SCORES, own)


def draw_scores(rows: Sequence[Row], title: str) -> "Figure":
    """Draw a panel for each form and level, models by prompting; call it inside `use_style`."""
    spokes = [each for each in LEADING if any(_is_of(row, each) for row in rows)]
    models = list(dict.fromkeys(row["model"] for row in rows))
    height = 1.5 + 0.32 * len(models)
    figure, grid = make_panels(len(spokes), 3, (0.0, 3.1), (1.2, height), 4.5, sharey=True)
    figure.suptitle(wrap_name(clean_name(title), 70))
    for axes, spoke in zip(grid.flat, spokes, strict=False):
        _draw_panel(axes, [row for row in rows if _is_of(row, spoke)], models)
        form, level, metric = spoke
        axes.set_title(f"{form}, {level}")
        axes.set_xlabel(METRICS[metric].label)
        if form in CHANCE:
            axes.axvline(CHANCE[form], color="#999999", linestyle=":", zorder=0)
    add_legend(figure, list_handles(grid.flat[0]), len(_LOOKS))
    return figure


def _draw_panel(axes: "Axes", rows: Sequence[Row], models: Sequence[str]) -> None:
    promptings = [name for name in _LOOKS if any(row["prompting"] == name for row in rows)]
    for place, prompting in enumerate(promptings):
        own = {row["model"]: row for row in rows if row["prompting"] == prompting and not isnan(row["value"])}
        color, marker = _LOOKS[prompting]
        shift = 0.22 * (place - (len(promptings) - 1) / 2)
        heights = [models.index(model) + shift for model in own]
        values = [row["value"] for row in own.values()]
        axes.errorbar(
            values, heights, xerr=measure_ends(own.values()), color=color, marker=marker, linestyle="none",
            label=prompting, markersize=4,
        )  # fmt: skip
    name_rows(axes, [wrap_name(name, 24) for name in shorten_names(models).values()])
    axes.set_xlim(-0.02, 1.02)


def measure_ends(rows: Iterable[Row]) -> list[list[float]]:
    """Return how far both ends of intervals lie from their values; 0 without an interval."""
    every = [*rows]
    return [
        [0.0 if isnan(row[end]) else abs(row[end] - row["value"]) for row in every]
        for end in ("ci_low", "ci_high")
    ]


def draw_radar(rows: Sequence[Row], title: str, bases: Mapping[str, str]) -> "Figure":
    """Draw a chart for each family of models, a line for each model and prompting; inside `use_style`."""
    spokes = [each for each in SHOWN if any(_is_of(row, each) for row in rows)]
    families = _group(list(dict.fromkeys(row["model"] for row in rows)), bases)
    polar = {"projection": "polar"}
    figure, grid = make_panels(len(families), 3, (0.0, 5.0), (1.3, 4.0), 5.4, subplot_kw=polar)
    figure.suptitle(wrap_name(clean_name(title), 70))
    for axes, (first, models) in zip(grid.flat, families.items(), strict=False):
        for (place, model), prompting in product(enumerate(models), _LOOKS):
            own = [row for row in rows if (row["model"], row["prompting"]) == (model, prompting)]
            if own:
                _draw_line(axes, own, spokes, prompting, place)
        _name_spokes(axes, spokes)
        axes.set_title(_name_family(models) or first, pad=32, fontsize=10)
    add_legend(figure, list_handles(*grid.flat), len(_LOOKS))
    return figure


def _name_family(models: Sequence[str]) -> str:
    names = [wrap_name(name, 40) for name in shorten_names(models).values()]
    if len(names) < 2:
        return "".join(names)
    return "\n".join(f"{_LINES[place % len(_LINES)][1]}: {name}" for place, name in enumerate(names))


def _draw_line(
    axes: "PolarAxes", rows: Sequence[Row], spokes: Sequence[tuple[str, str, str]], prompting: str, place: int
) -> None:
    """Draw one closed line; a value that there is not leaves a gap."""
    values = [next((row["value"] for row in rows if _is_of(row, spoke)), nan) for spoke in spokes]
    angles = [2 * pi * number / len(spokes) for number in range(len(spokes))]
    color, marker = _LOOKS[prompting]
    label = prompting if place == 0 else f"{prompting}, trained" + (f" ({place})" if place > 1 else "")
    axes.plot(
        [*angles, angles[0]], [*values, values[0]], color=color, marker=marker, markersize=3,
        linestyle=_LINES[place % len(_LINES)][0], label=label, linewidth=1.1,
    )  # fmt: skip


def _name_spokes(axes: "PolarAxes", spokes: Sequence[tuple[str, str, str]]) -> None:
    """Name what the spokes are, the first at the top."""
    short = {"multiple-choice": "choice", "multiple-answer": "answers"}
    of_level = {form: "" for form, *_ in spokes} | {"multiple-answer": " ({})"}
    names = [
        f"{short.get(form, form)}{of_level[form].format(level)}\n{METRICS[metric].label}"
        for form, level, metric in spokes
    ]
    axes.set_theta_offset(pi / 2)
    axes.set_theta_direction(-1)
    angles = [2 * pi * number / len(spokes) for number in range(len(spokes))]
    axes.set_xticks(angles, [])
    for angle, name in zip(angles, names, strict=True):
        side = "center" if abs(sin(angle)) < 0.1 else "left" if sin(angle) > 0 else "right"
        end = "center" if side != "center" else "bottom" if cos(angle) > 0 else "top"
        axes.text(angle, 1.1 if side != "center" else 1.05, name, ha=side, va=end, fontsize=7)
    axes.set_ylim(0, 1)
    axes.set_yticks([0.25, 0.5, 0.75, 1.0], ["", "0.5", "", "1"], fontsize=7)


def _group(models: Sequence[str], bases: Mapping[str, str]) -> dict[str, list[str]]:
    """Return models by the one that they come from, itself first."""
    found: dict[str, list[str]] = {}
    for model in sorted(models, key=lambda name: (name in bases, models.index(name))):
        first = model
        while first in bases and bases[first] in models:
            first = bases[first]
        found.setdefault(first, []).append(model)
    return found


def _select(rows: Iterable[Row], name: str, wanted: Sequence[tuple[str, str, str]]) -> list[Row]:
    own = [row for row in rows if row["set"] == name and not row["template"]]
    found = [row for row in own if any(_is_of(row, each) for each in wanted)]
    if not found:
        raise InputError(f"there are no scores of {name}", "question-scores.csv", "let a model answer it")
    return found


def _is_of(row: Row, spoke: tuple[str, str, str]) -> bool:
    return (row["form"], row["level"], row["metric"]) == spoke


_PARAMETERS = (("t_d", "questions"), ("t_c", "records"))
_CLOSED = ("binary", "multiple-choice", "multiple-answer")
"""Forms whose scores are drawn from 0 to 1; BLEU is low."""
_MARKERS = "os^Dv<>P"


def draw_thresholds_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
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
            _draw_thresholds(axes, [row for row in own if _find_kind(row) == kind], models, columns)
            form, level, metric = kind
            axes.set_title(f"{form}, {level}")
            axes.set_ylabel(METRICS[metric].label)
            axes.set_xlabel(f"{parameter}, and {what}")
            if form in _CLOSED:
                axes.set_ylim(-0.02, 1.02)
    handles = {wrap_name(label, 40): handle for label, handle in list_handles(grid.flat[0]).items()}
    add_legend(figure, handles, min(3, len(handles)))
    return figure


def _draw_thresholds(
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
    return "none" if isnan(row["threshold"]) else f"{row['threshold']:g}"


def _find_kind(row: Row) -> tuple[str, str, str]:
    return row["form"], row["level"], row["metric"]
