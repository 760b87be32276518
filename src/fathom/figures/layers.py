"""What every layer says: rates, sums, targets and lenses of a family of models.

Source: [BeyondBenchmarks, Figs. 9-12, 22-24].
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.config.layers import Layers
from fathom.errors import InputError
from fathom.figures.style import clean_name, make_figure, save_figure, use_style, wrap_name
from fathom.io.contracts.layers import LAYER_CHANGE_COLUMNS, LAYER_SUMMARY_COLUMNS
from fathom.io.files import read_delimited, write_delimited
from fathom.running.program import log

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TABLE_COLUMNS = ("panel", "series", "layer", "value", "low", "high")
"""Header of the numbers of a figure of curves."""

_COLORS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES = ("-", "--", ":", "-.")
_HEAT_ROWS = 40
_NAMES = {"normed": "with the final norm", "raw": "without the norm", "geva": "as Geva et al. (2023)"}


@dataclass(frozen=True)
class Line:
    """One curve: a value with its interval at some layers; NaN is left out."""

    label: str
    layers: Sequence[int]
    value: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    look: int = 0
    dash: int | None = None


@dataclass(frozen=True)
class Panel:
    """Curves that share an axis."""

    title: str
    label: str
    lines: list[Line]
    zero: bool = False
    log: bool = False
    bands: bool = True


@dataclass(frozen=True)
class Numbers:
    """What a figure is made of.

    Attributes
    ----------
    models : list of str
        A family, the one that others are compared with first.
    summary, changes : list of dict
        Lines of layers.csv and layer-changes.csv.
    rates : DataFrame
        Rates of the first model by keyword and layer, under contract LAYER_RATES.
    settings : Layers
    """

    models: list[str]
    summary: list[dict[str, str]]
    changes: list[dict[str, str]]
    rates: pl.DataFrame
    settings: Layers = field(default_factory=Layers)

    def pick(self, model: str, projection: str, metric: str, k: Any = None, length: Any = None) -> Line:
        """Return a metric of one model by layer; rates at the standard k and length if none are given."""
        if metric in ("rate", "inside", "outside", "outside_any"):
            k, length = k or self.settings.k, length or self.settings.list_length
        counts = {
            name: "" if value is None else str(value) for name, value in (("k", k), ("list_length", length))
        }
        wanted = {"model": model, "projection": projection, "metric": metric, **counts}
        return _make_line(model, self.summary, wanted, "value")

    def pick_change(self, model: str, projection: str, metric: str) -> Line:
        """Return the percentage change of one model against the first of the family."""
        wanted = {"model": model, "reference": self.models[0], "projection": projection, "metric": metric}
        return _make_line(model, self.changes, wanted, "change")


def read_numbers(path: Path | str, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read layers.csv or layer-changes.csv; raise `InputError` if a column is missing."""
    rows = read_delimited(path, ",")
    missing = [name for name in columns if rows and name not in rows[0]]
    if missing:
        raise InputError(f"columns are missing: {', '.join(missing)}", str(path), "make it again")
    return rows


def _make_line(label: str, rows: Iterable[Mapping[str, str]], wanted: Mapping[str, str], value: str) -> Line:
    """Return the rows that hold some values as a curve, by layer."""
    found = [row for row in rows if all(row[name] == text for name, text in wanted.items())]
    found.sort(key=lambda row: int(row["layer"]))
    columns = [[float(row[name] or "nan") for row in found] for name in (value, "ci_low", "ci_high")]
    numbers, low, high = columns
    return Line(label, [int(row["layer"]) for row in found], numbers, low, high)


def _look(line: Line, label: str, look: int, dash: int | None = None, scale: float = 1.0) -> Line:
    """Return a curve under another name and look, its numbers multiplied."""
    value, low, high = ([scale * number for number in part] for part in (line.value, line.low, line.high))
    return Line(label, line.layers, value, low, high, look, dash)


def build_norm(numbers: Numbers) -> list[Panel]:
    """Return rates and probability sums with the norm and without it [BeyondBenchmarks, Fig. 9]."""
    panels = []
    for metric, name, scale in (("rate", "attribute rate", 100.0), ("inside", "probability sum", 1.0)):
        for projection in sorted(numbers.settings.projections, key=list(_NAMES).index):
            line = numbers.pick(numbers.models[0], projection, metric)
            unit = "%" if scale > 1 else "probability"
            shown = [_look(line, numbers.models[0], 1, scale=scale)]
            panels.append(Panel(f"{name},\n{_NAMES[projection]}", unit, shown))
    return panels


def build_sums(numbers: Numbers) -> list[Panel]:
    """Return probability sums inside the list and outside of it [BeyondBenchmarks, Fig. 10]."""
    k, first = numbers.settings.k, numbers.models[0]
    series = {
        "inside": f"of the {k} likeliest content words, in the list",
        "outside": f"of the {k} likeliest content words, not in the list",
        "outside_any": f"of the {k} likeliest tokens of any kind, not in the list",
    }
    lines = [
        _look(numbers.pick(first, "normed", metric), label, place, place)
        for place, (metric, label) in enumerate(series.items(), start=1)
    ]
    return [Panel("", "sum of probabilities", lines)]


def build_variations(numbers: Numbers) -> list[Panel]:
    """Return rates for other numbers of tokens and lengths of the list [BeyondBenchmarks, Fig. 22]."""
    settings, lines = numbers.settings, []
    for look, length in enumerate(settings.all_lengths, start=1):
        for dash, k in enumerate(settings.all_k):
            line = numbers.pick(numbers.models[0], "normed", "rate", k, length)
            lines.append(_look(line, f"k = {k}, list of {length:,}", look, dash, 100.0))
    return [Panel("", "attribute rate (%)", lines, bands=False)]


def build_rates(numbers: Numbers) -> list[Panel]:
    """Return rates and probability sums of all models, and their changes [BeyondBenchmarks, Figs. 11, 23]."""
    metrics = [("rate", "attribute rate", "%", 100.0), ("inside", "probability sum", "probability", 1.0)]
    return _build_family(numbers, metrics)


def build_targets(numbers: Numbers) -> list[Panel]:
    """Return rank and probability of the true target of all models, and their changes.

    Source: [BeyondBenchmarks, Figs. 12, 24].
    """
    metrics = [
        ("rank", "rank of the target", "rank", 1.0),
        ("probability", "probability of the target", "probability", 1.0),
    ]
    return _build_family(numbers, metrics)


def _build_family(numbers: Numbers, metrics: Sequence[tuple[str, str, str, float]]) -> list[Panel]:
    """Return a panel for each metric, and below it one for its change, where anything is compared."""
    panels, changes = [], []
    for metric, name, unit, scale in metrics:
        lines = [
            _look(numbers.pick(model, "normed", metric), model, place, None, scale)
            for place, model in enumerate(numbers.models)
        ]
        panels.append(Panel(name, unit, lines, log=metric == "rank"))
        others = [
            _look(numbers.pick_change(model, "normed", metric), model, place)
            for place, model in enumerate(numbers.models)
            if place
        ]
        changes.append(Panel(f"change of the {name}", "% of the first model's", others, zero=True))
    return [*panels, *changes] if any(line.layers for panel in changes for line in panel.lines) else panels


def build_lens(numbers: Numbers) -> list[Panel]:
    """Return entropy, agreement and divergence of the first model, plain and tuned."""
    panels = []
    for metric, title, unit in (
        ("entropy", "entropy", "nats"),
        ("agreement", "same top token\nas the last layer", "share of positions"),
        ("divergence", "divergence\nfrom the last layer", "nats"),
    ):
        lines = [
            _look(numbers.pick(numbers.models[0], projection, metric), f"{name} lens", look, look - 1)
            for look, (projection, name) in enumerate((("normed", "plain"), ("tuned", "tuned")), start=1)
        ]
        panels.append(Panel(title, unit, [line for line in lines if line.layers]))
    return panels


BUILDERS: dict[str, tuple[Callable[[Numbers], list[Panel]], str]] = {
    "norm": (build_norm, "Attributes by layer, {model}"),
    "sums": (build_sums, "Probability by layer, {model}"),
    "variations": (build_variations, "Tokens looked at and lengths of the list, {model}"),
    "rates": (build_rates, "Attributes by layer"),
    "targets": (build_targets, "True targets by layer"),
    "lens": (build_lens, "Logit lens, {model}"),
}
"""Figures of curves by name: what builds them, and their title."""


def plot_curves(name: str, numbers: Numbers, title: str, files: tuple[Path, Path, Path]) -> None:
    """Draw and save one figure of curves.

    Parameters
    ----------
    name : str
        One of BUILDERS.
    numbers : Numbers
    title : str
        Name of the domain.
    files : tuple of Path
        PDF, PNG, and CSV of the numbers.

    Raises
    ------
    InputError
        If there is nothing to draw.
    """
    build, what = BUILDERS[name]
    panels = build(numbers)
    if not any(line.layers for panel in panels for line in panel.lines):
        raise InputError(f"figure {name!r} has nothing to show", numbers.models[0], "measure it first")
    pdf, png, table = files
    with use_style():
        heading = f"{what.format(model=clean_name(numbers.models[0]))}\n{wrap_name(title, 70)}"
        save_figure(draw_panels(panels, heading), pdf, png)
    rows = [
        (
            " ".join(panel.title.split()) or panel.label,
            line.label,
            layer,
            *(f"{n:.6g}" if math.isfinite(n) else "" for n in point),
        )
        for panel in panels
        for line in panel.lines
        for layer, *point in zip(line.layers, line.value, line.low, line.high, strict=True)
    ]
    write_delimited(table, TABLE_COLUMNS, rows, ",")


def draw_panels(panels: Sequence[Panel], title: str) -> "Figure":
    """Draw panels, two or three in a row, with one legend below; to be called inside `use_style`."""
    columns = 3 if len(panels) in (3, 6) else min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    width = 8.0 if columns > 1 else 6.0
    beside = _count_columns(labels, width)
    below = 0.25 * math.ceil(len(labels) / beside) if len(labels) > 1 else 0
    figure = make_figure(width, 0.8 + (3.0 if columns == 1 else 2.6) * rows + below)
    figure.suptitle(title)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    for axes, panel in zip(grid, panels, strict=False):
        handles = {**_draw_panel(axes, panel), **handles}
    if len(labels) > 1:
        shown = [label for label in labels if label in handles]
        names = [wrap_name(label, 76) for label in shown]
        figure.legend([handles[label] for label in shown], names, loc="outside lower center", ncols=beside)
    return figure


def _count_columns(labels: Sequence[str], width: float) -> int:
    """Return how many labels, up to three, fit beside each other in a legend that is so many inches wide."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(size=rcParams["legend.fontsize"])
    widest = max(TextPath((0, 0), label, prop=font).get_extents().width for label in labels) / 72
    return max(1, min(3, len(labels), int(width / (widest + 0.65))))  # the line before it, and the gap


def _draw_panel(axes: "Axes", panel: Panel) -> dict[str, Any]:
    """Draw the curves of one panel with their bands; return what stands for each in the legend."""
    import numpy as np
    from matplotlib import colormaps
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    many = any(line.look >= len(_COLORS) for line in panel.lines)
    handles = {}
    for place, line in enumerate(panel.lines):
        if not line.layers:
            log.info("%s: nothing to draw for %s", panel.label, line.label)
            continue
        shade = colormaps["viridis"](place / max(1, len(panel.lines) - 1)) if many else _COLORS[line.look % 8]
        dash = _DASHES[(line.look if line.dash is None else line.dash) % 4]
        marker = "" if many else _MARKERS[line.look % 8]
        (drawn,) = axes.plot(
            line.layers, line.value, color=shade, linestyle=dash, marker=marker, markersize=4,
            markerfacecolor="white" if line.look % 2 else shade,
        )  # fmt: skip
        if panel.bands:
            axes.fill_between(line.layers, line.low, line.high, color=shade, alpha=0.15, linewidth=0)
        handles[line.label] = drawn
    if panel.zero:
        axes.axhline(0, color="0.4", linewidth=0.8)
    values = np.array([number for line in panel.lines for number in line.value])
    if panel.log and np.nanmax(values, initial=0) > 20 * np.nanmin(values, initial=np.inf) > 0:
        axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("layer (0: embedding)")
    axes.set_ylabel(panel.label)
    if panel.title:
        axes.set_title(panel.title)
    return handles


def choose_keywords(rates: pl.DataFrame, settings: Layers) -> pl.DataFrame:
    """Return the rate of keywords by layer, best keyword first, at most 40 of them, evenly spread.

    Parameters
    ----------
    rates : DataFrame
        Under contract LAYER_RATES.

    Returns
    -------
    DataFrame
        Column keyword, then one for each layer, in percent.
    """
    standard = rates.filter(projection="normed", k=settings.k, list_length=settings.list_length)
    if standard.is_empty():
        raise InputError("there are no rates with the final norm", "layers.projections", "add normed")
    wide = (
        standard.with_columns(pl.col("rate") * 100)
        .sort("layer")
        .pivot("layer", index="keyword", values="rate")
    )
    order = wide.with_columns(mean=pl.mean_horizontal(pl.exclude("keyword")))
    ordered = order.sort(["mean", "keyword"], descending=[True, False]).drop("mean")
    step = (len(ordered) - 1) / max(1, _HEAT_ROWS - 1)
    places = range(len(ordered)) if step <= 1 else [round(place * step) for place in range(_HEAT_ROWS)]
    return ordered[list(places)]


def plot_keywords(numbers: Numbers, title: str, files: tuple[Path, Path, Path]) -> None:
    """Draw and save the heat map of keywords by layers."""
    table = choose_keywords(numbers.rates, numbers.settings)
    pdf, png, numbers_path = files
    total = numbers.rates["keyword"].n_unique()
    with use_style():
        heading = f"Attribute rate (%), {clean_name(numbers.models[0])}\n{wrap_name(title, 60)}"
        if len(table) < total:
            heading += f", {len(table)} of {total} keywords"
        save_figure(draw_heat_map(table, heading), pdf, png)
    rows = [tuple(f"{n:.6g}" if isinstance(n, float) else n for n in row) for row in table.iter_rows()]
    write_delimited(numbers_path, ["keyword", *(f"layer {name}" for name in table.columns[1:])], rows, ",")


def draw_heat_map(table: pl.DataFrame, title: str) -> "Figure":
    """Draw rates of keywords by layer as colours; to be called inside `use_style`."""
    from matplotlib.ticker import MaxNLocator

    values = table.drop("keyword").to_numpy()
    figure = make_figure(7.0, 1.4 + 0.19 * len(table))
    figure.suptitle(title)
    axes = figure.subplots()
    image = axes.imshow(values, aspect="auto", cmap="cividis", vmin=0, interpolation="nearest")
    names = [wrap_name(name, 40).partition("\n") for name in table["keyword"]]
    axes.set_yticks(
        range(len(table)), [first + ("…" if more else "") for first, more, _ in names], fontsize=7.5
    )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("layer (0: embedding)")
    axes.grid(visible=False)
    figure.colorbar(image, ax=axes, label="attribute rate (%)")
    return figure


COLUMNS = (LAYER_SUMMARY_COLUMNS, LAYER_CHANGE_COLUMNS)
"""Headers of the two tables that figures are drawn from."""
