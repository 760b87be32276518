"""Metrics of models over their training: one panel for each, one axis of time across the stages of a path.

Source: [RawCorpora, Secs. 4.2, 4.3].

Checkpoints of others are drawn in order, a column for each list [RawCorpora, Figs. 5, 16],
[BeyondBenchmarks, Figs. 6, 15]; paths of adaptation from one base over each other, by steps of the last
domain [RawCorpora, Fig. 9], [BeyondBenchmarks, Fig. 5].
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.model_names import ModelName
from fathom.config.scoring import Summary
from fathom.config.short_names import References, Titles, clean_name, label_variant, shorten_names
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts, require_known
from fathom.figures.panels import (
    PLAIN,
    add_benchmarks,
    add_legend,
    describe_count,
    describe_intervals,
    describe_items,
    format_share,
    make_panels,
    needs_log_axis,
)
from fathom.figures.style import (
    RANKING_COLORS,
    VARIANT_SERIES,
    Series,
    label_scale,
    number_ticks,
    style_variant,
    wrap_name,
)
from fathom.io.contracts.studies import ALL_SEEDS, AS_IS, FOLLOWING
from fathom.io.tables import read_table
from fathom.statistics.aggregates import MEAN, MEDIAN, STATISTICS, TRIMMED_MEAN
from fathom.statistics.metrics import (
    ATTRIBUTE_RATE,
    BASELINES,
    LOG_PROBABILITY,
    PERPLEXITY,
    PROBABILITY,
    RANK,
    RANKED,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PANELS = (
    *((metric.name, each.name, metric.describe(each)) for metric in RANKED for each in metric.compared),
    *((each.name, MEAN.name, each.describe(MEAN)) for each in (LOG_PROBABILITY, *BASELINES)),
)
"""Metric, aggregate and label of each panel, in the order of the page."""
_ORDERED = sum(len(metric.compared) for metric in RANKED)
OVER_TIME = (
    *PANELS[:_ORDERED],
    *((RANK.name, each.name, RANK.describe(each)) for each in (MEAN, MEDIAN)),
    *((PROBABILITY.name, each.name, PROBABILITY.describe(each)) for each in (TRIMMED_MEAN, MEAN, MEDIAN)),
    *PANELS[_ORDERED:],
)
"""Panels over time; the papers draw means, medians and probabilities, too [BeyondBenchmarks, Figs. 5, 6]."""

_LOG_TIME_FROM = 100.0
_HIGH = 24  # letters of a label in the height of a panel
_DEVIATIONS = 2  # of the noise of a step, to either side of the last point
_LETTERS = 36  # of a small name in the width of a panel


@dataclass(frozen=True)
class Time:
    """The axis of time: a column of the table, what one unit of it counts, and its label."""

    column: str
    unit: float
    label: str
    log: bool = False


STEPS = Time("step", 1.0, "Steps")
Stage = tuple[str, int, int]
"""Title of a stage's domain, and the steps where it begins and ends."""


def read_track(path: Path | str, track: str, domain: str) -> pl.DataFrame:
    """Read the measurements of one track on one domain; raise `InputError` if the table lacks them."""
    table = read_table(path, FOLLOWING)
    for column, name in (("track", track), ("domain", domain)):
        require_known(column, name, table[column], path)
    return table.filter(track=track, domain=domain)


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw one track on one domain."""
    rows = read_track(inputs["following"], parts["track"], parts["domain"])
    title = settings.title or parts["domain"]
    figure = draw_track(rows, title, settings.summary, settings.references, settings.titles)
    return figure, (FOLLOWING, rows.rows(named=True))


def draw_track(
    rows: pl.DataFrame,
    title: str,
    settings: Summary,
    references: References = (),
    titles: Titles | None = None,
) -> "Figure":
    """Draw one track on one domain; call it inside `use_style`."""
    time = _choose_time(rows)
    shown = [panel for panel in OVER_TIME if not rows.filter(metric=panel[0], aggregate=panel[1]).is_empty()]
    figure, grid = make_panels(len(shown), 3, (0.0, 3.1), (1.4, 2.4), 6.0)
    columns = grid.shape[1]
    stages = _list_stages(rows, titles or {})
    figure.suptitle(f"{_describe(rows, stages, title, settings)}\n{count_items(rows, references)}")
    handles: dict[str, Any] = {}
    for place, (axes, (metric, aggregate, label)) in enumerate(zip(grid.flat, shown, strict=False)):
        some = rows.filter(metric=metric, aggregate=aggregate)
        handles |= _draw_panel(axes, some, time, references)
        name = label_scale(label_panel((metric, aggregate, label), settings), axes.yaxis)
        axes.set_ylabel(wrap_name(name, _HIGH))
        if place >= len(shown) - columns:
            axes.set_xlabel(label_scale(time.label, axes.xaxis))
        _mark_stages(axes, stages, names=place < columns)
    add_benchmarks(figure, handles)
    return figure


def label_panel(panel: tuple[str, str, str], settings: Summary) -> str:
    """Return the label of a panel, with the share of a trimmed mean."""
    _, aggregate, label = panel
    trimmed = aggregate == TRIMMED_MEAN.name
    return f"{format_share(settings.trim)} {label}" if trimmed else label[0].upper() + label[1:]


def _choose_time(rows: pl.DataFrame) -> Time:
    """Return steps for a path trained here, tokens for models from elsewhere."""
    if rows["step"].max():
        return STEPS
    low, high = min(rows["tokens"].to_list()), max(rows["tokens"].to_list())
    unit, name = next(
        ((size, name) for size, name in ((1e9, "billions"), (1e6, "millions")) if high >= size), (1.0, "")
    )
    label = f"Tokens seen ({name})" if name else "Tokens seen"
    return Time("tokens", unit, label, log=low > 0 and high / low > _LOG_TIME_FROM)


def _describe(rows: pl.DataFrame, stages: Sequence[Stage], title: str, settings: Summary) -> str:
    """Return the title: the domain, the path, and the meaning of bands and thin lines."""
    track = rows["track"][0]
    path = [_name_base(rows), *_name_stages(track, stages)] if stages else [*name_lists([track]).values()]
    seeds = [seed for seed in rows["seed"].unique().sort() if seed != ALL_SEEDS]
    several = len(seeds) > 1
    bands = describe_intervals(settings, "Bands")
    thin = f" of the mean over seeds; thin lines: {len(seeds)} seeds" if several else ""
    if not rows["noise"].is_nan().all():
        thin += f"\nWhiskers: {_DEVIATIONS} × noise of a step"
    heading = wrap_name(f"{clean_name(title)}: {' > '.join(map(clean_name, path))}", 78)
    return f"{heading}\n{bands}{thin}{describe_stand_ins(rows)}"


def count_items(rows: pl.DataFrame, references: References) -> str:
    """Return how many pairs, documents and keywords stand behind rows under FOLLOWING."""
    return describe_items(rows.select("variant", "items").unique().iter_rows(), references)


def _name_stages(track: str, stages: Sequence[Stage]) -> list[str]:
    """Return the domain of each stage, and what was done to its text: controls differ in nothing else."""
    domains = [name for name, _, _ in stages]
    domains[-1] += describe_text(track)
    return domains


def describe_text(track: str) -> str:
    """Return what was done to the text of a path's last stage, for a name; empty if unchanged."""
    text = ModelName.parse(track).text
    return "" if text == AS_IS else f" ({text.replace('-', ' ')})"


def describe_stand_ins(rows: pl.DataFrame) -> str:
    """Return how many checkpoints are corrupt, so that others stand in; nothing if all are sound."""
    replaced = rows.filter(pl.col("stand_in") != "")["model"].n_unique()
    return f"; another stands in for each of {replaced} corrupt checkpoints" if replaced else ""


def _list_stages(rows: pl.DataFrame, titles: Titles) -> list[Stage]:
    ends = (
        rows.filter(pl.col("stage") > 0)
        .group_by("stage")
        .agg(pl.col("trained_on").first(), pl.col("step").max())
        .sort("stage")
    )
    starts = [0, *ends["step"].to_list()]
    names = [titles.get(name, name) for name in ends["trained_on"]]
    return list(zip(names, starts, ends["step"].to_list(), strict=False))


def _draw_panel(axes: "Axes", rows: pl.DataFrame, time: Time, references: References) -> dict[str, Any]:
    """Draw one metric: a line with its band for each variant, thin lines of seeds; return legend handles."""
    handles = {}
    for look, some in list_curves(rows.sort("step", "tokens", maintain_order=True), references):
        style: dict[str, Any] = {"color": look.color, "linestyle": look.line}
        main = some.filter(seed=ALL_SEEDS)
        for seed in some["seed"].unique().sort() if len(main) else []:
            if seed != ALL_SEEDS:
                one = some.filter(seed=seed)
                axes.plot(_scale(one, time), one["value"], linewidth=0.5, alpha=0.8, zorder=2, **style)
        main = main if len(main) else some
        across = _scale(main, time)
        _draw_noise(axes, main, across, look)
        handles[look.label] = _draw_curve(axes, main, across, look, 3.5)
    scale_axes(axes, rows, time)
    return handles


def _draw_curve(axes: "Axes", rows: pl.DataFrame, across: Sequence[float], look: Series, size: float) -> Any:
    """Draw a line with its band; return its legend handle."""
    axes.fill_between(across, rows["ci_low"], rows["ci_high"], color=look.color, alpha=0.15, linewidth=0)
    style = look.marks() | {"linestyle": look.line, "markersize": size}
    (handle,) = axes.plot(across, rows["value"], zorder=3, **style)
    return handle


def _draw_noise(axes: "Axes", rows: pl.DataFrame, across: Sequence[float], look: Series) -> None:
    """Draw the noise of a step at the last point, if known."""
    value, noise = rows["value"][-1], rows["noise"][-1]
    if not math.isnan(noise):
        ends = (value - _DEVIATIONS * noise, value + _DEVIATIONS * noise)
        axes.vlines(across[-1], *ends, color=look.color, linewidth=1.4, zorder=4)


def list_curves(rows: pl.DataFrame, references: References) -> Iterator[tuple[Series, pl.DataFrame]]:
    """Yield the look and the rows of each variant of a metric."""
    found = {*rows["variant"]}
    for variant in (name for name in (*VARIANT_SERIES, *sorted(found - {*VARIANT_SERIES})) if name in found):
        look = style_variant(variant, references) if variant in VARIANT_SERIES else PLAIN
        yield look, rows.filter(variant=variant)


def _scale(rows: pl.DataFrame, time: Time) -> Sequence[float]:
    return [value / time.unit for value in rows[time.column]]


def scale_axes(axes: "Axes", rows: pl.DataFrame, time: Time = STEPS) -> None:
    """Make an axis logarithmic if its values span a large factor, but not for shares of a whole.

    Numbers are written in full. `rows`: of one metric.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    ends = min(rows["ci_low"].to_list()), max(rows["ci_high"].to_list())
    is_wide = needs_log_axis(ends, rows["metric"][0])
    for axis, log in ((axes.xaxis, time.log), (axes.yaxis, is_wide)):
        if log:
            (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log")
            axis.set_major_locator(LogLocator(subs=(1.0,) if axis is axes.xaxis else (1.0, 2.0, 5.0)))
            axis.set_minor_formatter(NullFormatter())
        else:
            axis.set_major_locator(MaxNLocator(5))
        number_ticks(axis)


def _mark_stages(axes: "Axes", stages: Sequence[Stage], names: bool) -> None:
    """Draw a vertical line where a stage ends, and name the stages above the axes, by number if need be."""
    for _, _, end in stages[:-1]:
        axes.axvline(end, color="0.35", linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    if not names or not stages:
        return
    steps = stages[-1][2]
    texts = [wrap_name(name, max(4, int(_LETTERS * (end - start) / steps))) for name, start, end in stages]
    if max(text.count("\n") for text in texts) > 1:
        texts = [str(number) for number in range(1, len(stages) + 1)]
    for text, (_, start, end) in zip(texts, stages, strict=True):
        axes.annotate(
            text, ((start + end) / 2, 1), xytext=(0, 3), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="center", va="bottom", fontsize=8, color="0.25",
        )  # fmt: skip


METRICS = (RANK, PROBABILITY)
"""Metrics from top to bottom."""

_TRACK_NAME = 40


def draw_checkpoints_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw all lists of checkpoints on one domain."""
    tracks = [
        read_track(inputs["following"], track, parts["domain"]).filter(
            pl.col("metric").is_in([each.name for each in METRICS]), aggregate=parts["statistic"]
        )
        for track in settings.members
    ]
    title = settings.title or parts["domain"]
    figure = draw_checkpoints(tracks, title, parts["statistic"], settings.summary, settings.references)
    return figure, (FOLLOWING, pl.concat(tracks).rows(named=True))


def draw_checkpoints(
    tracks: Sequence[pl.DataFrame],
    title: str,
    statistic: str,
    settings: Summary,
    references: References = (),
) -> "Figure":
    """Draw a column for each list, its models at equal steps; call it inside `use_style`.

    `tracks`: rows under contract FOLLOWING, in the order of the models, of one statistic.
    """
    figure, grid = make_panels(len(METRICS) * len(tracks), len(tracks), (0.4, 3.8), (1.5, 2.5), 6.0)
    bands, every = describe_intervals(settings, "Bands"), pl.concat(tracks)
    items = count_items(every, references)
    figure.suptitle(f"{wrap_name(title, 78)}\n{bands}{describe_stand_ins(every)}\n{items}")
    handles: dict[str, Any] = {}
    for line, metric in zip(grid, METRICS, strict=True):
        for axes, track in zip(line, tracks, strict=True):
            handles |= _draw_checkpoints(axes, _count_models(track).filter(metric=metric.name), references)
        name = label_panel((metric.name, statistic, metric.describe(STATISTICS[statistic])), settings)
        for axes in line:
            text = label_scale(name if axes is line[0] else "", axes.yaxis)
            axes.set_ylabel(wrap_name(text, _HIGH))
    names = name_lists([track["track"][0] for track in tracks])
    for upper, lower, track in zip(grid[0], grid[-1], tracks, strict=True):
        count = describe_count([track["model"].n_unique()], "checkpoint")
        upper.set_title(wrap_name(f"{names[track['track'][0]]}: {count}", _TRACK_NAME))
        (last,) = shorten_names([track["model"][-1]]).values()
        lower.set_xlabel(f"Checkpoints in their order; the last:\n{wrap_name(last, _TRACK_NAME)}")
    add_benchmarks(figure, handles)
    return figure


def name_lists(keys: Sequence[str]) -> dict[str, str]:
    """Return names in words of lists of checkpoints by their keys, without what all keys begin with.

    Examples
    --------
    >>> list(name_lists(["olmo-2-first-50", "olmo-2-whole-run"]).values())
    ['First 50', 'Whole run']
    >>> list(name_lists(["olmo-2"]).values())
    ['Olmo 2']
    """
    words = [re.split("[-_ ]+", key) for key in keys]
    shared = 0
    while len(words) > 1 and min(map(len, words)) > shared + 1 and len({each[shared] for each in words}) == 1:
        shared += 1
    texts = [" ".join(each[shared:]) for each in words]
    return {key: text[:1].upper() + text[1:] for key, text in zip(keys, texts, strict=True)}


def _count_models(track: pl.DataFrame) -> pl.DataFrame:
    """Return a list with the place of each model in it, from 1 on."""
    models = track["model"].unique(maintain_order=True)
    places = pl.DataFrame({"model": models, "place": range(1, len(models) + 1)})
    return track.join(places, on="model", maintain_order="left")


def _draw_checkpoints(axes: "Axes", rows: pl.DataFrame, references: References) -> dict[str, Any]:
    from matplotlib.ticker import MaxNLocator

    handles = {}
    for look, some in list_curves(rows.sort("place"), references):
        handles[look.label] = _draw_curve(axes, some, some["place"].to_list(), look, 3)
    scale_axes(axes, rows)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    return handles


_BASE_COLOR, _FINAL_COLOR = "#000000", "#B2182B"
_COLORS = [color for color in RANKING_COLORS if color != _BASE_COLOR]
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (6, 2, 1.5, 2)))  # dotted are the levels
_LEVEL = {"linewidth": 1.5, "linestyle": ":", "zorder": 1}
_PATH_NAME = 44


def draw_paths_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw paths of adaptation from one base over each other."""
    domain = parts["domain"]
    tracks = [read_path(inputs["following"], path, domain) for path in settings.members]
    titles = {domain: settings.title or domain, **settings.titles}
    keys = ("variant", "metric", "aggregate")
    panels = [each[:3] for each in _list_panels(tracks[0], parts["statistic"])]
    shown = pl.DataFrame(panels, schema=keys, orient="row")
    drawn = [track.filter((pl.col("step") == 0) | (pl.col("step") >= _find_start(track))) for track in tracks]
    rows = pl.concat(drawn).join(shown, on=keys, how="semi", maintain_order="left")
    references = settings.references
    figure = draw_paths(tracks, domain, titles, parts["statistic"], settings.summary, references)
    return figure, (FOLLOWING, rows.rows(named=True))


def read_path(file: Path | str, path: str, domain: str) -> pl.DataFrame:
    """Read the measurements of one path on one domain: a track, or the beginning of one.

    `path` is its last model. Raise `InputError` if the table lacks it.
    """
    table = read_table(file, FOLLOWING)
    within = table.filter(model=path)
    if path in table["track"] or within.is_empty():
        return read_track(file, path, domain)
    longer, stage = within.select("track", "stage").row(0)
    return read_track(file, longer, domain).filter(pl.col("stage") <= stage).with_columns(track=pl.lit(path))


def draw_paths(
    tracks: Sequence[pl.DataFrame],
    domain: str,
    titles: Mapping[str, str],
    statistic: str,
    settings: Summary,
    references: References = (),
) -> "Figure":
    """Draw one panel for each metric, from rows under FOLLOWING; call it inside `use_style`.

    The path that goes from the base to the measured domain alone ends at a dotted line.
    """
    several = len({*tracks[0]["seed"]}) > 1
    main = [_select_mean(track) for track in tracks]
    paths = [(_name_path(track, titles), _count_last(track)) for track in main]
    final = next((track for track in main if _leads_to(track, domain)), None)
    panels = _list_panels(main[0], statistic)
    entries = len(paths) + 1 + (final is not None)
    legend = 2 if entries > 3 else 1
    figure, grid = make_panels(len(panels), 3, (0.0, 3.1), (1.5 + 0.2 * -(-entries // legend), 2.6), 6.0)
    bands = describe_intervals(settings, "Bands") + (" of the mean over seeds" if several else "")
    title = clean_name(titles.get(domain, domain))
    heading = wrap_name(f"{title}: paths of adaptation from {_name_base(main[0])}", 78)
    shown = pl.concat(_select_panel(track, panel) for track in main for panel in panels)
    figure.suptitle(f"{heading}\n{bands}\n{count_items(shown, references)}")
    handles: dict[str, Any] = {}
    for place, (axes, panel) in enumerate(zip(grid.flat, panels, strict=False)):
        chosen = [(name, _select_panel(rows, panel)) for name, rows in paths]
        handles = _draw_lines(axes, chosen)
        levels = {"Base": (_select_panel(main[0], panel).filter(step=0)["value"][0], _BASE_COLOR)}
        if final is not None:
            end = _select_panel(final, panel).sort("step")["value"][-1]
            levels[f"{title} final"] = (end, _FINAL_COLOR)
        for name, (value, color) in levels.items():
            handles[name] = axes.axhline(value, color=color, **_LEVEL)
        scale_axes(axes, pl.concat(rows for _, rows in chosen))
        axes.set_title(label_scale(_title_panel(panel, settings, references), axes.yaxis))
        if place >= len(panels) - grid.shape[1]:
            axes.set_xlabel("Steps on the last domain")
    add_legend(figure, handles, legend)
    return figure


def _draw_lines(axes: "Axes", paths: Sequence[tuple[str, pl.DataFrame]]) -> dict[str, Any]:
    """Draw a line with its band for each path; return legend handles."""
    handles = {}
    for number, (name, rows) in enumerate(paths):
        color = _COLORS[number % len(_COLORS)]
        axes.fill_between(rows["step"], rows["ci_low"], rows["ci_high"], color=color, alpha=0.12, linewidth=0)
        (handles[name],) = axes.plot(
            rows["step"], rows["value"], color=color, linestyle=_DASHES[number % len(_DASHES)],
            marker="o", markersize=2.5,
        )  # fmt: skip
    return handles


def _select_mean(track: pl.DataFrame) -> pl.DataFrame:
    mean = track.filter(seed=ALL_SEEDS)
    return mean if len(mean) else track


def _select_panel(rows: pl.DataFrame, panel: tuple[str, str, str, str]) -> pl.DataFrame:
    variant, metric, aggregate, _ = panel
    return rows.filter(variant=variant, metric=metric, aggregate=aggregate)


def _find_start(track: pl.DataFrame) -> int:
    last = max(track["stage"].to_list())
    steps: list[int] = track.filter(pl.col("stage") < last)["step"].to_list()
    return max(steps)


def _count_last(track: pl.DataFrame) -> pl.DataFrame:
    """Return a path from the model that its last domain begins with, its steps counted from there."""
    start = _find_start(track)
    return track.filter(pl.col("step") >= start).with_columns(pl.col("step") - start).sort("step")


def _list_panels(rows: pl.DataFrame, statistic: str) -> list[tuple[str, str, str, str]]:
    """Return variant, metric, aggregate and label of each panel that the papers draw."""
    labels = {panel[:2]: panel[2] for panel in OVER_TIME}
    wanted = [(variant, RANK.name, statistic) for variant in (REFERENCE, *VARIANTS)]
    wanted += [(each.variant, each.name, MEAN.name) for each in (PERPLEXITY, ATTRIBUTE_RATE)]
    return [
        (*place, labels[place[1:]])
        for place in wanted
        if len(rows.filter(variant=place[0], metric=place[1], aggregate=place[2]))
    ]


def _title_panel(panel: tuple[str, str, str, str], settings: Summary, references: References) -> str:
    variant, metric, aggregate, label = panel
    name = label_panel((metric, aggregate, label), settings)
    if variant not in VARIANT_SERIES:
        return name
    return f"{label_variant(variant, references)} {name[0].lower()}{name[1:]}"


def _name_base(track: pl.DataFrame) -> str:
    (base,) = shorten_names(track.filter(stage=0)["model"][:1]).values()
    return clean_name(base)


def _list_domains(track: pl.DataFrame) -> list[str]:
    stages = track.filter(pl.col("stage") > 0).sort("stage").unique("stage", maintain_order=True)
    return stages["trained_on"].to_list()


def _name_path(track: pl.DataFrame, titles: Mapping[str, str]) -> str:
    """Return what its last domain begins with, and that domain, such as `Base to CS.AI`."""
    *before, last = (clean_name(titles.get(name, name)) for name in _list_domains(track))
    return wrap_name(
        f"{' + '.join(before) or 'Base'} to {last}{describe_text(track['track'][0])}", _PATH_NAME
    )


def _leads_to(track: pl.DataFrame, domain: str) -> bool:
    """Tell whether a path goes from the base to a single domain with unchanged text."""
    return _list_domains(track) == [domain] and not describe_text(track["track"][0])
