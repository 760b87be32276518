"""Questions and answers: scores by form, level and prompting, radar charts, thresholds, examples, choices.

Source: [CompComp, Table 3, Figs. 5, 6], over t_d and t_c [CompComp, Table 4]; [RawCorpora, Figs. 3, 11-13].
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import cos, isnan, nan, pi, sin
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.config.choices import STANDARD
from fathom.config.model_names import ModelName
from fathom.config.scoring import Summary
from fathom.config.short_names import Titles, clean_name, shorten_names
from fathom.errors import InputError
from fathom.figures import panels
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.style import SERIES_COLORS, SERIES_MARKERS, Series, make_figure, style_series, wrap_name
from fathom.io.contracts.answering import CHOICE_ACCURACY, EVERY_SET
from fathom.io.contracts.questions import QUESTION_EXAMPLES, QUESTION_SCORES, QUESTION_THRESHOLDS, QUESTIONS
from fathom.io.delimited import Row, read_rows
from fathom.io.names import show_count
from fathom.io.tables import read_table
from fathom.questions.answer_scores import CHANCE
from fathom.questions.shown import divide_kinds
from fathom.statistics.metrics import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.projections.polar import PolarAxes


Kind = tuple[str, str, str]
"""Form, level and metric."""
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
"""Columns of the paper's Table 3, which are the spokes of its radar charts."""
LEADING = (SHOWN[0], SHOWN[1], SHOWN[4], SHOWN[7], SHOWN[9])
"""The metric of each form and level that has a panel."""
_COUNTED = 9  # letters on n in an inch of a figure
_LOOKS = {"plain": ("#0072B2", "o"), "few-shot": ("#E69F00", "s"), "rag": ("#009E73", "^")}
_PROMPTINGS = {"plain": "question alone", "few-shot": "few-shot", "rag": "nearest records (RAG)"}
_LINES = (("-", "solid"), ("--", "dashed"), (":", "dotted"), ("-.", "dashes and dots"))


def draw_answers_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the scores of all models on a set of questions: by form and level, or radar charts."""
    is_radar = parts["figure"] == "radar"
    rows = read_rows(inputs["scores"], QUESTION_SCORES)
    own = _select(rows, parts["set"], SHOWN if is_radar else LEADING)
    if is_radar:
        return draw_radar(own, parts["set"], settings.bases, settings.titles), (QUESTION_SCORES, own)
    figure = draw_scores(own, parts["set"], settings.summary, settings.bases, settings.titles)
    return figure, (QUESTION_SCORES, own)


def draw_scores(
    rows: Sequence[Row],
    name: str,
    settings: Summary,
    bases: Mapping[str, str] | None = None,
    titles: Titles | None = None,
) -> "Figure":
    """Draw a panel for each form and level, models by prompting; call it inside `use_style`."""
    spokes = _list_kinds(rows, LEADING)
    models = list(dict.fromkeys(row["model"] for row in rows))
    names = name_trained(models, bases or {}, titles)
    height = 1.5 + 0.32 * len(models)
    figure, grid = panels.make_panels(len(spokes), 3, (0.0, 3.1), (1.4, height), 4.5, sharey=True)
    figure.suptitle(f"{panels.entitle_set(name)}\n{panels.describe_intervals(settings)}")
    for axes, spoke in zip(grid.flat, spokes, strict=False):
        own = [row for row in rows if _find_kind(row) == spoke]
        _draw_panel(axes, own, names)
        form, level, metric = spoke
        count = panels.describe_count([row["questions"] for row in own], "question")
        axes.set_title(f"{form}, {level}\n{count}")
        axes.set_xlabel(METRICS[metric].label)
        if form in CHANCE:
            axes.axvline(CHANCE[form], color="#999999", linestyle=":", zorder=0)
    panels.add_legend(figure, panels.list_handles(grid.flat[0]), len(_LOOKS))
    return figure


def name_trained(
    models: Sequence[str], bases: Mapping[str, str], titles: Titles | None = None
) -> dict[str, str]:
    """Return short names of models; one that was trained has that of its base, and says so."""
    short = shorten_names(models, titles)
    named = {
        model: f"{short[bases[model]]}, trained" if bases.get(model) in short else name
        for model, name in short.items()
    }
    return named if len({*named.values()}) == len(named) else short


def _draw_panel(axes: "Axes", rows: Sequence[Row], names: Mapping[str, str]) -> None:
    models = [*names]
    promptings = [name for name in _LOOKS if any(row["prompting"] == name for row in rows)]
    for place, prompting in enumerate(promptings):
        own = {row["model"]: row for row in rows if row["prompting"] == prompting and not isnan(row["value"])}
        color, marker = _LOOKS[prompting]
        shift = 0.22 * (place - (len(promptings) - 1) / 2)
        heights = [models.index(model) + shift for model in own]
        values = [row["value"] for row in own.values()]
        axes.errorbar(
            values, heights, xerr=measure_ends(own.values()), color=color, marker=marker, linestyle="none",
            label=_PROMPTINGS[prompting], markersize=4,
        )  # fmt: skip
    panels.name_rows(axes, [wrap_name(name, 24) for name in names.values()])
    axes.set_xlim(-0.02, 1.02)


def measure_ends(rows: Iterable[Row]) -> list[list[float]]:
    """Return how far both ends of intervals lie from their values; 0 without an interval."""
    every = [*rows]
    return [
        [0.0 if isnan(row[end]) else abs(row[end] - row["value"]) for row in every]
        for end in ("ci_low", "ci_high")
    ]


def draw_radar(
    rows: Sequence[Row], name: str, bases: Mapping[str, str], titles: Titles | None = None
) -> "Figure":
    """Draw a chart for each family of models, a line for each model and prompting; inside `use_style`."""
    spokes = _list_kinds(rows, SHOWN)
    families = _group(list(dict.fromkeys(row["model"] for row in rows)), bases)
    polar = {"projection": "polar"}
    figure, grid = panels.make_panels(len(families), 3, (0.0, 5.0), (1.7, 4.0), 5.4, subplot_kw=polar)
    counted = _count_answers(rows, figure.get_figwidth())
    figure.suptitle(f"{panels.entitle_set(name)}\n{counted}")
    for axes, (first, models) in zip(grid.flat, families.items(), strict=False):
        for (place, model), prompting in product(enumerate(models), _LOOKS):
            own = [row for row in rows if (row["model"], row["prompting"]) == (model, prompting)]
            if own:
                _draw_line(axes, own, spokes, prompting, place)
        _name_spokes(axes, spokes)
        axes.set_title(_name_family(models, titles) or first, pad=32, fontsize=10)
    panels.add_legend(figure, panels.list_handles(*grid.flat), len(_LOOKS))
    return figure


def _count_answers(rows: Sequence[Row], width: float) -> str:
    """Return how many models answer how many questions of each form and level, for a width in inches."""
    found: dict[str, set[int]] = {}
    for row in rows:
        found.setdefault(f"{row['form']} ({row['level']})", set()).add(row["questions"])
    counts = {
        kind: " to ".join(f"{end:,}" for end in sorted({min(some), max(some)}))
        for kind, some in found.items()
    }
    models = panels.describe_count([len({row["model"] for row in rows})], "model")
    text = f"n: {models}; questions: {', '.join(f'{kind} {count}' for kind, count in counts.items())}"
    return wrap_name(text, int(_COUNTED * width))


def _name_family(models: Sequence[str], titles: Titles | None) -> str:
    (first, *others), short = models, shorten_names(models, titles)
    names = [wrap_name(name.removeprefix(f"{short[first]} "), 40) for name in short.values()]
    if not others:
        return "".join(names)
    return "\n".join(f"{_LINES[place % len(_LINES)][1]}: {name}" for place, name in enumerate(names))


def _draw_line(
    axes: "PolarAxes", rows: Sequence[Row], spokes: Sequence[Kind], prompting: str, place: int
) -> None:
    """Draw one closed line; a missing value leaves a gap."""
    values = [next((row["value"] for row in rows if _find_kind(row) == spoke), nan) for spoke in spokes]
    angles = _divide_circle(len(spokes))
    color, marker = _LOOKS[prompting]
    trained = f", trained{f' ({place})' * (place > 1)}" if place else ""
    label = f"{_PROMPTINGS[prompting]}{trained}"
    axes.plot(
        [*angles, angles[0]], [*values, values[0]], color=color, marker=marker, markersize=3,
        linestyle=_LINES[place % len(_LINES)][0], label=label, linewidth=1.1,
    )  # fmt: skip


def _divide_circle(parts: int) -> list[float]:
    return [2 * pi * number / parts for number in range(parts)]


def _name_spokes(axes: "PolarAxes", spokes: Sequence[Kind]) -> None:
    """Label the spokes, the first at the top."""
    short = {"multiple-choice": "choice", "multiple-answer": "answers"}
    of_level = {form: "" for form, *_ in spokes} | {"multiple-answer": " ({})"}
    names = [
        f"{short.get(form, form)}{of_level[form].format(level)}\n{METRICS[metric].label}"
        for form, level, metric in spokes
    ]
    axes.set_theta_offset(pi / 2)
    axes.set_theta_direction(-1)
    angles = _divide_circle(len(spokes))
    axes.set_xticks(angles, [])
    for angle, name in zip(angles, names, strict=True):
        side = "center" if abs(sin(angle)) < 0.1 else "left" if sin(angle) > 0 else "right"
        end = "center" if side != "center" else "bottom" if cos(angle) > 0 else "top"
        axes.text(angle, 1.1 if side != "center" else 1.05, name, ha=side, va=end, fontsize=7)
    axes.set_ylim(0, 1)
    axes.set_yticks([0.25, 0.5, 0.75, 1.0], ["", "0.5", "", "1"], fontsize=7)


def _group(models: Sequence[str], bases: Mapping[str, str]) -> dict[str, list[str]]:
    """Return models by their base, which comes first."""
    found: dict[str, list[str]] = {}
    for model in sorted(models, key=lambda name: (name in bases, models.index(name))):
        first = model
        while first in bases and bases[first] in models:
            first = bases[first]
        found.setdefault(first, []).append(model)
    return found


def _select(rows: Iterable[Row], name: str, wanted: Sequence[Kind]) -> list[Row]:
    found = [row for row in rows if row["set"] == name and not row["template"] and _find_kind(row) in wanted]
    if not found:
        raise InputError(f"there are no scores of {name}", "question-scores.csv", "let a model answer it")
    return found


_PARAMETERS = (
    ("t_d", "t_d: gaps above this percentile get questions; under it: questions"),
    ("t_c", "t_c: records join below this correlation; under it: records"),
)
_PANEL_LETTERS = 30  # in a line of the label below a panel
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
    figure = draw_answer_thresholds(own, parts["set"], settings.summary, settings.bases, settings.titles)
    return figure, (QUESTION_THRESHOLDS, own)


def draw_answer_thresholds(
    rows: Sequence[Row],
    name: str,
    settings: Summary,
    bases: Mapping[str, str] | None = None,
    titles: Titles | None = None,
) -> "Figure":
    """Draw a row of panels for each threshold, one for each form and level; call it inside `use_style`."""
    kinds = _list_kinds(rows, LEADING)
    models = list(dict.fromkeys(row["model"] for row in rows))
    names = name_trained(models, bases or {}, titles)
    drawn = [each for each in _PARAMETERS if any(row["parameter"] == each[0] for row in rows)]
    figure = make_figure(max(4.5, 2.9 * len(kinds)), 1.1 + 2.7 * len(drawn))
    asked = " and ".join(_PROMPTINGS[each] for each in dict.fromkeys(row["prompting"] for row in rows))
    figure.suptitle(f"{panels.entitle_set(name)}\nAsked with: {asked}. {panels.describe_intervals(settings)}")
    grid = figure.subplots(len(drawn), len(kinds), squeeze=False)
    for line, (parameter, what) in zip(grid, drawn, strict=True):
        own = [row for row in rows if row["parameter"] == parameter]
        columns = list(dict.fromkeys((_label(row), row["size"]) for row in own))
        for axes, kind in zip(line, kinds, strict=True):
            some = [row for row in own if _find_kind(row) == kind]
            _draw_thresholds(axes, some, names, columns)
            form, level, metric = kind
            count = panels.describe_count([row["questions"] for row in some], "question")
            axes.set_title(f"{form}, {level}\n{count}")
            axes.set_ylabel(METRICS[metric].label)
            axes.set_xlabel(wrap_name(what, _PANEL_LETTERS))
            if form in _CLOSED:
                axes.set_ylim(-0.02, 1.02)
    handles = {wrap_name(label, 40): handle for label, handle in panels.list_handles(grid.flat[0]).items()}
    panels.add_legend(figure, handles, min(3, len(handles)))
    return figure


def _draw_thresholds(
    axes: "Axes", rows: Sequence[Row], names: Mapping[str, str], columns: Sequence[tuple[str, int]]
) -> None:
    """Draw the scores of one form and level, a line for each model, with intervals."""
    step = min(0.12, 0.8 / len(names))  # all models stand nearer to their threshold than to the next
    for place, (model, name) in enumerate(names.items()):
        own = {_label(row): row for row in rows if row["model"] == model and not isnan(row["value"])}
        shift = step * (place - (len(names) - 1) / 2)
        where = [number + shift for number, (threshold, _) in enumerate(columns) if threshold in own]
        found = [own[threshold] for threshold, _ in columns if threshold in own]
        axes.errorbar(
            where, [row["value"] for row in found], yerr=measure_ends(found), label=name, color=f"C{place}",
            marker=_MARKERS[place % len(_MARKERS)], markersize=4, linewidth=1.1, clip_on=False,
        )  # fmt: skip
    axes.set_xticks(range(len(columns)), [f"{threshold}\n{size:,}" for threshold, size in columns])
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(bottom=0)


def _label(row: Row) -> str:
    return "none" if isnan(row["threshold"]) else f"{row['threshold']:g}"


def _find_kind(row: Row) -> Kind:
    return row["form"], row["level"], row["metric"]


def _list_kinds(rows: Sequence[Row], known: Sequence[Kind]) -> list[Kind]:
    found = {_find_kind(row) for row in rows}
    return [kind for kind in known if kind in found]


_WIDTH, _NAMES, _MARGIN = 8.6, 1.75, 0.2
_LINE_HEIGHT, _GAP, _HEAD = 0.19, 0.16, 0.6
"""Inches: of the figure, of names of forms, at its sides; of a line, between questions, of the title."""
_LETTERS, _MOST_LINES = 66, 6
"""Letters in a line, and lines of a question or option; the rest is cut."""


def draw_examples_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the first question of each form and level of a set."""
    questions = read_table(inputs["questions"], QUESTIONS)
    return draw_examples(questions, parts["set"]), (QUESTION_EXAMPLES, list_examples(questions))


def list_examples(questions: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Return rows under QUESTION_EXAMPLES: the first question of each form and level by its id."""
    return [
        (form, level, len(some), row["question_id"], row["question"], option, is_right)
        for form, level, some in divide_kinds(questions)
        for row in some.head(1).iter_rows(named=True)
        for option, is_right in _list_options(row)
    ]


def draw_examples(questions: pl.DataFrame, name: str) -> "Figure":
    """Draw a table of questions; call it inside `use_style`."""
    examples = [_describe(*each) for each in divide_kinds(questions)]
    height = _HEAD + sum(_GAP + _LINE_HEIGHT * len(lines) for _, lines in examples)
    figure = make_figure(_WIDTH, height)
    figure.set_layout_engine("none")  # lines stand where they are put
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, _WIDTH), ylim=(height, 0))
    axes.set_axis_off()
    figure.suptitle(panels.entitle_set(name), y=1 - 0.12 / height, va="top")
    top = _HEAD
    for names, lines in examples:
        ends = (_MARGIN / _WIDTH, 1 - _MARGIN / _WIDTH)
        axes.axhline(top - (_LINE_HEIGHT + _GAP) / 2, *ends, color="0.7", linewidth=0.6)
        for place, text in enumerate(names):
            axes.text(_MARGIN, top + _LINE_HEIGHT * place, text, va="center")
        for place, (text, is_right) in enumerate(lines):
            weight = "bold" if is_right else "normal"
            axes.text(_MARGIN + _NAMES, top + _LINE_HEIGHT * place, text, va="center", fontweight=weight)
        top += _GAP + _LINE_HEIGHT * len(lines)
    return figure


def _describe(form: str, level: str, some: pl.DataFrame) -> tuple[list[str], list[tuple[str, bool]]]:
    """Return form, level and number of questions, and lines flagged as right answers."""
    row = some.row(0, named=True)
    lines = [(text, False) for text in _wrap(row["question"], "")]
    has_letters = form not in ("binary", "open")
    for place, (option, is_right) in enumerate(_list_options(row)):
        letter = f"{chr(ord('A') + place)}. " if has_letters else ""
        texts = _wrap(f"{letter}{option}", "★ " if is_right else "    ")
        lines += [(text, is_right) for text in texts]
    names = [form, level, show_count(len(some), "question")]
    lines += [("", False)] * (len(names) - len(lines))
    return names, lines


def _list_options(row: Mapping[str, Any]) -> Sequence[tuple[str, bool]]:
    """Return options and whether they are right; for an open question its answer."""
    found = list(zip(row["options"], row["right"], strict=True))
    return found or [(row["answer"], True)]


def _wrap(text: str, start: str) -> list[str]:
    return textwrap.wrap(
        clean_name(text), _LETTERS, initial_indent=start, subsequent_indent="    " if start else "",
        max_lines=_MOST_LINES, placeholder=" …",
    )  # fmt: skip


ORDERS, OPTIONS = "orders", "options"
_GUESSING = 0.25
"""Share of right answers by guessing among four options."""

_TITLES = {
    "examples": "The right options of the examples moved to one letter, or shuffled",
    OPTIONS: "The right options of the questions moved to one letter, or shuffled",
    "styles": "Styles of the prompt",
    ORDERS: "Accuracy by the order of the options",
}
_WAYS = {"letter": "the most likely letter", "text": "the letter in what a model writes"}
_LEAST, _HEIGHT = 7.2, 2.5  # inches: of the figure, of axes
_MOST_SUBJECTS, _SUBJECT_LETTERS = 4, 80  # that are named, and letters in a line


def read_accuracy(path: Path | str, factor: str, way: str) -> list[Row]:
    """Read the rows of one factor from a table under CHOICE_ACCURACY, with the baselines of its models.

    Several sets are taken together. Raise `InputError` if no answer varies the factor.
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
        raise InputError(f"no answers that vary {factor}, way {way!r}", str(path), "ask models this way")
    return found


def draw_choices_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw accuracy by how questions were asked, one factor and one way of answering."""
    asked = read_accuracy(inputs["accuracy"], parts["factor"], parts["way"])
    told = _tell(asked, parts["way"], settings.subjects)
    if parts["factor"] == ORDERS:
        return draw_orders(asked, told), (CHOICE_ACCURACY, asked)
    return draw_factor(asked, parts["factor"], told, settings.summary), (CHOICE_ACCURACY, asked)


def draw_factor(asked: Sequence[Row], factor: str, told: str, settings: Summary) -> "Figure":
    """Draw accuracy, and its relative change from the baseline, a band for each model; inside `use_style`.

    `told`: what was asked, for the title.
    """
    from matplotlib.ticker import PercentFormatter

    models = list(dict.fromkeys(each["model"] for each in asked))
    looks = _style(asked, factor)
    columns = panels.measure_columns(_name_asked(models), len(looks))
    width = max(_LEAST, 1.1 + columns.width * len(models))
    height = 1.7 + 0.24 * -(-len(looks) // 4) + columns.below + 2 * _HEIGHT
    figure = make_figure(width, height)
    top, bottom = figure.subplots(2, 1, sharex=True)
    for axes, *ends in (
        (top, "accuracy", "ci_low", "ci_high"),
        (bottom, "relative_change", "relative_low", "relative_high"),
    ):
        for number, (variation, look) in enumerate(looks.items()):
            rows = [
                panels.PanelRow(
                    columns.place(models.index(each["model"]), number), look, *(each[end] for end in ends)
                )
                for each in asked
                if each["variation"] == variation and not isnan(each[ends[0]])
            ]
            if rows:
                panels.draw_values(axes, look, rows, 1.0, 4.5, upright=True).set_label(look.label)
        axes.locator_params(axis="y", nbins=6)
    for axes, level in ((top, _GUESSING), (bottom, 0)):
        axes.axhline(level, color="0.4", linewidth=0.9, linestyle="--", zorder=1)
    columns.name(bottom)
    top.set_ylabel("accuracy (dashed: guessing)")
    baseline = next(iter(looks.values())).label  # baselines are first and share their label
    quoted = f"\N{LEFT DOUBLE QUOTATION MARK}{baseline}\N{RIGHT DOUBLE QUOTATION MARK}"
    bottom.set_ylabel(f"change from {quoted},\nrelative to its accuracy")
    bottom.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    how = "; models inside their chat templates" if _use_templates(models) else ""
    title = f"{_TITLES[factor]}\n{told}{how}\n{panels.describe_intervals(settings)}"
    figure.suptitle(title, fontsize=10.5)
    panels.add_legend(figure, panels.list_handles(top), 4)
    return figure


def _use_templates(models: Iterable[str]) -> bool:
    return all(ModelName.parse(model).chat for model in models)


def _name_asked(models: Sequence[str]) -> list[str]:
    """Return names below columns; the title says it if all are asked inside their chat templates."""
    end = " (chat template)" if _use_templates(models) else ""
    return [panels.wrap_column(name.removesuffix(end)) for name in shorten_names(models).values()]


def draw_orders(asked: Sequence[Row], told: str) -> "Figure":
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
            [names.index(name) for name in known], [shares[name] for name in known],
            color=SERIES_COLORS[place % len(SERIES_COLORS)],
            linestyle=_LINES[place // len(SERIES_COLORS) % len(_LINES)][0],
            marker=SERIES_MARKERS[place % len(SERIES_MARKERS)], markersize=5, label=short[model],
            clip_on=False,  # marks at 0 are whole
        )  # fmt: skip
    axes.axhline(_GUESSING, color="0.4", linewidth=0.9, linestyle="--", zorder=1)
    labels = [_label_variation(name, ORDERS) for name in names]
    axes.set_xticks(range(len(names)), labels, rotation=40, ha="right")
    axes.set_ylabel("accuracy (dashed: guessing)")
    axes.set_ylim(bottom=0)
    axes.set_title(f"{_TITLES[ORDERS]}\n{told}")
    figure.legend(loc="outside right upper")
    return figure


def _tell(asked: Sequence[Row], way: str, subjects: Mapping[str, str]) -> str:
    """Return what is asked and counted, for the title: a line of subjects, by set, and one of numbers."""
    row = asked[0]
    sets = [*subjects] if row["questions"] == EVERY_SET else [row["questions"]]
    names = [clean_name(subjects.get(each, each)) for each in sets]
    if len(names) > _MOST_SUBJECTS:
        names[_MOST_SUBJECTS:] = [panels.describe_count([len(names) - _MOST_SUBJECTS], "other")]
    which = wrap_name(f"Questions on {', '.join(names)}", _SUBJECT_LETTERS) + "\n" if names else ""
    return f"{which}{row['items']} questions; answer: {_WAYS[way]}"


def _style(asked: Sequence[Row], factor: str) -> dict[str, Series]:
    """Return the look of each variation: baselines in black and first, others apart in colour and marker."""
    names = list(dict.fromkeys(each["variation"] for each in asked))
    baselines = {each["variation"] for each in asked if isnan(each["change"])}
    ordered = sorted(names, key=lambda name: name not in baselines)
    looks = {}
    for place, name in enumerate(ordered):
        label = _label_variation(name, factor)
        plain = Series(label, "#000000", "o", True, "-")
        looks[name] = plain if name in baselines else style_series(label, place - len(baselines))
    return looks


def _label_variation(name: str, factor: str) -> str:
    if name == "as-shipped":  # in a chat in the standard style
        return STANDARD if factor == "styles" else "as shipped"
    kind, _, rest = name.partition("-")
    words = {
        "examples": "examples",
        "options": "options",
        "right": "right:",
        "order": "moved by",
        "style": "",
    }
    return f"{words[kind]} {rest.replace('-', ' ')}".strip()
