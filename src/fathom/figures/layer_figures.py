"""Figures by layer: rates, probability sums, targets and lenses of a family of models.

Source: [BeyondBenchmarks, Figs. 9-12, 22-24].
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from fathom.config.layers import Layers
from fathom.config.scoring import Summary
from fathom.config.short_names import Titles, clean_name, shorten_adapted, shorten_names
from fathom.errors import InputError
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import add_legend, describe_count, format_share, make_panels
from fathom.figures.style import (
    LAYER_COLOR_MAP,
    LAYER_COLORS,
    label_scale,
    make_figure,
    number_ticks,
    wrap_name,
)
from fathom.io.contracts.figures import LAYER_CURVES, LAYER_KEYWORDS
from fathom.io.contracts.layers import LAYER_CHANGES, LAYER_RATES, LAYER_SUMMARY
from fathom.io.delimited import Row, read_rows
from fathom.io.tables import read_table
from fathom.jobs.program import log

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES = ("-", "--", ":", "-.")
_HEAT_ROWS = 40
_NAMES = {"geva": "as Geva et al. (2023)", "raw": "without the norm", "normed": "with the final norm"}
_REFERENCE_NAME = 18  # letters of the first model's name that fit beside a panel
_BAND_REACH = 3  # multiple of the curves' span at which a band is cut


@dataclass(frozen=True)
class Curve:
    """A value with its interval by layer; NaN is not drawn."""

    label: str
    layers: Sequence[int]
    value: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    style: int = 0
    dash: int | None = None
    keywords: int = 0


@dataclass(frozen=True)
class Panel:
    """Curves in one set of axes."""

    title: str
    label: str
    curves: list[Curve]
    zero: bool = False
    log: bool = False
    bands: bool = True


@dataclass(frozen=True)
class FigureData:
    """Data of the figures of one family of models.

    Attributes
    ----------
    summary, changes : list of dict
        Rows of layers.csv and layer-changes.csv.
    rates : DataFrame
        Rates of the reference model by keyword and layer, under contract LAYER_RATES.
    """

    models: list[str]
    summary: list[Row]
    changes: list[Row]
    rates: pl.DataFrame
    settings: Layers = field(default_factory=Layers)
    confidence: float = Summary().confidence
    titles: Titles = field(default_factory=dict)

    @cached_property
    def names(self) -> dict[str, str]:
        """What models are called: the first one in full, what comes from it without its name."""
        first = self.models[0]
        short = shorten_names(self.models, self.titles)
        return shorten_adapted(self.models, first, self.titles) | {first: short[first]}

    def select(self, model: str, projection: str, metric: str, k: Any = None, length: Any = None) -> Curve:
        """Return a metric of one model by layer; `k` and `length` of rates default to the settings."""
        if metric in ("rate", "inside", "outside", "outside_any"):
            k, length = k or self.settings.k, length or self.settings.list_length
        wanted = {"model": model, "projection": projection, "metric": metric, "k": k, "list_length": length}
        return _make_curve(model, self.summary, wanted, ("value", "ci_low", "ci_high"))

    def select_change(self, model: str, projection: str, metric: str) -> Curve:
        """Return the percentage change of one model against the reference, with its simultaneous band."""
        wanted = {"model": model, "reference": self.models[0], "projection": projection, "metric": metric}
        return _make_curve(model, self.changes, wanted, ("change", "band_low", "band_high"))


def _make_curve(label: str, rows: Iterable[Row], wanted: Row, names: Sequence[str]) -> Curve:
    found = [row for row in rows if all(row[name] == each for name, each in wanted.items())]
    found.sort(key=lambda row: row["layer"])
    layers, values, low, high = ([row[name] for row in found] for name in ("layer", *names))
    return Curve(label, layers, values, low, high, keywords=found[0]["keywords"] if found else 0)


def _restyle(curve: Curve, label: str, style: int, dash: int | None = None, scale: float = 1.0) -> Curve:
    value, low, high = ([scale * number for number in part] for part in (curve.value, curve.low, curve.high))
    return replace(curve, label=label, value=value, low=low, high=high, style=style, dash=dash)


def build_norm(data: FigureData) -> list[Panel]:
    """Return rates and probability sums with and without the final norm [BeyondBenchmarks, Fig. 9]."""
    panels = []
    for metric, name, scale in (("rate", "attribute rate", 100.0), ("inside", "probability sum", 1.0)):
        for projection in sorted(data.settings.projections, key=list(_NAMES).index):
            curve = data.select(data.models[0], projection, metric)
            unit = "%" if scale > 1 else "probability"
            shown = [_restyle(curve, data.models[0], 1, scale=scale)]
            panels.append(Panel(f"{name},\n{_NAMES[projection]}", unit, shown))
    return panels


def build_sums(data: FigureData) -> list[Panel]:
    """Return probability sums inside and outside the token list [BeyondBenchmarks, Fig. 10]."""
    k, first = data.settings.k, data.models[0]
    where = f"in the keyword's list of {data.settings.list_length:,}"
    series = {
        "inside": f"of the {k} likeliest content words, {where}",
        "outside": f"of the {k} likeliest content words, not {where}",
        "outside_any": f"of the {k} likeliest tokens of any kind, not {where}",
    }
    curves = [
        _restyle(data.select(first, "normed", metric), label, place, place)
        for place, (metric, label) in enumerate(series.items(), start=1)
    ]
    return [Panel("", "sum of probabilities", curves)]


def build_variations(data: FigureData) -> list[Panel]:
    """Return rates for all k and list lengths [BeyondBenchmarks, Fig. 22]."""
    settings, curves = data.settings, []
    for style, length in enumerate(settings.all_lengths, start=1):
        for dash, k in enumerate(settings.all_k):
            curve = data.select(data.models[0], "normed", "rate", k, length)
            curves.append(_restyle(curve, f"k = {k}, list of {length:,}", style, dash, 100.0))
    return [Panel("", "attribute rate (%)", curves, bands=False)]


def build_rates(data: FigureData) -> list[Panel]:
    """Return rates and probability sums of all models, and their changes [BeyondBenchmarks, Figs. 11, 23]."""
    metrics = [("rate", "attribute rate", "%", 100.0), ("inside", "probability sum", "probability", 1.0)]
    return _build_family(data, metrics)


def build_targets(data: FigureData) -> list[Panel]:
    """Return rank and probability of the true target and their changes [BeyondBenchmarks, Figs. 12, 24]."""
    metrics = [
        ("rank", "rank of the target", "rank", 1.0),
        ("probability", "probability of the target", "probability", 1.0),
    ]
    return _build_family(data, metrics)


def _build_family(data: FigureData, metrics: Sequence[tuple[str, str, str, float]]) -> list[Panel]:
    """Return a panel for each metric and, if there are comparisons, one for its change below."""
    panels, changes = [], []
    first = data.names[data.models[0]]
    against = "change from " + ("the first" if len(first) > _REFERENCE_NAME else first) + " (%)"
    for metric, name, unit, scale in metrics:
        curves = [
            _restyle(data.select(model, "normed", metric), model, place, None, scale)
            for place, model in enumerate(data.models)
        ]
        panels.append(Panel(name, unit, curves, log=metric == "rank"))
        others = [
            _restyle(data.select_change(model, "normed", metric), model, place)
            for place, model in enumerate(data.models)
            if place
        ]
        changes.append(Panel(f"change of the\n{name}", against, others, zero=True))
    return [*panels, *changes] if any(curve.layers for panel in changes for curve in panel.curves) else panels


def build_lens(data: FigureData) -> list[Panel]:
    """Return entropy, agreement and divergence of the reference model, logit lens and tuned lens."""
    panels = []
    for metric, title, unit in (
        ("entropy", "entropy", "nats"),
        ("agreement", "same top token\nas the last layer", "share of positions"),
        ("divergence", "divergence\nfrom the last layer", "nats"),
    ):
        curves = [
            _restyle(data.select(data.models[0], projection, metric), f"{name} lens", style, style - 1)
            for style, (projection, name) in enumerate((("normed", "plain"), ("tuned", "tuned")), start=1)
        ]
        panels.append(Panel(title, unit, [curve for curve in curves if curve.layers]))
    return panels


BUILDERS: dict[str, tuple[Callable[[FigureData], list[Panel]], str]] = {
    "norm": (build_norm, "Attributes by layer, {model}"),
    "sums": (build_sums, "Probability by layer, {model}"),
    "variations": (build_variations, "Attribute rate by number of tokens (k) and list length, {model}"),
    "rates": (build_rates, "Attributes by layer"),
    "targets": (build_targets, "True targets by layer"),
    "lens": (build_lens, "Logit lens, {model}"),
}
"""Builder and title of each figure of curves, by name."""


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw one figure of a family of models on one domain."""
    data = FigureData(
        settings.members,
        read_rows(inputs["summary"], LAYER_SUMMARY),
        read_rows(inputs["changes"], LAYER_CHANGES),
        read_table(inputs["rates"], LAYER_RATES),
        settings.layers,
        settings.summary.confidence,
        settings.titles,
    )
    title = settings.title or parts["domain"]
    name = parts["figure"]
    return draw_keywords(data, title) if name == "keywords" else draw_curves(name, data, title)


def draw_curves(name: str, data: FigureData, title: str) -> DrawnFigure:
    """Draw one figure of BUILDERS; raise `InputError` if there is no data to draw."""
    build, what = BUILDERS[name]
    panels = build(data)
    if not any(curve.layers for panel in panels for curve in panel.curves):
        raise InputError(f"no data for figure {name!r}", data.models[0], "measure it first")
    model = data.names[data.models[0]]
    lines = [what.format(model=clean_name(model)), wrap_name(title, 70), _describe(panels, data)]
    heading = "\n".join([*lines, *_tell_gaps(panels)])
    rows = [
        (" ".join(panel.title.split()) or panel.label, curve.label, layer, *point)
        for panel in panels
        for curve in panel.curves
        for layer, *point in zip(curve.layers, curve.value, curve.low, curve.high, strict=True)
    ]
    return draw_panels(panels, heading, data.names), (LAYER_CURVES, rows)


def _describe(panels: Sequence[Panel], data: FigureData) -> str:
    """Return what the curves average over, and what their bands are."""
    counts = [curve.keywords for panel in panels for curve in panel.curves if curve.layers]
    text = f"Means over {describe_count(counts, 'keyword')}"
    if not any(panel.bands for panel in panels):
        return text
    text += f"; bands: {format_share(data.confidence)} intervals"
    return text + (", of changes for all layers at once" if any(panel.zero for panel in panels) else "")


def _tell_gaps(panels: Sequence[Panel]) -> list[str]:
    """Return lines on changes without a value or without a band: how many, and why."""
    curves = [curve for panel in panels if panel.zero for curve in panel.curves]
    values = np.concatenate([[], *(curve.value for curve in curves)])
    ends = np.concatenate([np.empty((0, 2)), *(np.c_[curve.low, curve.high] for curve in curves)])
    defined, banded = np.isfinite(values), np.isfinite(ends).all(axis=1)
    undefined, alone, every = (~defined).sum(), (defined & ~banded).sum(), f"of {len(values):,} changes"
    lines = (
        [f"Not drawn: {undefined:,} {every}, undefined because the first model has 0"] if undefined else []
    )
    why = "because some sample of keywords has 0 or no spread"
    return [*lines, f"Without a band: {alone:,} {every}, {why}"] if alone else lines


def draw_panels(panels: Sequence[Panel], title: str, names: Mapping[str, str] | None = None) -> "Figure":
    """Draw panels, two or three per row, with one legend below; call it inside `use_style`.

    `names`: what curves are called in the legend, by their labels.
    """
    columns = 3 if len(panels) in (3, 6) else min(2, len(panels))
    called = names or {}
    labels = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
    width = 8.0 if columns > 1 else 6.0
    legend_columns = _count_columns([called.get(label, label) for label in labels], width)
    below = 0.25 * math.ceil(len(labels) / legend_columns) if len(labels) > 1 else 0
    height = (1.0 + below, 3.0 if columns == 1 else 2.6)
    figure, grid = make_panels(
        len(panels), columns, (width, 0.0), height, sharey=_share_axes(panels, columns)
    )
    figure.suptitle(title)
    handles: dict[str, Any] = {}
    for axes, panel in zip(grid.flat, panels, strict=False):
        handles = {**_draw_panel(axes, panel), **handles}
    if len(labels) > 1:
        shown = {label: wrap_name(called.get(label, label), 76) for label in labels if label in handles}
        add_legend(figure, {name: handles[label] for label, name in shown.items()}, legend_columns)
    return figure


def _share_axes(panels: Sequence[Panel], columns: int) -> "bool | Literal['row']":
    """Share the vertical axes of lines of panels if each line shows one quantity, to compare by eye."""
    lines = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    return "row" if all(len({panel.label for panel in line}) == 1 for line in lines) else False


def _count_columns(labels: Sequence[str], width: float) -> int:
    """Return how many columns of labels, up to three, fit a legend of a width in inches."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(size=rcParams["legend.fontsize"])
    widest = max(TextPath((0, 0), label, prop=font).get_extents().width for label in labels) / 72
    return max(1, min(3, len(labels), int(width / (widest + 0.65))))  # with the line sample and a gap


def _cut_bands(axes: "Axes", values: Any) -> None:
    """Limit an axis if bands are far wider than the span of the curves.

    The change of a probability of almost 0 has a band without an end.
    """
    finite = [0.0, *values[np.isfinite(values)]]
    low, high = min(finite), max(finite)
    reach = _BAND_REACH * ((high - low) or 1.0)
    least, most = axes.dataLim.y0, axes.dataLim.y1  # without margins, which grow with the bands
    bottom, top = max(least, low - reach), min(most, high + reach)
    margin = 0.05 * (top - bottom)
    axes.set_ylim(bottom - margin, top + margin)


def _draw_panel(axes: "Axes", panel: Panel) -> dict[str, Any]:
    from matplotlib import colormaps
    from matplotlib.ticker import MaxNLocator

    many = any(curve.style >= len(LAYER_COLORS) for curve in panel.curves)
    handles = {}
    for index, curve in enumerate(panel.curves):
        if not curve.layers:
            log.info("%s: no data for %s", panel.label, curve.label)
            continue
        gradient = colormaps["viridis"](index / max(1, len(panel.curves) - 1))
        shade = gradient if many else LAYER_COLORS[curve.style % 8]
        dash = _DASHES[(curve.style if curve.dash is None else curve.dash) % 4]
        marker = "" if many else _MARKERS[curve.style % 8]
        (drawn,) = axes.plot(
            curve.layers, curve.value, color=shade, linestyle=dash, marker=marker, markersize=4,
            markerfacecolor="white" if curve.style % 2 else shade,
        )  # fmt: skip
        if panel.bands:
            axes.fill_between(curve.layers, curve.low, curve.high, color=shade, alpha=0.15, linewidth=0)
        handles[curve.label] = drawn
    if panel.zero:
        axes.axhline(0, color="0.4", linewidth=0.8)
    values = np.array([number for curve in panel.curves for number in curve.value])
    if panel.log and np.nanmax(values, initial=0) > 20 * np.nanmin(values, initial=np.inf) > 0:
        axes.set_yscale("log")
    if panel.bands and panel.zero:
        _cut_bands(axes, values)
    number_ticks(axes.yaxis)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("layer (0: embedding)")
    axes.set_ylabel(label_scale(panel.label, axes.yaxis))
    if panel.title:
        axes.set_title(panel.title)
    return handles


def choose_keywords(rates: pl.DataFrame, settings: Layers) -> pl.DataFrame:
    """Return rates by keyword and layer, best keyword first; at most 40 keywords, evenly spaced.

    Column keyword, then one column per layer, in percent.
    """
    standard = rates.filter(projection="normed", k=settings.k, list_length=settings.list_length)
    if standard.is_empty():
        raise InputError("no rates with the final norm", "layers.projections", "add normed")
    wide = (
        standard.with_columns(pl.col("rate") * 100)
        .sort("layer")
        .pivot("layer", index="keyword", values="rate")
    )
    order = wide.with_columns(mean=pl.mean_horizontal(pl.exclude("keyword")))
    ordered = order.sort(["mean", "keyword"], descending=[True, False]).drop("mean")
    step = (len(ordered) - 1) / max(1, _HEAT_ROWS - 1)
    rows = range(len(ordered)) if step <= 1 else [round(row * step) for row in range(_HEAT_ROWS)]
    return ordered[list(rows)]


def draw_keywords(data: FigureData, title: str) -> DrawnFigure:
    """Draw the heat map of keywords by layer."""
    table = choose_keywords(data.rates, data.settings)
    total = data.rates["keyword"].n_unique()
    model = data.names[data.models[0]]
    heading = f"Attribute rate (%), {clean_name(model)}\n{wrap_name(title, 60)}"
    if len(table) < total:
        heading += f", {len(table)} of {total} keywords"
    rows = table.rename({name: f"layer {name}" for name in table.columns[1:]}).rows(named=True)
    return draw_heat_map(table, heading), (LAYER_KEYWORDS, rows)


def draw_heat_map(table: pl.DataFrame, title: str) -> "Figure":
    """Draw a heat map of rates by keyword and layer; call it inside `use_style`."""
    from matplotlib.ticker import MaxNLocator

    values = table.drop("keyword").to_numpy()
    figure = make_figure(7.0, 1.4 + 0.19 * len(table))
    figure.suptitle(title)
    axes = figure.subplots()
    image = axes.imshow(values, aspect="auto", cmap=LAYER_COLOR_MAP, vmin=0, interpolation="nearest")
    names = [wrap_name(name, 40).partition("\n") for name in table["keyword"]]
    axes.set_yticks(
        range(len(table)), [first + ("…" if more else "") for first, more, _ in names], fontsize=7.5
    )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("layer (0: embedding)")
    axes.grid(visible=False)
    figure.colorbar(image, ax=axes, label="attribute rate (%)")
    return figure
