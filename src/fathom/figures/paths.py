"""Paths of adaptation from one base over each other: a panel for each metric, steps of the last domain.

Source: [RawCorpora, Fig. 9], [BeyondBenchmarks, Fig. 5].
"""

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.scoring import Summary
from fathom.config.short_names import shorten_names
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.following import OVER_TIME, describe_text, label_panel, read_track, scale_axes
from fathom.figures.panels import add_legend, make_panels
from fathom.figures.style import RANKING_COLORS, VARIANT_SERIES, clean_name, wrap_name
from fathom.io.contracts.studies import ALL_SEEDS, FOLLOWING
from fathom.io.tables import read_table
from fathom.statistics.aggregates import MEAN
from fathom.statistics.metrics import ATTRIBUTE_RATE, PERPLEXITY, RANK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BASE_COLOR, _FINAL_COLOR = "#000000", "#B2182B"
_COLORS = [color for color in RANKING_COLORS if color != _BASE_COLOR]
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (6, 2, 1.5, 2)))  # dotted are the levels
_LEVEL = {"linewidth": 1.5, "linestyle": ":", "zorder": 1}
_NAME = 44


class Path(NamedTuple):
    """A path: what it is called, and its rows from the beginning of its last domain on."""

    name: str
    rows: pl.DataFrame


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw paths of adaptation from one base over each other."""
    domain = parts["domain"]
    tracks = [read_path(inputs["following"], path, domain) for path in settings.members]
    titles = {domain: settings.title or domain, **settings.titles}
    keys = ("variant", "metric", "aggregate")
    panels = [each[:3] for each in _list_panels(tracks[0], parts["statistic"])]
    shown = pl.DataFrame(panels, schema=keys, orient="row")
    drawn = [track.filter((pl.col("step") == 0) | (pl.col("step") >= _find_start(track))) for track in tracks]
    rows = pl.concat(drawn).join(shown, on=keys, how="semi", maintain_order="left")
    figure = draw_paths(tracks, domain, titles, parts["statistic"], settings.summary)
    return figure, (FOLLOWING, rows.rows(named=True))


def read_path(file: FilePath | str, path: str, domain: str) -> pl.DataFrame:
    """Read what was measured of one path on one domain: a track, or the beginning of one.

    Parameters
    ----------
    file : Path or str
        Table under contract FOLLOWING.
    path : str
        The last model of the path.
    domain : str

    Raises
    ------
    InputError
        If the table does not hold them.
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
) -> "Figure":
    """Draw one panel for each metric; call it inside `use_style`.

    Parameters
    ----------
    tracks : sequence of DataFrame
        Rows under contract FOLLOWING of paths from one base, measured on one domain.
    domain : str
        The measured domain; the path that goes from the base to it alone ends at a dotted line.
    titles : mapping of str to str
        What domains are called.
    statistic : str
        How ranks are summed up.
    settings : Summary
    """
    several = len({*tracks[0]["seed"]}) > 1
    main = [_select_mean(track) for track in tracks]
    paths = [Path(_name_path(track, titles), _count_last(track)) for track in main]
    final = next((track for track in main if _leads_to(track, domain)), None)
    panels = _list_panels(main[0], statistic)
    entries = len(paths) + 1 + (final is not None)
    legend = 2 if entries > 3 else 1
    figure, grid = make_panels(len(panels), 3, (0.0, 3.1), (1.3 + 0.2 * -(-entries // legend), 2.6), 6.0)
    bands = f"{100 * settings.confidence:.4g} % intervals" + (" of the mean over seeds" if several else "")
    title = clean_name(titles.get(domain, domain))
    figure.suptitle(
        f"{wrap_name(f'{title}: paths of adaptation from {_name_base(main[0])}', 78)}\nBands: {bands}"
    )
    handles: dict[str, Any] = {}
    for place, (axes, panel) in enumerate(zip(grid.flat, panels, strict=False)):
        chosen = [path._replace(rows=_select_panel(path.rows, panel)) for path in paths]
        handles = _draw_lines(axes, chosen)
        levels = {"Base": (_select_panel(main[0], panel).filter(step=0)["value"][0], _BASE_COLOR)}
        if final is not None:
            end = _select_panel(final, panel).sort("step")["value"][-1]
            levels[f"{title} final"] = (end, _FINAL_COLOR)
        for name, (value, color) in levels.items():
            handles[name] = axes.axhline(value, color=color, **_LEVEL)
        axes.set_title(_title_panel(panel, settings))
        scale_axes(axes, pl.concat(path.rows for path in chosen))
        if place >= len(panels) - grid.shape[1]:
            axes.set_xlabel("Steps on the last domain")
    add_legend(figure, handles, legend)
    return figure


def _draw_lines(axes: "Axes", paths: Sequence[Path]) -> dict[str, Any]:
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
    """Return the mean over seeds where there are several."""
    mean = track.filter(seed=ALL_SEEDS)
    return mean if len(mean) else track


def _select_panel(rows: pl.DataFrame, panel: tuple[str, str, str, str]) -> pl.DataFrame:
    variant, metric, aggregate, _ = panel
    return rows.filter(variant=variant, metric=metric, aggregate=aggregate)


def _find_start(track: pl.DataFrame) -> int:
    """Return the step where a path goes on to its last domain."""
    last = max(track["stage"].to_list())
    steps: list[int] = track.filter(pl.col("stage") < last)["step"].to_list()
    return max(steps)


def _count_last(track: pl.DataFrame) -> pl.DataFrame:
    """Return a path from the model that its last domain begins with, its steps counted from there."""
    start = _find_start(track)
    return track.filter(pl.col("step") >= start).with_columns(pl.col("step") - start).sort("step")


def _list_panels(rows: pl.DataFrame, statistic: str) -> list[tuple[str, str, str, str]]:
    """Return variant, metric, aggregate and label of each panel, those that the papers draw."""
    labels = {panel[:2]: panel[2] for panel in OVER_TIME}
    wanted = [(variant, RANK.name, statistic) for variant in (REFERENCE, *VARIANTS)]
    wanted += [(each.variant, each.name, MEAN.name) for each in (PERPLEXITY, ATTRIBUTE_RATE)]
    return [
        (*place, labels[place[1:]])
        for place in wanted
        if len(rows.filter(variant=place[0], metric=place[1], aggregate=place[2]))
    ]


def _title_panel(panel: tuple[str, str, str, str], settings: Summary) -> str:
    """Return the title of a panel: the benchmark and the metric."""
    variant, *metric = panel
    series, name = VARIANT_SERIES.get(variant), label_panel((metric[0], metric[1], metric[2]), settings)
    return f"{series.label[0].upper()}{series.label[1:]} {name[0].lower()}{name[1:]}" if series else name


def _name_base(track: pl.DataFrame) -> str:
    """Return the model that a path starts from."""
    (base,) = shorten_names(track.filter(stage=0)["model"][:1]).values()
    return clean_name(base)


def _list_stages(track: pl.DataFrame) -> list[str]:
    """Return the domains of a path, in their order."""
    stages = track.filter(pl.col("stage") > 0).sort("stage").unique("stage", maintain_order=True)
    return stages["trained_on"].to_list()


def _name_path(track: pl.DataFrame, titles: Mapping[str, str]) -> str:
    """Return what its last domain begins with, and that domain, such as `Base to CS.AI`."""
    *before, last = (clean_name(titles.get(name, name)) for name in _list_stages(track))
    return wrap_name(f"{' + '.join(before) or 'Base'} to {last}{describe_text(track['track'][0])}", _NAME)


def _leads_to(track: pl.DataFrame, domain: str) -> bool:
    """Tell whether a path goes from the base to a domain alone, its text as it is."""
    return _list_stages(track) == [domain] and not describe_text(track["track"][0])
