"""Checkpoints of others by their order: a column for each list, ranks above, probabilities below.

Source: [RawCorpora, Figs. 5, 16], [BeyondBenchmarks, Figs. 6, 15].
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.config.scoring import Summary
from fathom.config.short_names import shorten_names
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.following import describe_stand_ins, label_panel, list_curves, read_track, scale_axes
from fathom.figures.panels import add_benchmarks, make_panels
from fathom.figures.style import clean_name, wrap_name
from fathom.io.contracts.studies import FOLLOWING
from fathom.statistics.aggregates import STATISTICS
from fathom.statistics.metrics import PROBABILITY, RANK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METRICS = (RANK, PROBABILITY)
"""Metrics from top to bottom."""

_NAME, _HIGH = 40, 24


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw all lists of checkpoints on one domain."""
    tracks = [
        read_track(inputs["following"], track, parts["domain"]).filter(
            pl.col("metric").is_in([each.name for each in METRICS]), aggregate=parts["statistic"]
        )
        for track in settings.members
    ]
    title = settings.title or parts["domain"]
    figure = draw_checkpoints(tracks, title, parts["statistic"], settings.summary)
    return figure, (FOLLOWING, pl.concat(tracks).rows(named=True))


def draw_checkpoints(
    tracks: Sequence[pl.DataFrame], title: str, statistic: str, settings: Summary
) -> "Figure":
    """Draw a column for each list, its models at equal steps; call it inside `use_style`.

    Parameters
    ----------
    tracks : sequence of DataFrame
        Rows under contract FOLLOWING, in the order of the models, of one statistic.
    title : str
        Name of the domain.
    statistic : str
        How pairs are summed up.
    settings : Summary
    """
    figure, grid = make_panels(len(METRICS) * len(tracks), len(tracks), (0.4, 3.8), (1.3, 2.5), 6.0)
    bands = f"Bands: {100 * settings.confidence:.4g} % intervals"
    heading = wrap_name(clean_name(title), 78)
    figure.suptitle(f"{heading}\n{bands}{describe_stand_ins(pl.concat(tracks))}")
    handles: dict[str, Any] = {}
    for line, metric in zip(grid, METRICS, strict=True):
        for axes, track in zip(line, tracks, strict=True):
            handles |= _draw_panel(axes, _count_models(track).filter(metric=metric.name))
        label = metric.describe(STATISTICS[statistic])
        line[0].set_ylabel(wrap_name(label_panel((metric.name, statistic, label), settings), _HIGH))
    for upper, lower, track in zip(grid[0], grid[-1], tracks, strict=True):
        upper.set_title(wrap_name(track["track"][0], _NAME))
        (last,) = shorten_names([track["model"][-1]]).values()
        lower.set_xlabel(f"Checkpoints in their order; the last:\n{wrap_name(last, _NAME)}")
    add_benchmarks(figure, handles)
    return figure


def _count_models(track: pl.DataFrame) -> pl.DataFrame:
    """Return a list with the place of each model in it, from 1 on."""
    models = track["model"].unique(maintain_order=True)
    places = pl.DataFrame({"model": models, "place": range(1, len(models) + 1)})
    return track.join(places, on="model", maintain_order="left")


def _draw_panel(axes: "Axes", rows: pl.DataFrame) -> dict[str, Any]:
    """Draw a line with its band for each benchmark; return legend handles."""
    from matplotlib.ticker import MaxNLocator

    handles = {}
    for look, some in list_curves(rows.sort("place")):
        places = some["place"]
        axes.fill_between(places, some["ci_low"], some["ci_high"], color=look.color, alpha=0.15, linewidth=0)
        face = look.color if look.filled else "white"
        (handle,) = axes.plot(
            places, some["value"], color=look.color, linestyle=look.line, marker=look.marker,
            markersize=3, markerfacecolor=face, zorder=3,
        )  # fmt: skip
        if look.label:
            handles[look.label] = handle
    scale_axes(axes, rows)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    return handles
