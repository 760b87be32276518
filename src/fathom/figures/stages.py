"""Metrics after each stage of continual pretraining, by the similarity of its domain to the measured one.

A row for each metric: on the left over the stages, minima and maxima marked; on the right against the
reference rank, or, without one, against similarity. Source: [RawCorpora, Figs. 6, 17-19], [BeyondBenchmarks,
Fig. 4]. And the domains by this similarity [RawCorpora, Sec. 4.3].
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.benchmark import REFERENCE
from fathom.config.scoring import Summary
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.style import (
    SIMILARITY_COLOR_MAP,
    VARIANT_SERIES,
    clean_name,
    make_figure,
    number_ticks,
    wrap_name,
)
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.contracts.figures import STAGES_FIGURE
from fathom.io.contracts.studies import FOLLOWING, RELATIONS
from fathom.io.delimited import read_rows
from fathom.io.tables import read_table
from fathom.statistics.aggregates import COMPARED, LEADING, MEAN, MEDIAN, TRIMMED_MEAN
from fathom.statistics.metrics import BASELINES, LOG_PROBABILITY, PROBABILITY, RANK
from fathom.studies.stages import EXTREMA, SIMILARITY, select_stages

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure


_SHOWN = (
    *((RANK.name, each.name, RANK.describe(each)) for each in (*COMPARED, MEAN, MEDIAN)),
    *((PROBABILITY.name, each.name, PROBABILITY.describe(each)) for each in (TRIMMED_MEAN, MEAN, MEDIAN)),
    (LOG_PROBABILITY.name, MEAN.name, LOG_PROBABILITY.describe(MEAN)),
)


def _name_kind(metric: str, aggregate: str) -> str:
    names = {RANK.name: [aggregate], PROBABILITY.name: [aggregate, metric]}.get(metric, [metric])
    return "-".join(names).replace("_", "-")


KINDS = {_name_kind(*each[:2]): each for each in _SHOWN}
"""What is drawn of pairs, by the name of the figure: metric, aggregate, label."""
_ORDER = (REFERENCE, *(name for name in VARIANT_SERIES if name != REFERENCE))
_MOST_NAMES, _LONGEST = 30, 26
_HEIGHT, _LOG_FROM = 1.75, 20.0
_HIGH = 24  # letters of a label in the height of a panel
_MARKS = {"minimum": "v", "maximum": "^", "": "o"}

Relations = Mapping[tuple[str, str, str, str, str], Mapping[str, Any]]
"""Lines of the table of relations by variant, metric, aggregate, what it is compared with, and statistic."""


class Row(NamedTuple):
    """A metric that gets a row of panels."""

    variant: str
    metric: str
    aggregate: str
    label: str


def read_relations(path: Path | str) -> Relations:
    """Read a table under RELATIONS."""
    keys = ("variant", "metric", "aggregate", "with", "statistic")
    found = {}
    for line in read_rows(path, RELATIONS):
        variant, metric, aggregate, other, statistic = (line[key] for key in keys)
        found[variant, metric, aggregate, other, statistic] = line
    return found


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw one kind of figure of a study of continual pretraining."""
    order = read_table(inputs["order"], DOMAIN_ORDERS)
    measured = order["evaluation_domain"][0]
    rows = read_table(inputs["following"], FOLLOWING).filter(track=parts["track"], domain=measured)
    stages, relations = select_stages(rows, order), read_relations(inputs["relations"])
    drawn = pl.concat([_select(stages, row) for row in list_rows(stages, parts["kind"], settings.summary)])
    title = settings.title or measured
    return draw_stages(stages, relations, parts["kind"], title, settings.summary), (
        STAGES_FIGURE,
        drawn.rows(named=True),
    )


def list_rows(stages: pl.DataFrame, kind: str, settings: Summary) -> list[Row]:
    """Return the metrics that are drawn, the reference first; none that was not measured."""
    metric, aggregate, label = KINDS[kind]
    if aggregate == COMPARED[0].name:
        label = f"{100 * settings.trim:.4g} % {label}"
    rows = [Row(name, metric, aggregate, f"{VARIANT_SERIES[name].label}: {label}") for name in _ORDER] + [
        Row(each.variant, each.name, MEAN.name, each.label.capitalize()) for each in BASELINES
    ]
    return [row for row in rows if not _select(stages, row).is_empty()]


def draw_stages(
    stages: pl.DataFrame, relations: Relations, kind: str, title: str, settings: Summary
) -> "Figure":
    """Draw one kind of figure of a study; call it inside `use_style`."""
    rows = list_rows(stages, kind, settings)
    trained = stages.filter(pl.col("stage") > 0)
    names = trained.unique("stage").sort("stage")["trained_on"].to_list()
    figure = make_figure(11.0, 1.6 + _HEIGHT * len(rows) + (1.0 if len(names) <= _MOST_NAMES else 0.0))
    study, bands = clean_name(stages["track"][0]), f"{100 * settings.confidence:.4g} % intervals"
    figure.suptitle(f"{clean_name(title)}: {study}, {len(names)} stages\nBands: {bands}")
    grid = figure.subplots(len(rows), 2, squeeze=False, width_ratios=[3, 1], sharex="col")
    similarities = trained[SIMILARITY].to_list()
    limits = (min(similarities), max(similarities))
    points = None
    for (left, right), row in zip(grid, rows, strict=True):
        some = _select(stages, row)
        points = _draw_line(left, some, limits)
        benchmark, _, label = row.label.rpartition(": ")
        left.set_ylabel("\n".join(filter(None, (benchmark, wrap_name(label, _HIGH)))), fontsize=8.5)
        left.set_title(_describe(relations, row), fontsize=8, loc="left")
        _draw_relation(right, stages, some, row, limits)
        right.set_title(_describe_pair(relations, stages, row), fontsize=8, loc="left")
        for axes in (left, right):
            number_ticks(axes.yaxis)
    _label_stages(grid[-1][0], names)
    grid[-1][1].set_xlabel(_name_other(stages))
    if points is not None:
        figure.colorbar(points, ax=grid[:, 1], label="Similarity of the stage's domain", fraction=0.08)
    _add_legend(figure)
    return figure


def _select(stages: pl.DataFrame, row: Row) -> pl.DataFrame:
    return stages.filter(variant=row.variant, metric=row.metric, aggregate=row.aggregate).sort("stage")


def _draw_line(axes: "Axes", some: pl.DataFrame, limits: tuple[float, float]) -> "PathCollection | None":
    """Draw one metric over the stages; extrema by shape, similarity by colour."""
    axes.fill_between(some["stage"], some["ci_low"], some["ci_high"], color="0.5", alpha=0.2, linewidth=0)
    axes.plot(some["stage"], some["value"], color="0.55", linewidth=0.8, zorder=2)
    start = some.filter(stage=0)
    if not start.is_empty():
        axes.axhline(start["value"][0], color="0.35", linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    points = None
    small = 22.0 if len(some) <= _MOST_NAMES else 10.0
    for kind, marker in _MARKS.items():
        part = some.filter(extremum=kind).filter(pl.col("stage") > 0)
        points = axes.scatter(
            part["stage"], part["value"], c=part[SIMILARITY], cmap=SIMILARITY_COLOR_MAP, marker=marker,
            s=small if not kind else 2 * small, edgecolors="black", linewidths=0.5, zorder=3,
            vmin=limits[0], vmax=limits[1],
        )  # fmt: skip
    low, high = some["value"].min(), some["value"].max()
    if isinstance(low, float) and isinstance(high, float) and low > 0 and high / low > _LOG_FROM:
        axes.set_yscale("log")
    return points


def _draw_relation(
    axes: "Axes", stages: pl.DataFrame, some: pl.DataFrame, row: Row, limits: tuple[float, float]
) -> None:
    """Draw one metric against the reference rank, or against similarity where there is none."""
    against = _find_reference(stages, row)
    if against.is_empty():
        some = some.filter(pl.col("stage") > 0)
        across = some[SIMILARITY].to_list()
    else:
        some = some.join(against, on="stage", maintain_order="left")
        across = some["reference"].to_list()
    colors = [math.nan if value is None else value for value in some[SIMILARITY]]
    axes.scatter(
        across, some["value"], c=colors, cmap=SIMILARITY_COLOR_MAP, s=18, edgecolors="black", linewidths=0.5,
        vmin=limits[0], vmax=limits[1], plotnonfinite=True,
    )  # fmt: skip


def _find_reference(stages: pl.DataFrame, row: Row) -> pl.DataFrame:
    aggregate = row.aggregate if row.metric == "rank" else LEADING.name
    found = stages.filter(variant=REFERENCE, metric="rank", aggregate=aggregate)
    return found.select("stage", pl.col("value").alias("reference"))


def _name_other(stages: pl.DataFrame) -> str:
    has_reference = REFERENCE in stages["variant"]
    return "Reference rank" if has_reference else "Similarity"


def _describe(relations: Relations, row: Row) -> str:
    """Return how a metric goes with similarity, as a title."""
    place = (row.variant, row.metric, row.aggregate, SIMILARITY)
    r, extrema = relations.get((*place, "pearson")), relations.get((*place, EXTREMA))
    parts = [f"with similarity {_format(r)}"] if _format(r) else []
    if extrema and not math.isnan(extrema["value"]):
        parts.append(
            f"similarity at minima minus at maxima: {extrema['value']:+.2f} (p = {extrema['p']:.2g})"
        )
    return "; ".join(parts)


def _describe_pair(relations: Relations, stages: pl.DataFrame, row: Row) -> str:
    """Return the correlation that the right panel shows, as a title."""
    other = REFERENCE if REFERENCE in stages["variant"] else SIMILARITY
    return _format(relations.get((row.variant, row.metric, row.aggregate, other, "pearson")))


def _format(line: Mapping[str, Any] | None) -> str:
    """Return a correlation with its interval, where there is one; nothing without a correlation."""
    if line is None or math.isnan(line["value"]):
        return ""
    interval = "" if math.isnan(line["ci_low"]) else f" [{line['ci_low']:.2f}, {line['ci_high']:.2f}]"
    return f"r = {line['value']:.2f}{interval}"


def _label_stages(axes: "Axes", names: Sequence[str]) -> None:
    """Name the stages below the axes, or number them where there are many."""
    from matplotlib.ticker import MaxNLocator

    if len(names) > _MOST_NAMES:
        axes.set_xlabel("Stage")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return
    short = [name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…" for name in map(clean_name, names)]
    axes.set_xticks(range(len(names) + 1), ["start", *short], rotation=45, ha="right", fontsize=8)


def _add_legend(figure: "Figure") -> None:
    from matplotlib.lines import Line2D

    names = {"minimum": "minimum", "maximum": "maximum", "": "other stage"}
    handles = [
        Line2D(
            [], [], color="black", marker=marker, markerfacecolor="white", linestyle="none", label=names[kind]
        )
        for kind, marker in _MARKS.items()
    ]
    handles.append(Line2D([], [], color="0.35", linewidth=0.8, linestyle=(0, (1, 2)), label="start"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


_MOST_DOMAINS = 40  # all are named up to so many, else only those that are taken
_LONGEST_DOMAIN = 34  # letters of a name that is drawn
_LINE = 0.2  # inches


def draw_order_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw domains by similarity to the target of a study."""
    order = read_table(inputs["order"], DOMAIN_ORDERS)
    return draw_order(order, parts["study"]), (DOMAIN_ORDERS, order.rows(named=True))


def draw_order(order: pl.DataFrame, title: str) -> "Figure":
    """Draw an order of domains; call it inside `use_style`."""
    import numpy as np

    named = order if len(order) <= _MOST_DOMAINS else order.filter((pl.col("stage") > 0) | pl.col("chosen"))
    named = named.with_row_index("line")
    figure = make_figure(6.5, 1.6 + _LINE * max(len(named), 8))
    other = clean_name(order["evaluation_domain"][0])
    figure.suptitle(f"{clean_name(title)}: {len(order)} domains by similarity to {other}")
    axes = figure.subplots()
    cosines, taken = order["similarity"].to_numpy(), (order["stage"] > 0).to_numpy()
    # by place: those without a name between the lines of others
    heights = np.interp(order["place"].to_numpy(), named["place"].to_numpy(), named["line"].to_numpy())
    axes.scatter(
        cosines[~taken], heights[~taken], s=22, facecolors="white", edgecolors="0.35", linewidths=0.6,
        zorder=3, label="compared",
    )  # fmt: skip
    axes.scatter(
        cosines[taken], heights[taken], s=40, c=cosines[taken], cmap=SIMILARITY_COLOR_MAP, edgecolors="black",
        linewidths=0.6, zorder=3, vmin=cosines.min(), vmax=cosines.max(),
        label="trained on; the number is the stage",
    )  # fmt: skip
    for line, stage, cosine in named.select("line", "stage", "similarity").iter_rows():
        if stage:
            axes.annotate(
                str(stage), (cosine, line), xytext=(7, 0), textcoords="offset points", va="center", fontsize=8
            )
    names = [_shorten(name) for name in named["domain"]]
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(-0.8, len(names) - 0.2)
    axes.margins(x=0.08)
    axes.set_xlabel(f"Cosine of mean abstracts with {other}")
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _shorten(name: str) -> str:
    clean = clean_name(name)
    return clean if len(clean) <= _LONGEST_DOMAIN else clean[: _LONGEST_DOMAIN - 1] + "…"
