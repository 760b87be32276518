"""Paths of adaptation from one base, drawn over each other: one panel for each metric, one axis of steps.

Source: [RawCorpora, Fig. 9], [BeyondBenchmarks, Fig. 5].
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.scoring import Summary
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.following import OVER_TIME, label_panel, read_track, scale_axes
from fathom.figures.panels import add_legend, make_panels
from fathom.figures.style import RANKING_COLORS, VARIANT_SERIES, clean_name, wrap_name
from fathom.io.contracts.studies import ALL_SEEDS, FOLLOWING
from fathom.statistics.aggregates import MEAN
from fathom.statistics.metrics import BASELINES, RANK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw paths of adaptation from one base over each other."""
    tracks = [read_track(inputs["following"], track, parts["domain"]) for track in settings.members]
    keys = ("variant", "metric", "aggregate")
    panels = [each[:3] for each in _list_panels(tracks[0], parts["statistic"])]
    shown = pl.DataFrame(panels, schema=keys, orient="row")
    rows = pl.concat(tracks).join(shown, on=keys, how="semi", maintain_order="left")
    title = settings.title or parts["domain"]
    return draw_paths(tracks, title, parts["statistic"], settings.summary), (FOLLOWING, rows.rows(named=True))


def draw_paths(tracks: Sequence[pl.DataFrame], title: str, statistic: str, settings: Summary) -> "Figure":
    """Draw one panel for each metric and benchmark; call it inside `use_style`."""
    main = [_select_mean(track) for track in tracks]
    panels = _list_panels(main[0], statistic)
    figure, grid = make_panels(len(panels), 3, (0.0, 3.1), (1.5 + 0.2 * len(tracks), 2.5), 6.0)
    several = len({*tracks[0]["seed"]}) > 1
    bands = f"{100 * settings.confidence:.4g} % intervals" + (" of the mean over seeds" if several else "")
    figure.suptitle(f"{clean_name(title)}\nBands: {bands}; dotted: {_name_base(main[0])}")
    handles: dict[str, Any] = {}
    for place, (axes, (variant, metric, aggregate, label)) in enumerate(zip(grid.flat, panels, strict=False)):
        chosen = [track.filter(variant=variant, metric=metric, aggregate=aggregate) for track in main]
        for number, track in enumerate(some.sort("step") for some in chosen):
            color = RANKING_COLORS[number % len(RANKING_COLORS)]
            axes.fill_between(
                track["step"], track["ci_low"], track["ci_high"], color=color, alpha=0.12, linewidth=0
            )
            (handle,) = axes.plot(
                track["step"], track["value"], color=color, linestyle=_DASHES[number % len(_DASHES)],
                marker="o", markersize=2.5,
            )  # fmt: skip
            handles[_name_path(main[number])] = handle
        axes.axhline(chosen[0].filter(step=0)["value"][0], color="black", linewidth=0.9, linestyle=":")
        series = VARIANT_SERIES.get(variant)
        name = label_panel((metric, aggregate, label), settings)
        axes.set_title(f"{series.label} {name[0].lower()}{name[1:]}" if series else name)
        scale_axes(axes, pl.concat(chosen))
        if place >= len(panels) - grid.shape[1]:
            axes.set_xlabel("Steps")
    add_legend(figure, handles, 1 if len(tracks) < 4 else 2)
    return figure


def _select_mean(track: pl.DataFrame) -> pl.DataFrame:
    """Return the mean over seeds where there are several."""
    mean = track.filter(seed=ALL_SEEDS)
    return mean if len(mean) else track


def _list_panels(rows: pl.DataFrame, statistic: str) -> list[tuple[str, str, str, str]]:
    """Return variant, metric, aggregate and label of each panel."""
    labels = {panel[:2]: panel[2] for panel in OVER_TIME}
    wanted = [(variant, RANK.name, statistic) for variant in (REFERENCE, *VARIANTS)]
    wanted += [(each.variant, each.name, MEAN.name) for each in BASELINES]
    return [
        (*place, labels[place[1:]])
        for place in wanted
        if len(rows.filter(variant=place[0], metric=place[1], aggregate=place[2]))
    ]


def _name_base(track: pl.DataFrame) -> str:
    """Return the model that a path starts from."""
    return clean_name(track.filter(stage=0)["model"][0])


def _name_path(track: pl.DataFrame) -> str:
    """Return the stages of a path, for the legend."""
    stages = track.filter(pl.col("stage") > 0).sort("step")["trained_on"].unique(maintain_order=True)
    return wrap_name(" > ".join(map(clean_name, stages)), 60)
