"""Maps of a domain: what a benchmark or questions cover, and how a corpus grows [CompComp, Figs. 3 and 4]."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from fathom.config.benchmark import VARIANTS
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import make_panels
from fathom.figures.style import VARIANT_SERIES, clean_name, make_figure, wrap_name
from fathom.io.contracts.coverage import COVERAGE_MAP, EXPANSION_MAP
from fathom.io.contracts.questions import QUESTION_MAP
from fathom.io.tables import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# dark to light, so that they can be told apart in grey; markers differ too
_COVERED, _GAP, _PAIR = ("#BBBBBB", "."), ("#E69F00", "x"), ("#0072B2", "o")
_OUTSIDE, _HELD, _NEW = ("#CCCCCC", "."), ("#56B4E9", "o"), ("#D55E00", "^")
_RECORD, _FIRST, _LATER = ("#CCCCCC", "."), ("#0072B2", "o"), ("#D55E00", "^")
_PANELS = 6
"""Rounds that a figure shows: the first ones and the last."""
_CROWD = 1500
"""Points of a map beyond which they get smaller and paler, so that they do not hide each other."""

_GRID = (3, (0.0, 3.2), (1.1, 2.9), 5.0)
"""Panels in a line, and the size of a figure of several: see `make_panels`."""

_Look = tuple[str, str]


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the map of a benchmark, of a corpus over its rounds, or of questions for each t_d."""
    contract, draw = EXPANSION_MAP, draw_expansion
    title = settings.title or parts.get("domain") or parts["set"]
    if "variant" in parts:
        label = VARIANT_SERIES[parts["variant"]].label if parts["variant"] in VARIANTS else parts["variant"]
        contract, draw, title = COVERAGE_MAP, draw_benchmark, f"{title}: {label} benchmark"
    elif "set" in parts:
        contract, draw = QUESTION_MAP, draw_questions
    rows = read_table(inputs["map"], contract)
    return draw(rows, title), (contract, rows.rows(named=True))


def draw_benchmark(rows: pl.DataFrame, title: str) -> "Figure":
    """Draw the map of a benchmark; call it inside `use_style`."""
    sentences, pairs = rows.filter(kind="sentence"), rows.filter(kind="pair")
    share = sentences.filter(~pl.col("gap")).height / max(1, sentences.height)
    figure = make_figure(6.4, 5.2)
    figure.suptitle(f"{wrap_name(title, 70)}\n{len(pairs):,} pairs cover {100 * share:.0f} % of the domain")
    axes = figure.subplots()
    _scatter(axes, sentences.filter(~pl.col("gap")), _COVERED, "sentence, covered", 14)
    _scatter(axes, sentences.filter("gap", ~pl.col("large")), _GAP, "gap", 9)
    _scatter(axes, sentences.filter("large"), _GAP, "large gap", 22)
    _scatter(axes, pairs, _PAIR, "pair", 9)
    name_axes([axes])
    _add_legend(figure, 4)
    return figure


def draw_expansion(rows: pl.DataFrame, title: str) -> "Figure":
    """Draw a panel for each round in which something joined; call it inside `use_style`."""
    rounds = sorted(set(rows["round"].to_list()) - {0})
    shown = rounds if len(rounds) <= _PANELS else [*rounds[: _PANELS - 1], rounds[-1]]
    figure, grid = make_panels(max(1, len(shown)), *_GRID, sharex=True, sharey=True)
    kept = rows.filter(pl.col("round") > 0).height / max(1, rows.height)
    figure.suptitle(f"{wrap_name(clean_name(title), 60)}\n{100 * kept:.0f} % of the sentences shown are kept")
    for axes, number in zip(grid.flat, shown, strict=False):
        _scatter(
            axes, rows.filter((pl.col("round") == 0) | (pl.col("round") > number)), _OUTSIDE, "not in it", 9
        )
        _scatter(axes, rows.filter(pl.col("round").is_between(1, number - 1)), _HELD, "in it before", 8)
        _scatter(axes, rows.filter(round=number), _NEW, "joined in this round", 10)
        axes.set_title(f"Round {number}")
    name_axes(grid.flat[: max(1, len(shown))], grid.shape[1])
    _add_legend(figure, 3)
    return figure


def draw_questions(rows: pl.DataFrame, title: str) -> "Figure":
    """Draw a panel for each t_d: records, questions of the first round, and of those after it."""
    every = sorted(set(rows["gap_percentile"]))
    figure, grid = make_panels(len(every), *_GRID, sharex=True, sharey=True)
    figure.suptitle(f"{wrap_name(clean_name(title), 60)}\nquestions about records, by t_d")
    for axes, percentile in zip(grid.flat, every, strict=False):
        some = rows.filter(gap_percentile=percentile)
        records, questions = some.filter(kind="record"), some.filter(kind="question")
        _scatter(axes, records.filter(~pl.col("large")), _RECORD, "record", 14)
        _scatter(axes, records.filter("large"), _GAP, "record, large gap", 22)
        _scatter(axes, questions.filter(round=0), _FIRST, "question of the first round", 8)
        _scatter(axes, questions.filter(pl.col("round") > 0), _LATER, "for a gap, or asked by people", 10)
        axes.set_title(f"t_d = {percentile:g}: {len(questions):,} questions")
    name_axes(grid.flat[: len(every)], grid.shape[1])
    _add_legend(figure, 2)
    return figure


def _scatter(axes: "Axes", rows: pl.DataFrame, look: _Look, label: str, size: float) -> None:
    """Draw points; those of a PDF as one picture, for there are thousands."""
    color, marker = look
    shrink = min(1.0, (_CROWD / max(1, len(rows))) ** 0.5)
    axes.scatter(
        rows["x"], rows["y"], s=size * shrink, c=color, marker=marker, label=label, linewidths=0.6 * shrink,
        alpha=0.3 + 0.5 * shrink, rasterized=True,
    )  # fmt: skip


def _add_legend(figure: "Figure", columns: int) -> None:
    """Explain the points of the first panel, in a size that can be read however many there are."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    for label, handle in zip(labels, legend.legend_handles, strict=True):
        assert handle is not None  # noqa: S101 -- for the type checker
        handle.set(sizes=[40 if label == "large gap" else 20], alpha=1.0, linewidths=0.8)


def name_axes(panels: Sequence["Axes"], columns: int = 1) -> None:
    """Name the axes of maps, whose units mean nothing: at the left, and where no panel stands below."""
    for place, axes in enumerate(panels):
        if place + columns >= len(panels):
            axes.set_xlabel("First principal component")
            axes.tick_params(labelbottom=True)
        if place % columns == 0:
            axes.set_ylabel("Second principal component")
