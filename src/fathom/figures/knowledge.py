"""Models' knowledge of a domain, in bits between zero and a ceiling, and their fluency in it."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from fathom.benchmark.target_words import find_ceiling
from fathom.config.benchmark import VARIANTS
from fathom.config.model_names import ModelName
from fathom.config.scoring import Summary
from fathom.config.short_names import References, Titles, clean_name, shorten_names
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.model_ranks import ModelRanks, find_variants, read_model_ranks, select_domain
from fathom.figures.panels import format_share
from fathom.figures.style import (
    RANKING_COLORS,
    make_figure,
    place_labels,
    style_variant,
    trace_line,
    wrap_name,
)
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.figures import FLUENCY, KNOWLEDGE
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import scan_rows
from fathom.io.tables import read_table
from fathom.statistics.aggregates import MEAN
from fathom.statistics.metrics import BITS, BITS_PER_BYTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


_NAME, _ROW = 44, 0.34  # letters in a line of a name; inches of a line
_APART = 0.26  # of the height of a row, between benchmarks
_ROOM = 0.04  # of the width of the axis, left of zero and right of the ceiling


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the models of one domain by knowledge."""
    summary, domain = inputs["summary"], parts["domain"]
    models = select_domain(read_model_ranks(summary, MEAN, BITS), domain, summary)
    ceiling = find_ceiling(read_table(inputs["pairs"], PAIRS, ["target"])["target"].to_list())
    title = settings.title or domain
    texts = (settings.references, settings.titles)
    figure = draw_knowledge(models, ceiling, title, settings.summary, *texts)
    rows = [
        (model.model, variant, *(rank.value, rank.low, rank.high), rank.pairs)
        for model in models
        for variant, rank in model.ranks.items()
    ]
    return figure, (KNOWLEDGE, rows)


def draw_knowledge(
    models: Sequence[ModelRanks],
    ceiling: float,
    title: str,
    settings: Summary | None = None,
    references: References = (),
    titles: Titles | None = None,
) -> "Figure":
    """Draw bits with intervals, a row for each model, best first; `ceiling`: the most that bits can be."""
    short = shorten_names((model.model for model in models), titles)
    names = [wrap_name(short[model.model], _NAME) for model in models]
    figure = make_figure(8.0, 1.7 + _ROW * sum(1 + name.count("\n") for name in names))
    figure.suptitle(wrap_name(title, 60))
    axes = figure.subplots()
    _draw_rows(axes, models, names, ceiling, references)
    axes.set_xlabel(f"Knowledge in bits, {format_share((settings or Summary()).confidence)} intervals")
    return figure


def _draw_rows(
    axes: "Axes",
    models: Sequence[ModelRanks],
    names: Sequence[str],
    ceiling: float,
    references: References,
) -> None:
    variants = find_variants(list(models))
    for place, variant in enumerate(variants):
        series = style_variant(variant, references)
        shift = _APART * (place - (len(variants) - 1) / 2)
        rows = [
            (at + shift, model.ranks[variant]) for at, model in enumerate(models) if variant in model.ranks
        ]
        for row, rank in rows:
            if math.isfinite(rank.low):
                axes.plot(
                    [rank.low, rank.high], [row, row], color=series.color, linestyle=series.line, zorder=2
                )
        axes.plot(
            [rank.value for _, rank in rows], [row for row, _ in rows], label=series.label, zorder=3,
            **series.marks(),
        )  # fmt: skip
    ends = [end for model in models for rank in model.ranks.values() for end in (rank.low, rank.value)]
    least = min([0.0, *(end for end in ends if math.isfinite(end))])
    for end, label in ((0.0, "nothing"), (ceiling, f"ceiling {ceiling:.2f}")):
        axes.axvline(end, color="0.35", linewidth=0.9, zorder=1)
        axes.text(end, -0.75, label, ha="center", va="bottom", color="0.35")
    room = _ROOM * (ceiling - least)
    axes.set_xlim(least - room, ceiling + room)
    axes.set_ylim(len(models) - 0.4, -0.7)
    axes.set_yticks(range(len(models)), names)
    axes.tick_params(axis="y", length=0)
    # beside the ceiling, not on it: the worst models are far from it
    axes.legend(
        loc="lower right", title="Benchmark", bbox_to_anchor=(ceiling, 0.0), frameon=True, framealpha=1,
        bbox_transform=axes.get_xaxis_transform(), edgecolor="none",
    )  # fmt: skip


_LETTERS = 26  # letters in a line of a name
_NAMES_UP_TO = 6  # most models with names beside their points
_SIZE = 9.6, 5.4  # inches: a slide
_TEXT = 10.5  # points: read from the last row


class KnowledgePoint(NamedTuple):
    """Knowledge in bits and bits per byte of a model, each with its interval."""

    model: str
    bits: tuple[float, float, float]
    bytes: tuple[float, float, float]
    pairs: int


def draw_fluency_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the models of one domain that have both numbers."""
    models = read_both(inputs["summary"], parts["domain"])
    figure = draw_fluency(models, settings.title or parts["domain"], settings.summary, settings.titles)
    return figure, (FLUENCY, [(each.model, *each.bits, *each.bytes, each.pairs) for each in models])


def read_both(summary: Path | str, domain: str) -> list[KnowledgePoint]:
    """Return models that have bits on the TF benchmark and bits per byte, those that know most first."""
    fluent = {
        row["model"]: (row["value"], row["ci_low"], row["ci_high"])
        for _, row in scan_rows(summary, SUMMARY)
        if (row["domain"], row["metric"]) == (domain, BITS_PER_BYTE.name) and math.isfinite(row["value"])
    }
    found = []
    for model in select_domain(read_model_ranks(summary, MEAN, BITS), domain, summary):
        rank = model.ranks.get(VARIANTS[0])
        if rank and model.model in fluent:
            bits = (rank.value, rank.low, rank.high)
            found.append(KnowledgePoint(model.model, bits, fluent[model.model], rank.pairs))
    return found


def draw_fluency(
    models: Sequence[KnowledgePoint],
    title: str,
    settings: Summary | None = None,
    titles: Titles | None = None,
) -> "Figure":
    """Draw a point for each model, best first: bits per byte across, fewer to the right, and bits upwards."""
    short = shorten_names((each.model for each in models), titles)
    if 0 < len(models) <= _NAMES_UP_TO:
        figure = _draw(models, short, title, settings or Summary(), numbered=False)
        if figure is not None:
            return figure
    return cast("Figure", _draw(models, short, title, settings or Summary(), numbered=True))


def _draw(
    models: Sequence[KnowledgePoint], short: Mapping[str, str], title: str, settings: Summary, numbered: bool
) -> "Figure | None":
    """Draw names beside the points, or numbers and a legend; None if names have no room."""
    figure = make_figure(*_SIZE)
    figure.suptitle(wrap_name(title, 60))
    axes = figure.subplots()
    confidence = format_share(settings.confidence)
    axes.set_xlabel(f"Fluency: bits per byte of the field's text, fewer to the right; {confidence} intervals")
    axes.set_ylabel("Knowledge in bits")
    for each in (axes.xaxis, axes.yaxis):
        each.label.set_fontsize(_TEXT)
    if not models:
        axes.text(0.5, 0.5, "No model has both numbers.", ha="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
        return figure
    names = [wrap_name(clean_name(short[each.model]), _LETTERS) for each in models]
    points = _draw_points(axes, models)
    if numbered:
        labels = [f"{place}  {name}" for place, name in enumerate(names, start=1)]
        axes.legend(points, labels, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
        names = [str(place) for place, _ in enumerate(names, start=1)]
    places = [(each.bytes[0], each.bits[0]) for each in models]
    whiskers = [
        point
        for (at, low, high), (up, bottom, top) in ((each.bytes, each.bits) for each in models)
        for ends in (((at, bottom), (at, top)), ((low, up), (high, up)))
        for point in trace_line(*ends)
    ]
    free = place_labels(axes, places, names, whiskers, _TEXT)
    return figure if free or numbered else None


def _draw_points(axes: "Axes", models: Sequence[KnowledgePoint]) -> "list[Line2D]":
    """Draw points with whiskers, a colour for each base; hollow where the interval of the bits holds 0."""
    colors = _color_bases(models)
    spots = {each.model: (each.bytes[0], each.bits[0]) for each in models}
    points = []
    for each in models:
        name = ModelName.parse(each.model)
        color, (x, y) = colors[name.base], spots[each.model]
        if name.path and name.base in spots:
            start = spots[name.base]
            axes.plot([start[0], x], [start[1], y], color=color, linewidth=0.9, alpha=0.5, zorder=1)
        for ends, upright in ((each.bits[1:], True), (each.bytes[1:], False)):
            if all(map(math.isfinite, ends)):
                along = ([x, x], ends) if upright else (ends, [y, y])
                axes.plot(*along, color=color, linewidth=1.2, alpha=0.7, zorder=2)
        fill = color if each.bits[1] > 0 else "white"
        points += axes.plot(x, y, marker="o", markersize=8, color=color, zorder=3, linestyle="none",
                            markerfacecolor=fill, markeredgewidth=1.6)  # fmt: skip
    axes.axhline(0.0, color="0.35", linewidth=0.9, zorder=1)
    axes.margins(0.14, 0.12)
    axes.invert_xaxis()
    axes.tick_params(labelsize=_TEXT)
    return points


def _color_bases(models: Sequence[KnowledgePoint]) -> Mapping[str, str]:
    """Return a colour for each base of adapted models, and for each other model."""
    bases = dict.fromkeys(ModelName.parse(each.model).base for each in models)
    return {base: RANKING_COLORS[place % len(RANKING_COLORS)] for place, base in enumerate(bases)}
