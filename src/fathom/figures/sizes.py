"""Models by rank over their parameters and over the tokens that they were trained on."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from fathom.config.benchmark import VARIANTS
from fathom.config.scoring import Summary
from fathom.config.short_names import Titles, clean_name, shorten_names
from fathom.errors import InputError
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.model_ranks import (
    ModelRanks,
    Rank,
    label_ranks,
    read_model_ranks,
    scale_axis,
    select_domain,
)
from fathom.figures.style import (
    Series,
    add_families,
    label_scale,
    make_figure,
    mark_model,
    place_labels,
    style_families,
    trace_line,
)
from fathom.io.contracts.figures import MODEL_SIZES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_WIDE = 200
_STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9))
"""Ticks within a power of ten: the first for a range wider than _WIDE, more where sizes are nearly equal."""
_AXES = {"parameters": "Parameters", "tokens": "Training tokens"}


class Size(NamedTuple):
    """A model's family, kind (base or chat), parameters, and training tokens if known."""

    model: str
    family: str
    kind: str
    parameters: float
    tokens: float | None


class Sized(NamedTuple):
    """A model of known size and its TF rank."""

    size: Size
    rank: Rank


def read_size(described: tuple[str, str, str, int, int]) -> Size:
    """Return a model's properties; 0 tokens are unknown.

    Raise `InputError` if a count is not positive.
    """
    model, family, kind, parameters, tokens = described
    if not parameters > 0 or tokens < 0:
        raise InputError(f"parameters {parameters}, tokens {tokens}", model, "such as 124000000")
    return Size(model, family, kind, parameters, tokens or None)


def join_sizes(models: Sequence[ModelRanks], sizes: Iterable[Size]) -> list[Sized]:
    """Return the models whose TF rank and parameters are known, smallest first.

    Raise `InputError` if there are fewer than two.
    """
    ranks = {each.model: each.ranks[VARIANTS[0]] for each in models if VARIANTS[0] in each.ranks}
    found = [Sized(size, ranks[size.model]) for size in sizes if size.model in ranks]
    if len(found) < 2:
        raise InputError(
            "fewer than two models have a TF rank and a known size",
            hint="fill in `parameters` of config/models.tsv",
        )
    return sorted(
        found, key=lambda each: (each.size.parameters, each.size.tokens or math.inf, each.size.model)
    )


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the models of one domain by rank over their parameters and training tokens."""
    ranks = select_domain(read_model_ranks(inputs["summary"]), parts["domain"], inputs["summary"])
    models = join_sizes(ranks, map(read_size, settings.sizes))
    rows = [
        (
            *(each.size.model, each.size.family, each.size.kind, f"{each.size.parameters:.0f}"),
            "" if each.size.tokens is None else f"{each.size.tokens:.0f}",
            *(each.rank.value, each.rank.low, each.rank.high, each.rank.pairs),
        )
        for each in models
    ]
    title = settings.title or parts["domain"]
    return draw_sizes(models, title, settings.summary, settings.titles), (MODEL_SIZES, rows)


def draw_sizes(
    models: Sequence[Sized], title: str, settings: Summary, titles: Titles | None = None
) -> "Figure":
    """Draw ranks over parameters, and over training tokens if known for two models.

    The models' numbers in the figure are those of the list beside it.
    """
    known = {
        axis: [each for each in models if getattr(each.size, axis)]
        for axis in _AXES
        if len({getattr(each.size, axis) for each in models if getattr(each.size, axis)}) > 1
    }
    families = style_families({each.size.family for each in models})
    height = max(4.0, 1.2 + 0.2 * len(models))
    figure = make_figure(4.2 * len(known) + 2.6, height)
    figure.suptitle(f"{clean_name(title)}\n{label_ranks(settings)}")
    grid = figure.subplots(1, len(known) + 1, squeeze=False, width_ratios=[*[4.2] * len(known), 2.4])[0]
    numbers = {each.size.model: str(place) for place, each in enumerate(models, start=1)}
    labelled = [
        _draw_axis(axes, axis, some, families)
        for axes, (axis, some) in zip(grid[:-1], known.items(), strict=True)
    ]
    grid[0].set_ylabel(label_scale("TF rank", grid[0].yaxis))
    short = shorten_names((each.size.model for each in models), titles)
    _list_models(grid[-1], short, numbers)
    add_families(figure, families, {each.size.kind for each in models}, "lower")
    for axes, some, points in labelled:
        ends = [((x, each.rank.low), (x, each.rank.high)) for each, (x, _) in zip(some, points, strict=True)]
        whiskers = [point for low, high in ends for point in trace_line(low, high)]
        place_labels(axes, points, [numbers[each.size.model] for each in some], whiskers)
    return figure


def _draw_axis(
    axes: "Axes", axis: str, models: Sequence[Sized], families: Mapping[str, Series]
) -> tuple["Axes", Sequence[Sized], list[tuple[float, float]]]:
    """Draw ranks over one quantity; return the axes, the models and their points."""
    points = [(float(getattr(each.size, axis)), each.rank.value) for each in models]
    for each, (x, y) in zip(models, points, strict=True):
        look = families[each.size.family]
        axes.plot([x, x], [each.rank.low, each.rank.high], color=look.color, linewidth=1.0, zorder=2)
        axes.plot(x, y, markersize=6, zorder=3, **mark_model(look, each.size.kind))
    axes.set_xscale("log")
    axes.set_xlabel(label_scale(_AXES[axis], axes.xaxis))
    ends = [
        n for each in models for n in (each.rank.value, each.rank.low, each.rank.high) if math.isfinite(n)
    ]
    scale_axis(axes, "y", ends)
    _mark_powers(axes, [x for x, _ in points])
    return axes, models, points


def _mark_powers(axes: "Axes", values: Sequence[float]) -> None:
    """Put ticks at 1, 2 and 5 times powers of ten, in words such as `2M`, no more than fit; at least two."""
    low, high = min(values) / 1.4, max(values) * 1.4
    axes.set_xlim(low, high)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in _STEPS[0 if high / low > _WIDE else 1 :]:
        ticks = [step * 10.0**power for power in decades for step in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) > 1:
            break
    axes.set_xticks(inside)
    axes.xaxis.set_major_formatter(lambda value, _: format_count(value))
    axes.minorticks_off()


def format_count(value: float) -> str:
    """Format a large number in words such as `124M` or `1.5T`."""
    for size, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def _list_models(axes: "Axes", short: Mapping[str, str], numbers: Mapping[str, str]) -> None:
    axes.set_axis_off()
    text = "\n".join(f"{numbers[model]}  {clean_name(name)}" for model, name in short.items())
    axes.text(0, 1, text, fontsize=8, va="top", linespacing=1.5)
