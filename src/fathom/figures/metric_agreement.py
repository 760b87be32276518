"""Models by every metric, and the agreement of each metric with the reference.

One drawing of adapted, base or chat models, with trimmed means, plain means or medians of the ranks.
Metrics are compared with the first reference or, without one, with the TF ranks. Base models may be on the
left, their chat models on the right.

Source: [RawCorpora, Figs. 3, 4, 7, 8, 10, 20-23], [BeyondBenchmarks, Figs. 2, 3, 7, 8, 13, 14, 16-21].
"""

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.scoring import Summary
from fathom.config.short_names import label_variant, shorten_adapted
from fathom.errors import InputError
from fathom.figures import panels
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts, Table
from fathom.figures.model_ranks import scale_axis
from fathom.figures.panels import PanelRow, measure_columns, wrap_column
from fathom.figures.style import VARIANT_SERIES, label_scale, make_figure, place_labels, wrap_name
from fathom.io.contracts.figures import METRIC_AGREEMENT
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import read_rows
from fathom.statistics.aggregates import STATISTICS, TRIMMED_MEAN
from fathom.statistics.correlations import Correlation, correlate_series
from fathom.statistics.metrics import ATTRIBUTE_RATE, PERPLEXITY, RANK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase


BASELINES = {each.name: each for each in (PERPLEXITY, ATTRIBUTE_RATE)}
METRICS = {name: f"{label_variant(name, {})} rank" for name in (REFERENCE, *VARIANTS)} | {
    name: each.label.capitalize() for name, each in BASELINES.items()
}
"""Labels of series in this order: ranks by variant, and the baselines."""

_WIDTH, _AXIS, _TOP, _SCATTER, _TICKS = 2.6, 0.8, 2.2, 2.3, 3
"""Inches: least width of a panel, margin beside axes, height of axes on top, of panels below; ticks."""
_FEW, _WIDER, _HIGHER = 10, 0.06, 0.1
"""Number of models above which panels grow by so many inches each, for numbers between the points."""


class Measured(NamedTuple):
    """A metric of a model with its interval, and the pairs, documents or keywords behind it."""

    value: float
    low: float
    high: float
    items: int


Metrics = dict[str, dict[str, Measured]]
"""Estimates by metric (a variant, perplexity, attribute_rate) and model."""


class Look(NamedTuple):
    """Texts of a figure beside its numbers: domain, aggregate of ranks, labels, short names, and n."""

    title: str
    statistic: str
    labels: Mapping[str, str]
    settings: Summary
    names: Mapping[str, str] = {}  # others keep their names
    items: str = ""


Points = tuple["Axes", list[tuple[float, float]], list[str]]
"""Points of a scatter plot to label once the whole figure is drawn."""


class Agreement(NamedTuple):
    """Correlation of a metric with the one compared with."""

    metric: str
    against: str
    found: Correlation


def label_references(references: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of references by variant, and of the TF and TF-IDF ranks compared with them."""
    return {name: f"{label_variant(name, references)} rank" for name in (*references, *VARIANTS)}


def label_metrics(references: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of all metrics; the rank on the leading reference has its name."""
    return METRICS | {name: label for name, label in label_references(references).items() if name in METRICS}


def read_metrics(
    summaries: Sequence[Path | str],
    domain: str,
    models: Sequence[str],
    statistic: str,
    names: Collection[str] = METRICS,
) -> Metrics:
    """Read what a figure shows from `summary.csv`, and from `references.csv` for several references.

    Models are ordered from left to right, metrics as the panels; missing metrics are left out. By default
    the reference comes first if there is one, then TF, TF-IDF, perplexity, attribute rate. Raise
    `InputError` if a model has no TF rank.
    """
    found: Metrics = {}
    for row in (row for path in summaries for row in read_rows(path, SUMMARY)):
        is_rank = row["metric"] == RANK.name
        name = row["variant"] if is_rank else row["metric"]
        wanted = row["aggregate"] == statistic if is_rank else name in BASELINES
        if row["domain"] == domain and row["model"] in models and wanted:
            numbers = Measured(*(row[key] for key in ("value", "ci_low", "ci_high", "pairs")))
            found.setdefault(name, {})[row["model"]] = numbers
    missing = sorted(set(models) - set(found.get(VARIANTS[0], {})))
    if missing:
        raise InputError(
            f"no TF rank of {', '.join(missing)} on {domain}", str(summaries[0]), "score them first"
        )
    return {
        name: {model: found[name][model] for model in models if model in found[name]}
        for name in names
        if name in found
    }


def measure_agreements(metrics: Metrics, settings: Summary) -> list[Agreement]:
    """Return Pearson's correlation of each metric with the first one, over models that have both."""
    first, *others = metrics
    found = []
    for name in others:
        both = [model for model in metrics[first] if model in metrics[name]]
        values = [np.array([metrics[each][model].value for model in both]) for each in (name, first)]
        found.append(Agreement(name, first, correlate_series(values[0], values[1], settings)[0]))
    return found


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw some models on one domain by every metric, or by several references."""
    references = dict(settings.references)
    labels = label_references(references) if "references" in inputs else label_metrics(references)
    models = settings.members
    metrics = read_metrics([*inputs.values()], parts["domain"], models, parts["statistic"], labels)
    title, names = settings.title or parts["domain"], settings.name_models(models)
    if parts.get("group") in ("base", "chat"):
        title = f"{title}: {parts['group']} models"
    if parts.get("base") in names:
        title = f"{title}: {names[parts['base']]} and what was adapted from it"
        names = shorten_adapted(models, parts["base"], settings.titles)
    items = _count_items([metrics], references, len(models))
    look = Look(title, parts["statistic"], labels, settings.summary, names, items)
    agreements = measure_agreements(metrics, look.settings)
    return draw_metrics(metrics, agreements, look), list_metrics(metrics, agreements)


def _count_items(every: Sequence[Metrics], references: Mapping[str, str], models: int = 0) -> str:
    counts = (
        (BASELINES[name].variant if name in BASELINES else name, each.items)
        for metrics in every
        for name, values in metrics.items()
        for each in values.values()
    )
    return panels.describe_items(counts, references, models)


def list_metrics(metrics: Metrics, agreements: Sequence[Agreement]) -> Table:
    """Return the numbers of the figure."""
    found = {each.metric: (each.against, *each.found[1:]) for each in agreements}
    nothing = ("", *[math.nan] * 4)
    return METRIC_AGREEMENT, [
        (name, model, *each[:3], *found.get(name, nothing))
        for name, models in metrics.items()
        for model, each in models.items()
    ]


def draw_metrics(metrics: Metrics, agreements: Sequence[Agreement], look: Look) -> "Figure":
    """Draw models by every metric on top, each metric against the first one below; call it in `use_style`."""
    width, *heights = measure_block(metrics, look)
    figure = make_figure(width, 1.8 + sum(heights))
    figure.suptitle(describe_look(look))
    for each in draw_block(figure, metrics, agreements, look, heights):
        place_labels(*each)
    return figure


def measure_block(metrics: Metrics, look: Look) -> tuple[float, float, float]:
    """Return the inches that models take by every metric: width, height on top and height below."""
    models = list(next(iter(metrics.values())))
    more = max(0, len(models) - _FEW)
    columns = measure_columns(_name_models(models, look))
    width = max(_WIDTH + _WIDER * more, _AXIS + columns.width * len(models))
    return 0.4 + width * len(metrics), 0.4 + _TOP + columns.below, _SCATTER + _HIGHER * more


def draw_block(
    figure: "FigureBase",
    metrics: Metrics,
    agreements: Sequence[Agreement],
    look: Look,
    heights: Sequence[float],
) -> list[Points]:
    """Draw models by every metric on top, each metric against the first one below; return points to label."""
    first = next(iter(metrics))
    models = list(metrics[first])
    columns = measure_columns(_name_models(models, look))
    grid = figure.subplots(2, len(metrics), squeeze=False, height_ratios=heights)
    for place, (name, values) in enumerate(metrics.items()):
        axes = grid[0][place]
        series = None if name in BASELINES else VARIANT_SERIES.get(name, VARIANT_SERIES[REFERENCE])
        rows = [PanelRow(models.index(model), None, *each[:3]) for model, each in values.items()]
        panels.draw_values(axes, series or panels.PLAIN, rows, upright=True)
        columns.name(axes)
        axes.set_title(look.labels[name])
        ends = [n for row in rows for n in row[2:] if math.isfinite(n)]
        scale_axis(axes, "y", ends, _TICKS, panels.needs_log_axis(ends, name))
        good = "low" if BASELINES.get(name, RANK).low_is_best else "high"
        axes.set_ylabel(label_scale(f"{good} is best", axes.yaxis), fontsize=9)
    grid[1][0].set_visible(False)
    labels = []
    for axes, agreement in zip(grid[1][1:], agreements, strict=True):
        labels.append(_draw_agreement(axes, metrics, agreement, models))
        axes.set_xlabel(label_scale(look.labels[agreement.metric], axes.xaxis))
    grid[1][1].set_ylabel(label_scale(look.labels[first], grid[1][1].yaxis))
    return labels


def _name_models(models: Sequence[str], look: Look) -> list[str]:
    return [
        f"{wrap_column(look.names.get(model, model))}  {number}"
        for number, model in enumerate(models, start=1)
    ]


def _draw_agreement(axes: "Axes", metrics: Metrics, agreement: Agreement, models: Sequence[str]) -> Points:
    """Draw a point for each model; return the points and their numbers."""
    values, others = metrics[agreement.metric], metrics[agreement.against]
    both = [model for model in others if model in values]
    points = [(values[model].value, others[model].value) for model in both]
    names = (agreement.metric, agreement.against)
    for which, name, some in zip("xy", names, zip(*points, strict=True), strict=True):
        scale_axis(axes, which, list(some), _TICKS, panels.needs_log_axis(some, name))
    axes.plot(*zip(*points, strict=True), color="0.25", marker="D", markersize=4.5, linestyle="none")
    _, r, low, high, p = agreement.found
    nothing = "no correlation:\ntoo few models, or all equal"
    title = nothing if math.isnan(r) else panels.describe_r(r, p, low, high, gap="\n")
    axes.set_title(title, fontsize=9)
    return axes, points, [str(models.index(model) + 1) for model in both]


def describe_look(look: Look) -> str:
    """Return the title: the domain, the aggregate of ranks, the meaning of whiskers, and n."""
    label = STATISTICS[look.statistic].label
    if look.statistic == TRIMMED_MEAN.name:
        label = f"{panels.format_share(look.settings.trim)} {label}"
    intervals = panels.describe_intervals(look.settings, "Whiskers and brackets")
    return "\n".join([wrap_name(look.title, 100), f"Ranks: {label}. {intervals}", look.items]).rstrip()


Sides = Mapping[str, tuple[Metrics, Sequence[Agreement]]]
"""Ranks of models and how far they agree, by the title of the side."""


def draw_sides_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw base and chat models on one domain by their ranks."""
    ranks, references = (REFERENCE, *VARIANTS), dict(settings.references)
    listed = list_sides(settings.chat_pairs)
    short = settings.name_models(name for models in listed.values() for name in models)
    sides = {}
    for title, models in listed.items():
        metrics = read_metrics([inputs["summary"]], parts["domain"], models, parts["statistic"], ranks)
        sides[f"{len(models)} {title}"] = (metrics, measure_agreements(metrics, settings.summary))
    items = _count_items([metrics for metrics, _ in sides.values()], references)
    title, labels = settings.title or parts["domain"], label_metrics(references)
    look = Look(title, parts["statistic"], labels, settings.summary, short, items)
    rows = [row for side in sides.values() for row in list_metrics(*side)[1]]
    return draw_sides(sides, look), (METRIC_AGREEMENT, rows)


def list_sides(pairs: Sequence[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return the models of each side by its title, given chat models with their bases and families.

    A chat model and its base stand in the same order.
    """
    bases = list(dict.fromkeys(base for _, base, _ in pairs))
    return {"base models": bases, "chat models": [chat for chat, _, _ in pairs]}


def draw_sides(sides: Sides, look: Look) -> "Figure":
    """Draw a block for each side beside the other; call it inside `use_style`."""
    sizes = [measure_block(metrics, look) for metrics, _ in sides.values()]
    widths = [width for width, _, _ in sizes]
    heights = [max(some) for some in list(zip(*sizes, strict=True))[1:]]
    figure = make_figure(sum(widths), 2.2 + sum(heights))
    figure.suptitle(describe_look(look))
    labels = []
    blocks = figure.subfigures(1, len(sides), squeeze=False, width_ratios=widths)
    for block, (title, (metrics, agreements)) in zip(blocks.flat, sides.items(), strict=True):
        block.suptitle(title)
        labels += draw_block(block, metrics, agreements, look, heights)
    for each in labels:
        place_labels(*each)
    return figure
