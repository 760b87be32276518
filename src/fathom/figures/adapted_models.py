"""Adapted models by every metric, and how far each metric agrees with the reference.

Source: [RawCorpora, Figs. 4, 8, 10], [BeyondBenchmarks, Figs. 2, 3, 13, 14]: one drawing, with trimmed means,
plain means or medians of the ranks. Where a domain has no reference, metrics are held against its TF ranks.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.figures.metric_rows import Row, draw_rows
from fathom.figures.model_ranks import scale_axis
from fathom.figures.style import (
    VARIANT_SERIES,
    clean_name,
    make_figure,
    place_labels,
    save_figure,
    use_style,
    wrap_name,
)
from fathom.io.contracts.scoring import SUMMARY_COLUMNS
from fathom.io.files import read_delimited, write_delimited
from fathom.scoring.correlations import Correlation, correlate_series
from fathom.scoring.statistics import STATISTICS
from fathom.scoring.summaries import Estimate, format_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BASELINES = {"perplexity": "Perplexity", "attribute_rate": "Attribute rate"}
TABLE_COLUMNS = (
    "metric", "model", "value", "ci_low", "ci_high", "against", "r", "r_low", "r_high", "p",
)  # fmt: skip
"""Columns of the figure's table; the correlation is that of the metric, the same for all models."""

_WIDTH, _SCATTER, _LINE, _TICKS = 2.35, 2.3, 0.34, 3

Metrics = dict[str, dict[str, Estimate]]
"""Estimates by metric (a variant, perplexity, attribute_rate) and model."""


class Agreement(NamedTuple):
    """Correlation of a metric with the one that it is held against."""

    metric: str
    against: str
    found: Correlation


def read_metrics(summary: Path | str, domain: str, models: Sequence[str], statistic: str) -> Metrics:
    """Read what the figure shows from `summary.csv`.

    Parameters
    ----------
    summary : Path or str
        CSV under SUMMARY_COLUMNS.
    domain : str
    models : sequence of str
    statistic : str
        Aggregate of the ranks.

    Returns
    -------
    dict
        The reference first if there is one, then TF, TF-IDF, perplexity, attribute rate.

    Raises
    ------
    InputError
        If a column is missing, a value is no number, or a model has no TF rank.
    """
    found: Metrics = {}
    for number, row in enumerate(read_delimited(summary, ",", SUMMARY_COLUMNS), start=2):
        name = row["variant"] if row["metric"] == "rank" else row["metric"]
        wanted = row["aggregate"] == statistic if row["metric"] == "rank" else name in BASELINES
        if row["domain"] != domain or row["model"] not in models or not wanted:
            continue
        try:
            numbers = [float(row[key] or "nan") for key in ("value", "ci_low", "ci_high")]
        except ValueError as error:
            raise InputError(
                f"not a number: {error}", f"{summary}, line {number}", "create it again"
            ) from error
        found.setdefault(name, {})[row["model"]] = Estimate(*numbers)
    missing = sorted(set(models) - set(found.get(VARIANTS[0], {})))
    if missing:
        raise InputError(f"no TF rank of {', '.join(missing)} on {domain}", str(summary), "score them first")
    return {name: found[name] for name in (REFERENCE, *VARIANTS, *BASELINES) if name in found}


def measure_agreements(metrics: Metrics, settings: Summary) -> list[Agreement]:
    """Return Pearson's correlation of each metric with the first one, over models that have both."""
    import numpy as np

    first, *others = metrics
    found = []
    for name in others:
        both = [model for model in metrics[first] if model in metrics[name]]
        values = [np.array([metrics[each][model].value for model in both]) for each in (name, first)]
        found.append(Agreement(name, first, correlate_series(values[0], values[1], settings)[0]))
    return found


def plot_adapted(
    metrics: Metrics, title: str, statistic: str, files: tuple[Path, Path, Path], settings: Summary
) -> list[Agreement]:
    """Draw and save the figure of one base and domain, write its numbers; return the agreements."""
    pdf, png, table = files
    agreements = measure_agreements(metrics, settings)
    with use_style():
        save_figure(draw_adapted(metrics, agreements, title, statistic, settings), pdf, png)
    correlations = {each.metric: each for each in agreements}
    rows = []
    for name, models in metrics.items():
        told = correlations.get(name)
        ends = (told.found.value, told.found.low, told.found.high, told.found.p) if told else [math.nan] * 4
        for model, estimate in models.items():
            numbers = (*map(format_number, estimate), told.against if told else "", *map(format_number, ends))
            rows.append((name, model, *numbers))
    write_delimited(table, TABLE_COLUMNS, rows, ",")
    return agreements


def draw_adapted(
    metrics: Metrics, agreements: Sequence[Agreement], title: str, statistic: str, settings: Summary
) -> "Figure":
    """Draw models by every metric on top, each metric against the first one below; call it in `use_style`.

    Parameters
    ----------
    metrics : dict
        See :func:`read_metrics`; models in the order from top to bottom.
    agreements : sequence of Agreement
        See :func:`measure_agreements`.
    title : str
        Name of the domain.
    statistic : str
        Aggregate of the ranks.
    settings : Summary
    """
    first = next(iter(metrics))
    models = list(metrics[first])
    names = [f"{wrap_name(model, 24)}  {number}" for number, model in enumerate(models, start=1)]
    lines = sum(name.count("\n") + 1 for name in names)
    top = 0.6 + _LINE * max(len(models), 0.6 * lines)
    figure = make_figure(1.9 + _WIDTH * len(metrics), 1.4 + top + _SCATTER)
    figure.suptitle(_describe(title, statistic, settings))
    grid = figure.subplots(2, len(metrics), squeeze=False, height_ratios=[top, _SCATTER])
    for place, (name, values) in enumerate(metrics.items()):
        axes = grid[0][place]
        rows = [Row(models.index(model), VARIANT_SERIES.get(name), *each) for model, each in values.items()]
        draw_rows(axes, names if not place else [""] * len(models), rows)
        axes.set_title(_label(name))
        scale_axis(axes, "x", [n for row in rows for n in row[2:] if math.isfinite(n)], _TICKS)
    grid[1][0].set_visible(False)
    labels = []
    for axes, agreement in zip(grid[1][1:], agreements, strict=True):
        labels.append(_draw_agreement(axes, metrics, agreement, models))
    grid[1][1].set_ylabel(_label(first))
    for axes, (points, texts) in zip(grid[1][1:], labels, strict=True):
        place_labels(axes, points, texts)
    return figure


def _draw_agreement(
    axes: "Axes", metrics: Metrics, agreement: Agreement, models: Sequence[str]
) -> tuple[list[tuple[float, float]], list[str]]:
    """Draw a point for each model; return the points and their numbers."""
    values, others = metrics[agreement.metric], metrics[agreement.against]
    both = [model for model in others if model in values]
    points = [(values[model].value, others[model].value) for model in both]
    for which, some in zip("xy", zip(*points, strict=True), strict=True):
        scale_axis(axes, which, list(some), _TICKS)
    axes.plot(*zip(*points, strict=True), color="0.25", marker="D", markersize=4.5, linestyle="none")
    axes.set_xlabel(_label(agreement.metric))
    axes.set_title(_tell(agreement.found), fontsize=9)
    return points, [str(models.index(model) + 1) for model in both]


def _tell(found: Correlation) -> str:
    """Return a correlation in two lines, or why there is none."""
    if math.isnan(found.value):
        return "no correlation:\ntoo few or equal models"
    p = "p < 0.001" if found.p < 0.001 else f"p = {found.p:.3f}"
    ends = "" if math.isnan(found.low) else f"\n{found.low:.2f} to {found.high:.2f}"
    return f"r = {found.value:.2f}, {p}{ends}"


def _label(name: str) -> str:
    """Return what a metric is called."""
    return f"{VARIANT_SERIES[name].label} rank" if name in VARIANT_SERIES else BASELINES[name]


def _describe(title: str, statistic: str, settings: Summary) -> str:
    """Return the title: the domain, how ranks are summed up, and what whiskers are."""
    label = STATISTICS[statistic].label
    label = f"{100 * settings.trim:.4g} % {label}" if statistic == "trimmed_mean" else label
    return f"{clean_name(title)}\nRanks: {label}. Whiskers: {100 * settings.confidence:.4g} % intervals"


def order_models(metrics: Mapping[str, Mapping[str, Estimate]], models: Sequence[str]) -> Metrics:
    """Return the metrics with their models in a given order."""
    return {name: {model: some[model] for model in models if model in some} for name, some in metrics.items()}
