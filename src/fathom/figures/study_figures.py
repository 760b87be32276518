"""Studies of training: stages, domains by similarity, changed targets, claims, controls.

Source: [RawCorpora, Sec. 4.3, Figs. 6, 15, 17-19], [BeyondBenchmarks, Fig. 4].
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.model_names import ModelName
from fathom.config.scoring import Summary, Targets
from fathom.config.short_names import (
    References,
    Titles,
    clean_name,
    label_variant,
    shorten_adapted,
    shorten_names,
)
from fathom.figures import panels
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts, read_domain_rows, require_known
from fathom.figures.following_figures import PANELS, count_items, label_panel, name_lists
from fathom.figures.panels import PanelRow
from fathom.figures.style import (
    SIMILARITY_COLOR_MAP,
    VARIANT_SERIES,
    Series,
    label_scale,
    make_figure,
    number_ticks,
    style_variant,
    wrap_name,
)
from fathom.io.contracts import studies
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.contracts.figures import STAGES_FIGURE
from fathom.io.delimited import Row, read_rows
from fathom.io.tables import read_table
from fathom.statistics.aggregates import COMPARED, MEAN, MEDIAN, STATISTICS, TRIMMED_MEAN
from fathom.statistics.metrics import BASELINES, LOG_PROBABILITY, METRICS, PROBABILITY, RANK
from fathom.studies.stages import BY_SIMILARITY, EXTREMA, SIMILARITY, select_stages

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
"""Series of pairs by the name of the figure: metric, aggregate, label."""
_ORDER = (REFERENCE, *VARIANTS)
_MOST_NAMES, _LONGEST = 30, 26
_STAGES_HEIGHT = 1.75
_HIGH = 24  # letters of a label in the height of a panel
_MARKS = {"minimum": "v", "maximum": "^", "": "o"}
_LEVEL: Mapping[str, Any] = {"color": "0.35", "linewidth": 0.8, "linestyle": (0, (1, 2))}
_START: Mapping[str, Any] = {"color": "0.35", "marker": "D", "markersize": 4, "linestyle": "none"}

Relations = Mapping[tuple[str, ...], Mapping[str, Any]]
"""Lines of the table of relations by variant, metric, aggregate, the three columns on what it goes with, and
statistic."""


class MetricRow(NamedTuple):
    """A metric that gets a row of panels."""

    variant: str
    metric: str
    aggregate: str
    label: str


def read_relations(path: Path | str) -> Relations:
    """Read a table under RELATIONS."""
    keys = ("variant", "metric", "aggregate", "with", "with_metric", "with_aggregate", "statistic")
    return {tuple(line[key] for key in keys): line for line in read_rows(path, studies.RELATIONS)}


def draw_stages_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw one kind of figure of a study of continual pretraining."""
    order = read_table(inputs["order"], DOMAIN_ORDERS)
    measured = order["evaluation_domain"][0]
    rows = read_table(inputs["following"], studies.FOLLOWING).filter(track=parts["track"], domain=measured)
    stages, relations = select_stages(rows, order), read_relations(inputs["relations"])
    drawn = pl.concat([_select(stages, row) for row in list_rows(stages, parts["kind"], settings.summary)])
    title = settings.title or measured
    figure = draw_stages(
        stages, relations, parts["kind"], title, settings.summary, settings.references, settings.titles
    )
    return figure, (STAGES_FIGURE, drawn.rows(named=True))


def list_rows(
    stages: pl.DataFrame, kind: str, settings: Summary, references: References = ()
) -> list[MetricRow]:
    """Return the measured metrics to draw, the reference first."""
    metric, aggregate, label = KINDS[kind]
    if aggregate == TRIMMED_MEAN.name:
        label = f"{panels.format_share(settings.trim)} {label}"
    rows = [
        MetricRow(name, metric, aggregate, f"{label_variant(name, references)}: {label}") for name in _ORDER
    ] + [MetricRow(each.variant, each.name, MEAN.name, each.label.capitalize()) for each in BASELINES]
    return [row for row in rows if not _select(stages, row).is_empty()]


def draw_stages(
    stages: pl.DataFrame,
    relations: Relations,
    kind: str,
    title: str,
    settings: Summary,
    references: References = (),
    titles: Titles | None = None,
) -> "Figure":
    """Draw one kind of figure of a study; call it inside `use_style`."""
    rows = list_rows(stages, kind, settings, references)
    trained = stages.filter(pl.col("stage") > 0)
    names = trained.unique("stage").sort("stage")["trained_on"].to_list()
    figure = make_figure(11.0, 1.6 + _STAGES_HEIGHT * len(rows) + (1.0 if len(names) <= _MOST_NAMES else 0.0))
    heading = _describe_study(stages["track"][0], stages["domain"][0], title, len(names))
    items = count_items(pl.concat(_select(stages, row) for row in rows), references)
    figure.suptitle(f"{heading}\n{panels.describe_intervals(settings, 'Bands and brackets')}\n{items}")
    grid = figure.subplots(len(rows), 2, squeeze=False, width_ratios=[3, 1], sharex="col")
    similarities = trained[SIMILARITY].to_list()
    limits = (min(similarities), max(similarities))
    points, reference = None, _find_reference(stages, kind)
    other = BY_SIMILARITY if reference.is_empty() else (REFERENCE, *KINDS[kind][:2])
    for (left, right), row in zip(grid, rows, strict=True):
        some = _select(stages, row)
        points = _draw_line(left, some, limits)
        benchmark, _, label = row.label.rpartition(": ")
        label = wrap_name(label_scale(label, left.yaxis), _HIGH)
        left.set_ylabel("\n".join(filter(None, (benchmark, label))), fontsize=8.5)
        left.set_title(_describe(relations, row), fontsize=8, loc="left")
        both = some.join(reference, on="stage", maintain_order="left")
        _draw_relation(right, some if both.is_empty() else both, limits)
        right.set_title(_format(relations.get((*row[:3], *other, "pearson"))), fontsize=8, loc="left")
        right.set_visible(row[:3] != other)  # the reference beside itself says nothing
        for axes in (left, right):
            number_ticks(axes.yaxis)
    _label_stages(grid[-1][0], [(titles or {}).get(name, name) for name in names])
    what = f"{label_variant(REFERENCE, references)} {KINDS[kind][0].replace('_', ' ')}"
    grid[-1][1].set_xlabel("Similarity" if reference.is_empty() else what)
    grid[-1][1].locator_params(axis="x", nbins=3)  # small probabilities have long numbers
    if points is not None:
        figure.colorbar(points, ax=grid[:, 1], label="Similarity of the stage's domain", fraction=0.08)
    _add_legend(figure)
    return figure


def _describe_study(track: str, domain: str, title: str, stages: int) -> str:
    """Return the heading: the name of the study, its base, the domain and the number of stages."""
    base, _, study = track.partition("+")
    (short,) = shorten_names([base]).values()
    after = f"{short} on {title} after each of {panels.describe_count([stages], 'stage')}"
    return clean_name(f"{_name_study(study, domain, title)}: {after}")


def _name_study(study: str, domain: str, title: str) -> str:
    """Return the name of a study in words; a domain at its end, as in `to-cs.AI`, is called by its title.

    Examples
    --------
    >>> _name_study("to-cs.AI", "cs.AI", "CS.AI"), _name_study("all-fields", "cs.AI", "CS.AI")
    ('To CS.AI', 'All fields')
    """
    start = study.removesuffix(f"-{domain}")
    named = name_lists([start])[start]
    return named if start == study else f"{named} {title}"


def _select(stages: pl.DataFrame, row: MetricRow) -> pl.DataFrame:
    return stages.filter(variant=row.variant, metric=row.metric, aggregate=row.aggregate).sort("stage")


def _draw_line(axes: "Axes", some: pl.DataFrame, limits: tuple[float, float]) -> "PathCollection | None":
    """Draw one metric over the stages; extrema by shape, similarity by colour."""
    axes.fill_between(some["stage"], some["ci_low"], some["ci_high"], color="0.5", alpha=0.2, linewidth=0)
    axes.plot(some["stage"], some["value"], color="0.55", linewidth=0.8, zorder=2)
    start = some.filter(stage=0)
    if not start.is_empty():
        axes.axhline(start["value"][0], zorder=1, **_LEVEL)
        axes.plot(0, start["value"][0], zorder=3, **_START)
    points = None
    small = 22.0 if len(some) <= _MOST_NAMES else 10.0
    for kind, marker in _MARKS.items():
        part = some.filter(pl.col("stage") > 0, extremum=kind)
        points = axes.scatter(
            part["stage"], part["value"], c=part[SIMILARITY], cmap=SIMILARITY_COLOR_MAP, marker=marker,
            s=small if not kind else 2 * small, edgecolors="black", linewidths=0.5, zorder=3,
            vmin=limits[0], vmax=limits[1],
        )  # fmt: skip
    values = some["value"].to_numpy()
    if panels.needs_log_axis([np.nanmin(values), np.nanmax(values)], some["metric"][0]):
        axes.set_yscale("log")
    return points


def _draw_relation(axes: "Axes", some: pl.DataFrame, limits: tuple[float, float]) -> None:
    """Draw one metric against the reference, or against similarity without one."""
    if "reference" not in some.columns:
        some = some.filter(pl.col("stage") > 0).with_columns(reference=SIMILARITY)
    start, trained = some.filter(stage=0), some.filter(pl.col("stage") > 0)
    axes.plot(start["reference"], start["value"], **_START)
    axes.scatter(
        trained["reference"], trained["value"], c=trained[SIMILARITY], cmap=SIMILARITY_COLOR_MAP, s=18,
        edgecolors="black", linewidths=0.5, vmin=limits[0], vmax=limits[1],
    )  # fmt: skip


def _find_reference(stages: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return what a figure draws of the reference, by stage; all its metrics are set against that."""
    metric, aggregate, _ = KINDS[kind]
    found = stages.filter(variant=REFERENCE, metric=metric, aggregate=aggregate)
    return found.select("stage", reference="value")


def _describe(relations: Relations, row: MetricRow) -> str:
    """Return a title on a metric's correlation with similarity."""
    place = (row.variant, row.metric, row.aggregate, *BY_SIMILARITY)
    r, extrema = relations.get((*place, "pearson")), relations.get((*place, EXTREMA))
    parts = [f"with similarity {_format(r)}"] if _format(r) else []
    if extrema and not math.isnan(extrema["value"]):
        parts.append(
            f"similarity at minima minus at maxima: {extrema['value']:+.2f} (p = {extrema['p']:.2g})"
        )
    return "; ".join(parts)


def _format(line: Mapping[str, Any] | None) -> str:
    """Return a correlation with its p-value and interval; empty without a correlation."""
    if line is None or math.isnan(line["value"]):
        return ""
    return panels.describe_r(*(line[name] for name in ("value", "p", "ci_low", "ci_high")))


def _label_stages(axes: "Axes", names: Sequence[str]) -> None:
    """Label the stages below the axes, or number them if there are many."""
    from matplotlib.ticker import MaxNLocator

    if len(names) > _MOST_NAMES:
        axes.set_xlabel("Stage")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return
    short = [_shorten(name, _LONGEST) for name in names]
    axes.set_xticks(range(len(names) + 1), ["start", *short], rotation=45, ha="right", fontsize=8)


def _add_legend(figure: "Figure") -> None:
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"color": "black", "markerfacecolor": "white", "linestyle": "none"}
    handles = [
        Line2D([], [], marker=marker, label=kind or "other stage", **look) for kind, marker in _MARKS.items()
    ]
    handles.append(Line2D([], [], label="start, and its level", **{**_START, **_LEVEL}))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


_MOST_DOMAINS = 40  # up to so many all are named, else only the chosen ones
_LONGEST_DOMAIN = 34  # letters of a name that is drawn
_LINE = 0.2  # inches


def draw_order_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw domains by similarity to the target of a study."""
    order = read_table(inputs["order"], DOMAIN_ORDERS)
    figure = draw_order(order, parts["study"], settings.titles)
    return figure, (DOMAIN_ORDERS, order.rows(named=True))


def draw_order(order: pl.DataFrame, study: str, titles: Titles | None = None) -> "Figure":
    """Draw an order of domains, called by their titles; call it inside `use_style`."""
    called = titles or {}
    named = order if len(order) <= _MOST_DOMAINS else order.filter((pl.col("stage") > 0) | pl.col("chosen"))
    named = named.with_row_index("line")
    figure = make_figure(6.5, 1.6 + _LINE * max(len(named), 8))
    domain = order["evaluation_domain"][0]
    other = clean_name(called.get(domain, domain))
    heading = clean_name(_name_study(study, domain, other))
    figure.suptitle(f"{heading}: {len(order)} domains by similarity to {other}")
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
    names = [_shorten(called.get(name, name), _LONGEST_DOMAIN) for name in named["domain"]]
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(-0.8, len(names) - 0.2)
    axes.margins(x=0.08)
    axes.set_xlabel(f"Cosine of mean abstracts with {other}")
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _shorten(name: str, most: int) -> str:
    clean = clean_name(name)
    return clean if len(clean) <= most else clean[: most - 1] + "…"


_PLACES = {"top": 0.0, "bottom": 1.0}
_LOOKS = {"top": ("#0072B2", "o"), "bottom": ("#D55E00", "s")}
_PANEL_WIDTH, _VIOLIN_HEIGHT = 3.6, 4.6
_MEANING = "Line: mean. Area of a point: pairs with the target. Below: the first targets of each group."
_NAMED, _LETTERS = 3, 18  # best and worst targets under a violin, and letters in a line
_GOLDEN = 0.6180339887498949  # multiples of it spread evenly: points beside each other without random numbers
_LARGEST, _SMALLEST = 60.0, 6.0  # area of a point, in square points


def read_changes(targets: Path | str, groups: Path | str, model: str) -> tuple[pl.DataFrame, list[Row]]:
    """Read one model's targets, and their contrast on each benchmark; raise `InputError` without it."""
    table = read_table(targets, studies.TARGET_CHANGES)
    require_known("model", model, table["model"], targets)
    rows = [row for row in read_rows(groups, studies.TARGET_GROUPS) if row["model"] == model]
    return table.filter(model=model), rows


def draw_targets_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the best and the worst targets of one model."""
    targets, groups = read_changes(inputs["targets"], inputs["groups"], parts["model"])
    title = settings.title or parts["domain"]
    figure = draw_changes(
        targets, groups, title, settings.summary, settings.references, settings.titles, settings.share
    )
    return figure, (studies.TARGET_CHANGES, targets.rows(named=True))


def draw_changes(
    targets: pl.DataFrame,
    groups: Sequence[Row],
    title: str,
    settings: Summary,
    references: References = (),
    titles: Titles | None = None,
    share: float = Targets().share,
) -> "Figure":
    """Draw a panel for each benchmark; call it inside `use_style`."""
    figure = make_figure(max(5.2, _PANEL_WIDTH * len(groups)), _VIOLIN_HEIGHT)
    model, other, phrase = (groups[0][key] for key in ("model", "against", "phrase"))
    width = 26 * max(2, len(groups))
    lines = (clean_name(title), _describe_models(model, other, titles))
    figure.suptitle("\n".join(wrap_name(line, width) for line in lines))
    grid = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for axes, row in zip(grid, groups, strict=True):
        some = targets.filter(variant=row["variant"])
        names = [_draw_group(axes, some, group, share) for group in _PLACES]
        axes.set_xticks([*_PLACES.values()], names)
        axes.set_xlim(-0.6, 1.6)
        axes.set_title(_describe_contrast(row, settings, references))
    grid[0].set_ylabel(
        wrap_name(
            f"Cosine of target and \N{LEFT DOUBLE QUOTATION MARK}{phrase}\N{RIGHT DOUBLE QUOTATION MARK}", 40
        )
    )
    figure.supxlabel(wrap_name(_MEANING, 34 + 34 * len(groups)), fontsize=8.5)
    return figure


def _describe_models(model: str, other: str, titles: Titles | None) -> str:
    """Return which models are compared; one that comes from the other does not repeat its name."""
    short = shorten_names([model, other], titles)
    base = ModelName.parse(model).base
    if other != base:
        return f"{short[model]} against {short[other]}"
    return f"{short[other]}: {shorten_adapted([model], base, titles)[model]}, against the base"


def _describe_contrast(row: Row, settings: Summary, references: References) -> str:
    """Return the title of a panel: benchmark, Cohen's d with its interval, and p of the t test."""
    label = f"{label_variant(row['variant'], references)} targets"
    if math.isnan(row["d"]):
        return f"{label}: too few"
    ends = ""
    if not math.isnan(row["d_low"]):
        ends = f" ({panels.format_share(settings.confidence)}: {row['d_low']:.2f} to {row['d_high']:.2f})"
    return f"{label}\nCohen's d = {row['d']:.2f}{ends}\nt test: p = {row['p']:.2g}"


def _draw_group(axes: "Axes", targets: pl.DataFrame, group: str, share: float) -> str:
    """Draw one violin, a point for each target, and their mean; return its label.

    `share`: of the targets, that are to be in each group.
    """
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
    counted = f"{len(values):,} of {len(targets):,} targets"
    return "\n".join([f"{group} {panels.format_share(share)}", counted, *shown])


VERDICT_SERIES = {
    studies.HOLDS: Series(studies.HOLDS, "#009E73", "o", True, "-"),
    studies.FAILS: Series(studies.FAILS, "#D55E00", "X", True, "-"),
    studies.UNCLEAR: Series(studies.UNCLEAR, "#7F7F7F", "o", False, "-"),
}
_REFERENCES = {
    "unused": Series("pairs from documents set aside", "#0072B2", "o", True, "-"),
    "clozes": Series("clozes of held-out text", "#E69F00", "s", False, "-"),
}
_NUMBERS = ("value", "ci_low", "ci_high")
_CLAIM_LINE = 0.27  # inches


def draw_claims_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw correlations of metrics with references beside the papers' claims about them.

    Correlations are Spearman's with the trimmed mean rank of the reference.
    """
    claims = read_domain_rows(inputs["claims"], studies.CLAIMS, parts["domain"])
    correlations = read_domain_rows(
        inputs["correlations"], studies.CLAIM_CORRELATIONS, parts["domain"], needed=False
    )
    bases = ", ".join(shorten_names(row["base"] for row in claims).values())
    figure = make_figure(13.0, 2.5 + _CLAIM_LINE * len(claims))
    figure.suptitle(
        f"{wrap_name(settings.title or parts['domain'], 90)}\n"
        f"The papers' claims, on models adapted from {clean_name(bases)}\n"
        f"{_describe_seeds(claims, settings.summary)}"
    )
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
    named = settings.references
    handles = _draw_correlations(left, correlations, named) | _draw_verdicts(right, claims, named)
    panels.add_legend(figure, handles)
    return figure, (studies.CLAIMS, claims)


def _describe_seeds(rows: Sequence[Row], settings: Summary) -> str:
    seeds = panels.describe_count([max(row["seeds"] for row in rows)], "seed")
    return f"{panels.describe_intervals(settings)} over items and {seeds}"


def _draw_correlations(axes: "Axes", correlations: list[Row], references: References) -> dict[str, Any]:
    """Draw a line for each metric and a marker for each reference; return legend handles by label."""
    shown = ("spearman", "rank", TRIMMED_MEAN.name)
    keys = ("statistic", "reference_metric", "reference_aggregate")
    some = [row for row in correlations if tuple(row[key] for key in keys) == shown]
    names = list(dict.fromkeys(_name_metric(row, references) for row in some))
    looks = _REFERENCES | {name: style_variant(name, references) for name in VARIANT_SERIES}
    rows = [
        PanelRow(
            names.index(_name_metric(row, references)),
            looks.get(row["reference"]),
            *(row[n] for n in _NUMBERS),
        )
        for row in some
    ]
    handles = panels.draw_rows(axes, names, rows)
    axes.axvline(0.0, color="0.35", linewidth=0.9, zorder=1)
    axes.set_title("Agreement with the rank on a reference")
    axes.set_xlabel("Spearman's ρ over models")
    return handles


def _draw_verdicts(axes: "Axes", claims: list[Row], references: References) -> dict[str, Any]:
    """Draw a line for each claim: how far its number is on the claimed side; return legend handles."""
    names: list[str] = []
    rows: dict[str, list[PanelRow]] = {verdict: [] for verdict in VERDICT_SERIES}
    for place, row in enumerate(claims):
        mark = f" ({label_variant(row['reference'], references)})" if row["reference"] else ""
        names.append(f"{row['claim']}: {_name_metric(row, references)}{mark}")
        side, threshold = row["claimed"].split(" ")
        sign = 1.0 if side == "above" else -1.0
        numbers = [sign * (row[name] - float(threshold)) for name in _NUMBERS]
        rows[row["verdict"]].append(PanelRow(place, None, *numbers))
    found = {
        verdict: panels.draw_values(axes, look, rows[verdict]) for verdict, look in VERDICT_SERIES.items()
    }
    panels.name_rows(axes, names)
    axes.axvline(0.0, color="0.35", linewidth=0.9, zorder=1)
    axes.set_title("Claims")
    axes.set_xlabel(
        "Distance from the threshold; right: as claimed\n(correlation, ln of a factor, rate, or bits)"
    )
    return found


def _name_metric(row: Row, references: References) -> str:
    variant = f"{label_variant(row['variant'], references)} " if row["variant"] in VARIANT_SERIES else ""
    name = f"{variant}{METRICS[row['metric']].label}"
    return f"{name}, {STATISTICS[row['aggregate']].label}" if row["metric"] == RANK.name else name


_NAMES = {
    studies.AS_IS: "text as it is",
    studies.ONLY: "sentences with terms",
    studies.EXCHANGED: "terms exchanged",
}
_ROW_HEIGHT = 0.34


def draw_controls_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw a panel for each metric: a model's gains from a domain's text, and from its controls."""
    from matplotlib.ticker import MaxNLocator

    every = read_domain_rows(inputs["controls"], studies.CONTROLS, parts["domain"])
    rows = [row for row in every if row["variant"] != studies.BOTH]
    contrasts = read_domain_rows(inputs["contrasts"], studies.CONTRASTS, parts["domain"], needed=False)
    conditions = _order([row["condition"] for row in rows])
    called = {**settings.titles, **_NAMES}
    names = [wrap_name(called.get(each, each), 22) for each in conditions]
    shown = [panel for panel in PANELS if any((r["metric"], r["aggregate"]) == panel[:2] for r in rows)]
    height = 1.1 + _ROW_HEIGHT * len(conditions)
    figure, grid = panels.make_panels(len(shown), 3, (1.4, 3.1), (1.6, height), 5.6, sharey=True)
    bases = ", ".join(shorten_names(sorted({row["base"] for row in rows})).values())
    figure.suptitle(
        f"{wrap_name(settings.title or parts['domain'], 60)}\n"
        f"What {clean_name(bases)} gains from the text and its controls\n"
        f"{_describe_seeds(rows, settings.summary)}"
    )
    handles: dict[str, Any] = {}
    for axes, panel in zip(grid.flat, shown, strict=False):
        some = [row for row in rows if (row["metric"], row["aggregate"]) == panel[:2]]
        gains = [row for row in some if row["condition"] != studies.BASE]
        drawn = [_make_row(row, conditions, settings.references) for row in gains]
        handles |= panels.draw_rows(axes, names, drawn)
        axes.axvline(1.0 if METRICS[panel[0]].is_factor else 0.0, color="0.35", linewidth=0.9, zorder=1)
        axes.set_title(label_panel(panel, settings.summary))
        axes.set_xlabel(_describe_contrasts(panel, contrasts))
        axes.xaxis.set_major_locator(MaxNLocator(4))
    panels.add_benchmarks(figure, handles)
    return figure, (studies.CONTROLS, rows)


def _order(conditions: Sequence[str]) -> list[str]:
    """Return the conditions from top to bottom: those with knowledge, then those without."""
    known = [name for name in (studies.AS_IS, studies.ONLY, studies.EXCHANGED) if name in conditions]
    return [*known, *sorted(set(conditions) - {*known, studies.BASE})]


def _make_row(row: Row, conditions: Sequence[str], references: References) -> PanelRow:
    """Return a gain for drawing; as a factor if the metric has one."""
    numbers = [row[name] for name in ("gain", "gain_low", "gain_high")]
    if METRICS[row["metric"]].is_factor:
        numbers = [math.exp(number) for number in numbers]
    look = style_variant(row["variant"], references) if row["variant"] in VARIANT_SERIES else None
    return PanelRow(conditions.index(row["condition"]), look, *numbers)


def _describe_contrasts(panel: tuple[str, str, str], contrasts: list[Row]) -> str:
    """Return the label of the axis, and how often knowledge is ahead."""
    some = [row["verdict"] for row in contrasts if (row["metric"], row["aggregate"]) == panel[:2]]
    metric = METRICS[panel[0]]
    what = "times better than the base" if metric.is_factor else f"better by ({metric.unit})"
    if not some:
        return what
    counts = f"knowledge ahead in {some.count('ahead')} of {len(some)}, behind in {some.count('behind')}"
    return f"{what}\n{counts}"
