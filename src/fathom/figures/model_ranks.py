"""Models by rank on one domain, and how well its benchmarks agree [RawCorpora, Fig. 7].

With a reference benchmark [RawCorpora, Sec. 3.2], its ranks and its agreement with the others are shown as
well. Ranks on documents from before and after the last day of each model's training text have a separate
figure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.scoring import Summary
from fathom.config.short_names import References, Titles, clean_name, label_variant, shorten_names
from fathom.errors import InputError
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts, Table, require_known
from fathom.figures.panels import (
    PanelRow,
    add_legend,
    describe_r,
    draw_note,
    draw_rows,
    format_share,
    needs_log_axis,
)
from fathom.figures.style import (
    RANKING_COLORS,
    Series,
    label_scale,
    make_figure,
    number_ticks,
    place_labels,
    style_variant,
    wrap_name,
)
from fathom.io.contracts.figures import DATES_FIGURE, MODEL_RANKS
from fathom.io.contracts.statistics import AFTER, BEFORE, DATES, SUMMARY
from fathom.io.delimited import Row, read_rows, scan_rows
from fathom.jobs.program import log
from fathom.statistics.aggregates import COMPARED, LEADING, TRIMMED_MEAN, Statistic
from fathom.statistics.correlations import correlate
from fathom.statistics.metrics import RANK, Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Rank:
    """One statistic of ranks with its interval, and the clusters drawn; NaN if it could not be estimated."""

    value: float
    low: float
    high: float
    pairs: int
    clusters: str = ""


@dataclass(frozen=True)
class ModelRanks:
    """One statistic of the ranks of one model on one domain, by variant; those without a score are absent."""

    model: str
    ranks: dict[str, Rank] = field(default_factory=dict)

    def order(self, sign: int) -> tuple[float, float, str]:
        """Return a sort key: value on the TF benchmark, then on TF-IDF, best first; then name."""
        tf, tfidf = (-sign * self.ranks[v].value if v in self.ranks else math.inf for v in VARIANTS)
        return tf, tfidf, self.model


def read_model_ranks(
    summary: Path | str, statistic: Statistic = LEADING, metric: Metric = RANK
) -> dict[str, list[ModelRanks]]:
    """Read one statistic of the ranks of every domain from `summary.csv`, best model first.

    Raise `InputError` if a value is not a number, a row is duplicated, or there is no rank by the leading
    statistic. Returned: by domain, in the order of the file; models by TF rank, then TF-IDF rank, then name.
    Empty if an older table lacks a statistic or metric other than the leading one.
    """
    found: dict[str, dict[str, dict[str, Rank]]] = {}
    for where, row in scan_rows(summary, SUMMARY):
        if (row["metric"], row["aggregate"]) != (metric.name, statistic.name):
            continue
        ranks = found.setdefault(row["domain"], {}).setdefault(row["model"], {})
        rank = Rank(row["value"], row["ci_low"], row["ci_high"], row["pairs"], row["clusters"])
        if math.isfinite(rank.value):
            ranks[row["variant"]] = rank
        else:
            log.info("%s: model %s has no rank on %s, left out", where, row["model"], row["variant"])
    if not found and (metric, statistic) == (RANK, LEADING):
        raise InputError(
            f"no {statistic.label} ranks in this table", str(summary), "score at least one model first"
        )
    return {
        domain: sorted(
            (ModelRanks(name, ranks) for name, ranks in models.items()),
            key=lambda model: model.order(metric.sign),
        )
        for domain, models in found.items()
    }


def select_domain(ranks: dict[str, list[ModelRanks]], domain: str, summary: Path | str) -> list[ModelRanks]:
    """Return the models of one domain that have a rank; log which have none."""
    require_known("domain", domain, ranks, summary)
    models = [model for model in ranks[domain] if model.ranks]
    if not models:
        raise InputError(f"no model has a rank on domain {domain!r}", str(summary), "see the scores' reports")
    for variant in find_variants(models):
        without = [model.model for model in models if variant not in model.ranks]
        if without:
            label = label_variant(variant, {})
            log.info("domain %s: no %s rank for %s", domain, label, ", ".join(without))
    return models


def find_variants(models: list[ModelRanks]) -> list[str]:
    """Return the variants to show: TF and TF-IDF, and the reference if a model has a rank on it."""
    return [*VARIANTS, *([REFERENCE] if any(REFERENCE in model.ranks for model in models) else [])]


Points = list[tuple[float, float]]
Others = Sequence[tuple[Statistic, list[ModelRanks]]]
"""Ranks of the same models by statistics other than the leading one."""

_NAMES_UP_TO, _NAME_WIDTH, _LABEL = 8, 34, 68


@dataclass(frozen=True)
class Agreement:
    """Correlation of two benchmarks over models; `reason` explains a missing one."""

    x: str
    y: str
    models: int
    r: float = math.nan
    p: float = math.nan
    slope: float = math.nan
    intercept: float = math.nan
    reason: str = ""


def measure_agreement(models: list[ModelRanks], x: str = "tf", y: str = "tfidf") -> Agreement:
    """Return Pearson's r and p of the ranks on two benchmarks, and the least-squares line of y on x."""
    both = _select_both(models, x, y)
    if len(both) < 3:
        return Agreement(x, y, len(both), reason="too few models for a correlation (3 are needed)")
    across, up = ([model.ranks[variant].value for model in both] for variant in (x, y))
    found = correlate(across, up)
    if found is None:
        return Agreement(x, y, len(both), reason="no correlation: all models have the same rank")
    slope, intercept = np.polyfit(across, up, 1)
    return Agreement(x, y, len(both), *found, float(slope), float(intercept))


def measure_agreements(models: list[ModelRanks]) -> list[Agreement]:
    """Return the agreement of TF and TF-IDF ranks, and of each with the reference if there is one."""
    with_reference = [(variant, REFERENCE) for variant in VARIANTS if REFERENCE in find_variants(models)]
    return [measure_agreement(models, x, y) for x, y in [VARIANTS, *with_reference]]


def _select_both(models: list[ModelRanks], x: str, y: str) -> list[ModelRanks]:
    return [model for model in models if x in model.ranks and y in model.ranks]


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the models of one domain by rank, and the agreement of its benchmarks."""
    leading, *others = (read_model_ranks(inputs["summary"], statistic) for statistic in COMPARED)
    models = select_domain(leading, parts["domain"], inputs["summary"])
    beside = [
        (statistic, ranks[parts["domain"]])
        for statistic, ranks in zip(COMPARED[1:], others, strict=True)
        if parts["domain"] in ranks
    ]
    agreements = measure_agreements(models)
    title = settings.title or parts["domain"]
    texts = (settings.references, settings.titles)
    figure = draw_model_ranks(models, agreements, title, settings.summary, beside, *texts)
    return figure, list_model_ranks(models, agreements, beside)


def list_model_ranks(models: list[ModelRanks], agreements: list[Agreement], others: Others = ()) -> Table:
    """Return the figure's numbers; the correlations are those of the domain, the same in every row."""
    between, *with_reference = agreements
    rows = []
    for place, model in enumerate(models, start=1):
        row: dict[str, Any] = {"place": place, "model": model.model}
        for variant in VARIANTS:
            row |= _list_rank(model, variant)
        row |= {"pearson_r": between.r, "pearson_p": between.p}
        if with_reference:
            row |= _list_rank(model, REFERENCE)
        for found in with_reference:
            row |= {f"reference_{found.x}_r": found.r, f"reference_{found.x}_p": found.p}
        for statistic, ranks in others:
            (same,) = _align([model], ranks)
            for shown in find_variants(models):
                row |= _list_rank(same, shown, f"_{statistic.name.removesuffix('_mean')}")
        rows.append(row)
    return MODEL_RANKS, rows


def _list_rank(model: ModelRanks, variant: str, statistic: str = "") -> dict[str, Any]:
    """Return a rank with its interval by column, such as `tf_geometric_rank`; with pairs if it is leading."""
    rank = model.ranks.get(variant, Rank(math.nan, math.nan, math.nan, 0))
    name = f"{variant}{statistic}"
    found: dict[str, Any] = {f"{name}_rank": rank.value, f"{name}_low": rank.low, f"{name}_high": rank.high}
    return found if statistic else found | {f"{name}_pairs": rank.pairs}


def _align(models: list[ModelRanks], others: list[ModelRanks]) -> list[ModelRanks]:
    """Give no rank to a model that is not among the others."""
    found = {model.model: model for model in others}
    return [found.get(model.model, ModelRanks(model.model)) for model in models]


def draw_model_ranks(
    models: list[ModelRanks],
    agreements: list[Agreement],
    title: str,
    settings: Summary | None = None,
    others: Others = (),
    references: References = (),
    titles: Titles | None = None,
) -> "Figure":
    """Draw ranks with intervals (top), TF against TF-IDF (below), TF against the reference (bottom, if any).

    Models are best first, each with at least one rank. Ranks by other statistics have panels of their own,
    with the models in the same order. Call it inside `use_style`.
    """
    short = shorten_names((model.model for model in models), titles)
    numbered = len(models) > _NAMES_UP_TO or any(len(clean_name(name)) > 32 for name in short.values())
    names = [wrap_name(short[model.model], _NAME_WIDTH) for model in models]
    least = 1.0 if len(agreements) == 1 else 1.5  # three markers need more room than two
    heights = [max(least, 0.62 * (name.count("\n") + 1)) for name in names]
    rows = [sum(heights[:place]) + heights[place] / 2 for place in range(len(models))]
    top = max(1.6, 0.5 + 0.28 * sum(heights))
    panels = agreements[:2]  # the last panel's title gives the agreement of TF-IDF with the reference
    drawn = [(LEADING, models), *((each, _align(models, ranks)) for each, ranks in others)]
    ratios = [*(top for _ in drawn), *(4.0 for _ in panels)]
    figure = make_figure(7.5, sum(ratios) + 1.0)
    figure.suptitle(wrap_name(title, 60))
    axes_list = list(figure.subplots(len(ratios), 1, height_ratios=ratios))
    lower = axes_list[len(drawn) :]
    labels = [f"{name}  {place}" if numbered else name for place, name in enumerate(names, start=1)]
    for upper, (statistic, ranks) in zip(axes_list, drawn, strict=False):
        upper.set_yticks(rows, labels)
        upper.set_ylim(sum(heights), 0)
        _draw_ranks(upper, ranks, rows, references, legend=statistic is LEADING)
        label = label_scale(label_ranks(settings or Summary(), statistic), upper.xaxis)
        upper.set_xlabel(wrap_name(label, _LABEL))
    lines = [
        _draw_agreement(*panel, models, numbered, references) for panel in zip(lower, panels, strict=True)
    ]
    described = [describe_agreement(each, references) for each in agreements[len(panels) - 1 :]]
    lower[-1].set_title("\n".join(described))
    places = {model.model: place for place, model in enumerate(models, start=1)}
    for axes, agreement, line in zip(lower, panels, lines, strict=True):
        both = _select_both(models, agreement.x, agreement.y)
        points = [(m.ranks[agreement.x].value, m.ranks[agreement.y].value) for m in both]
        texts = [str(places[m.model]) if numbered else clean_name(short[m.model]) for m in both]
        place_labels(axes, points, texts, line)
    return figure


def label_ranks(settings: Summary, statistic: Statistic = LEADING) -> str:
    """Return the label of the rank axis, such as `20 % trimmed mean rank of the target, 95 % intervals`."""
    trim, confidence = map(format_share, (settings.trim, settings.confidence))
    name = f"{trim} {statistic.label}" if statistic is TRIMMED_MEAN else statistic.label
    return f"{name[0].upper()}{name[1:]} rank of the target, {confidence} intervals (low is best)"


def _draw_ranks(
    axes: "Axes", models: list[ModelRanks], rows: list[float], references: References, legend: bool
) -> None:
    """Draw one row per model, the best on top: a marker and a whisker for each variant."""
    shown = [v for v in find_variants(models) if any(v in model.ranks for model in models)]
    for place, variant in enumerate(shown):
        shift = (0.32 if len(shown) < 3 else 0.4) * (place - (len(shown) - 1) / 2)
        look = style_variant(variant, references)
        _draw_series(axes, models, variant, look, [row + shift for row in rows])
    axes.tick_params(axis="y", length=0)
    ends = [n for m in models for r in m.ranks.values() for n in (r.value, r.low, r.high) if math.isfinite(n)]
    scale_axis(axes, "x", ends)
    if not legend:
        return
    missing = [label_variant(variant, {}) for variant in VARIANTS if variant not in shown]
    note = f"No {missing[0]} ranks" if missing else None
    handles, labels = axes.get_legend_handles_labels()
    if len(shown) < 3:
        labels = [f"{label} benchmark" for label in labels]
    else:  # three long labels would be wider than the axes
        note = note or "Benchmarks"
    axes.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, title=note, alignment="left"
    )


def _draw_series(
    axes: "Axes", models: list[ModelRanks], variant: str, series: Series, heights: list[float]
) -> None:
    """Draw no whisker if the interval is NaN."""
    rows = [(at, m.ranks[variant]) for at, m in zip(heights, models, strict=True) if variant in m.ranks]
    for row, rank in rows:
        if math.isfinite(rank.low) and math.isfinite(rank.high):
            axes.plot([rank.low, rank.high], [row, row], color=series.color, linestyle=series.line, zorder=2)
            axes.plot(
                [rank.low, rank.high], [row, row], color=series.color, marker="|", linestyle="none", zorder=2
            )
    without = sum(not (math.isfinite(rank.low) and math.isfinite(rank.high)) for _, rank in rows)
    if without:
        log.info("%s: %d of %d ranks are drawn without an interval", series.label, without, len(rows))
    values, places = [rank.value for _, rank in rows], [row for row, _ in rows]
    axes.plot(values, places, label=series.label, zorder=3, **series.marks())


def _draw_agreement(
    axes: "Axes", agreement: Agreement, models: list[ModelRanks], numbered: bool, references: References
) -> Points:
    """Draw a point per model with both ranks, and the least-squares line; return the points of the line."""
    both = _select_both(models, agreement.x, agreement.y)
    across, up = ([model.ranks[variant].value for model in both] for variant in (agreement.x, agreement.y))
    wide = any(needs_log_axis(ranks) for ranks in (across, up))  # one kind of scale for both
    scale_axis(axes, "x", across, log_scale=wide)
    scale_axis(axes, "y", up, log_scale=wide)
    axes.plot(across, up, color="0.25", marker="D", markersize=4.5, linestyle="none", zorder=3)
    points: Points = []
    if not agreement.reason:
        ends = (min(across), max(across))
        along = np.geomspace(*ends, 200) if axes.get_xscale() == "log" else np.linspace(*ends, 200)
        line = agreement.slope * along + agreement.intercept
        points = [(float(x), float(y)) for x, y in zip(along, line, strict=True) if y > 0]
        axes.plot(*zip(*points, strict=True), color="0.45", linestyle=":", scalex=False, scaley=False)
    labels = [f"{label_variant(variant, references)} rank" for variant in (agreement.x, agreement.y)]
    across_label = labels[0] + (" (numbers as above)" if numbered else "")
    axes.set_xlabel(label_scale(across_label, axes.xaxis))
    axes.set_ylabel(label_scale(labels[1], axes.yaxis))
    axes.set_title(describe_agreement(agreement, references))
    return points


def describe_agreement(agreement: Agreement, references: References) -> str:
    """Describe the correlation in one line: r, p and number of models, or why it is missing."""
    names = " and ".join(label_variant(variant, references) for variant in (agreement.x, agreement.y))
    if agreement.reason:
        return f"{names}: {agreement.reason}"
    return f"{names}: {describe_r(agreement.r, agreement.p)}, {agreement.models} models"


def scale_axis(
    axes: "Axes", which: str, values: list[float], ticks: int | None = None, log_scale: bool | None = None
) -> None:
    """Set axis limits with a margin; log scale if :func:`needs_log_axis` says so.

    `ticks`: most intervals on a linear axis; a short logarithmic one has few. `log_scale`: sets the scale
    for any values, which are above 0 if true.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    set_limits = axes.set_xlim if which == "x" else axes.set_ylim
    if not values:
        axis.set_ticks([])
        return
    low, high = min(values), max(values)
    if needs_log_axis(values) if log_scale is None else log_scale:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        room = (high / low) ** 0.08
        set_limits(low / room, high * room)
        few, some = ((1.0, 3.0), 100) if ticks else ((1.0, 2.0, 5.0), 2000)
        subs = (1.0,) if high / low > some else few
        axis.set_major_locator(LogLocator(subs=subs, numticks=12))
        number_ticks(axis)
        axis.set_minor_formatter(NullFormatter())
        return
    room = 0.1 * (high - low) or max(0.1 * abs(high), 0.5)
    set_limits(low - room, high + room)
    if ticks:
        axis.set_major_locator(MaxNLocator(ticks))
    number_ticks(axis)


LOOKS = {
    BEFORE: Series("documents up to that day", RANKING_COLORS[0], "o", True, "-"),
    AFTER: Series("later documents", RANKING_COLORS[4], "s", False, "--"),
}
_LINE, _NAME, _NUMBERS = 0.42, 34, ("rank", "ci_low", "ci_high")
_COLUMNS = ("model", "cutoff", "part", *_NUMBERS, "pairs")


def draw_dates_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw ranks on documents from before and after the end of each model's training text.

    A line for each model, the earliest cut-off first: the leading statistic of its TF ranks.
    """
    shown = (parts["domain"], VARIANTS[0], LEADING.name)
    ranks = [
        row
        for row in read_rows(inputs["dates"], DATES)
        if (row["domain"], row["variant"], row["aggregate"]) == shown
    ]
    title = clean_name(settings.title or parts["domain"])
    if not ranks:
        return draw_note(f"{title}: no pair comes from a dated document."), (DATES_FIGURE, [])
    models = sorted({(each["cutoff"], each["model"]) for each in ranks})
    short = settings.name_models(model for _, model in models)
    names = [f"{wrap_name(short[model], _NAME)}\n{_tell_dates(model, day, ranks)}" for day, model in models]
    lines = sum(name.count("\n") + 1 for name in names)
    figure = make_figure(7.4, 1.6 + _LINE * lines / 2 + 0.1 * len(models))
    axes = figure.subplots()
    rows = [
        PanelRow(models.index((each["cutoff"], each["model"])), LOOKS[part], *(each[end] for end in _NUMBERS))
        for part in LOOKS
        for each in ranks
        if each["part"] == part
    ]
    handles = draw_rows(axes, names, rows)
    scale_axis(axes, "x", [n for row in rows for n in row[2:] if math.isfinite(n)])
    axes.set_title(title)
    axes.set_xlabel(wrap_name(label_scale(f"TF: {label_ranks(settings.summary)}", axes.xaxis), _LABEL))
    add_legend(figure, handles, loc="outside upper center")
    return figure, (DATES_FIGURE, [[each[name] for name in _COLUMNS] for each in ranks])


def _tell_dates(model: str, day: str, ranks: Sequence[Row]) -> str:
    """Return the last day of a model's text, and the pairs from before and after it."""
    pairs = {each["part"]: each["pairs"] for each in ranks if each["model"] == model}
    before, after = (f"{pairs.get(part, 0):,}" for part in LOOKS)
    return f"{day}: {before} and {after} pairs"
