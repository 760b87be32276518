"""Violins of how near a model's best and worst targets are to the domain's phrase [RawCorpora, Fig. 15]."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.config.scoring import Summary
from fathom.config.short_names import shorten_names
from fathom.errors import InputError
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.style import VARIANT_SERIES, clean_name, make_figure, wrap_name
from fathom.io.contracts.studies import TARGET_CHANGES, TARGET_GROUPS
from fathom.io.delimited import Row, read_rows
from fathom.io.tables import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PLACES = {"top": 0.0, "bottom": 1.0}
_LOOKS = {"top": ("#0072B2", "o"), "bottom": ("#D55E00", "s")}
_PANEL_WIDTH, _HEIGHT = 3.6, 4.6
_MEANING = "Line: mean. Area of a point: pairs with the target. Below: the first targets of each group."
_NAMED, _LETTERS = 3, 18  # best and worst targets under a violin, and letters in a line
_GOLDEN = 0.6180339887498949  # multiples of it spread evenly: points beside each other without random numbers
_LARGEST, _SMALLEST = 60.0, 6.0  # area of a point, in square points


def read_changes(targets: Path | str, groups: Path | str, model: str) -> tuple[pl.DataFrame, list[Row]]:
    """Read what one model's targets are, and their contrast on each benchmark.

    Parameters
    ----------
    targets : Path or str
        Table under contract TARGET_CHANGES.
    groups : Path or str
        CSV under TARGET_GROUPS.
    model : str

    Raises
    ------
    InputError
        If the tables do not hold the model.
    """
    table = read_table(targets, TARGET_CHANGES)
    known = sorted(set(table["model"].to_list()))
    if model not in known:
        raise InputError(f"unknown model {model!r}", str(targets), f"known: {', '.join(known)}")
    rows = [row for row in read_rows(groups, TARGET_GROUPS) if row["model"] == model]
    return table.filter(model=model), rows


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the best and the worst targets of one model."""
    targets, groups = read_changes(inputs["targets"], inputs["groups"], parts["model"])
    title = settings.title or parts["domain"]
    return draw_changes(targets, groups, title, settings.summary), (TARGET_CHANGES, targets.rows(named=True))


def draw_changes(targets: pl.DataFrame, groups: Sequence[Row], title: str, settings: Summary) -> "Figure":
    """Draw a panel for each benchmark; call it inside `use_style`."""
    figure = make_figure(max(5.2, _PANEL_WIDTH * len(groups)), _HEIGHT)
    model, other, phrase = (groups[0][key] for key in ("model", "against", "phrase"))
    short = shorten_names([model, other])
    width = 26 * max(2, len(groups))
    heading = "\n".join(
        wrap_name(line, width) for line in (clean_name(title), f"{short[model]} against {short[other]}")
    )
    figure.suptitle(heading)
    panels = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for axes, row in zip(panels, groups, strict=True):
        some = targets.filter(variant=row["variant"])
        names = [_draw_group(axes, some, group) for group in _PLACES]
        axes.set_xticks([*_PLACES.values()], names)
        axes.set_xlim(-0.6, 1.6)
        axes.set_title(_describe(row, settings))
    panels[0].set_ylabel(
        wrap_name(
            f"Cosine of target and \N{LEFT DOUBLE QUOTATION MARK}{phrase}\N{RIGHT DOUBLE QUOTATION MARK}", 40
        )
    )
    figure.supxlabel(wrap_name(_MEANING, 34 + 34 * len(groups)), fontsize=8.5)
    return figure


def _describe(row: Row, settings: Summary) -> str:
    """Return the title of a panel: benchmark, Cohen's d with its interval, and p of the t test."""
    series = VARIANT_SERIES.get(row["variant"])
    label = f"{series.label if series else row['variant']} targets"
    if math.isnan(row["d"]):
        return f"{label}: too few"
    ends = ""
    if not math.isnan(row["d_low"]):
        ends = f" ({100 * settings.confidence:.4g} %: {row['d_low']:.2f} to {row['d_high']:.2f})"
    return f"{label}\nCohen's d = {row['d']:.2f}{ends}\nt test: p = {row['p']:.2g}"


def _draw_group(axes: "Axes", targets: pl.DataFrame, group: str) -> str:
    """Draw one violin, a point for each target, and their mean; return its label."""
    rows = targets.filter(group=group)
    values, most = rows["similarity"].to_list(), max(targets["pairs"].to_list())
    place, (color, marker) = _PLACES[group], _LOOKS[group]
    if len(set(values)) > 1:
        parts: Any = axes.violinplot([values], [place], widths=0.85, showextrema=False)
        for body in parts["bodies"]:
            body.set(facecolor=color, edgecolor=color, alpha=0.2)
    across = [place + 0.24 * (2 * (number * _GOLDEN % 1) - 1) for number in range(len(values))]
    sizes = [_SMALLEST + (_LARGEST - _SMALLEST) * count / most for count in rows["pairs"]]
    axes.scatter(across, values, s=sizes, marker=marker, facecolor="none", edgecolor=color, linewidth=0.8)
    if values:
        mean = sum(values) / len(values)
        axes.plot([place - 0.42, place + 0.42], [mean, mean], color="black", linewidth=1.6, zorder=4)
    names = rows["target"].to_list()[:: 1 if group == "top" else -1][:_NAMED]
    shown = [wrap_name(name, _LETTERS) for name in names]
    return "\n".join([f"{group} {len(values)} of {len(targets)}", *shown])
