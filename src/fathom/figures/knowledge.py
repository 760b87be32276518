"""What models know of a domain, in bits between zero and a ceiling."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fathom.benchmark.target_words import find_ceiling
from fathom.config.scoring import Summary
from fathom.config.short_names import shorten_names
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.rank_values import ModelRanks, find_variants, read_model_ranks, select_domain
from fathom.figures.style import VARIANT_SERIES, make_figure, wrap_name
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.figures import KNOWLEDGE
from fathom.io.tables import read_table
from fathom.statistics.aggregates import MEAN
from fathom.statistics.metrics import BITS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAME, _ROW = 44, 0.34  # letters in a line of a name; inches of a line
_APART = 0.26  # of the height of a row, between benchmarks
_ROOM = 0.04  # of the width of the axis, left of zero and right of the ceiling


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the models of one domain by knowledge."""
    summary, domain = inputs["summary"], parts["domain"]
    models = select_domain(read_model_ranks(summary, MEAN, BITS), domain, summary)
    ceiling = find_ceiling(read_table(inputs["pairs"], PAIRS, ["target"])["target"].to_list())
    figure = draw_knowledge(models, ceiling, settings.title or domain, settings.summary)
    rows = [
        (model.model, variant, *(rank.value, rank.low, rank.high), rank.pairs)
        for model in models
        for variant, rank in model.ranks.items()
    ]
    return figure, (KNOWLEDGE, rows)


def draw_knowledge(
    models: Sequence[ModelRanks], ceiling: float, title: str, settings: Summary | None = None
) -> "Figure":
    """Draw bits with intervals, a row for each model.

    Parameters
    ----------
    models : sequence of ModelRanks
        Bits of each, best first.
    ceiling : float
        The most that bits of the TF benchmark can be.
    title : str
        Name of the domain.
    settings : Summary, optional
        For the confidence of the intervals.
    """
    short = shorten_names(model.model for model in models)
    names = [wrap_name(short[model.model], _NAME) for model in models]
    figure = make_figure(8.0, 1.7 + _ROW * sum(1 + name.count("\n") for name in names))
    figure.suptitle(wrap_name(title, 60))
    axes = figure.subplots()
    _draw_rows(axes, models, names, ceiling)
    axes.set_xlabel(f"Knowledge in bits, {100 * (settings or Summary()).confidence:.4g} % intervals")
    return figure


def _draw_rows(axes: "Axes", models: Sequence[ModelRanks], names: Sequence[str], ceiling: float) -> None:
    """Draw a row for each model between zero and the ceiling."""
    variants = find_variants(list(models))
    for place, variant in enumerate(variants):
        series = VARIANT_SERIES[variant]
        shift = _APART * (place - (len(variants) - 1) / 2)
        rows = [
            (at + shift, model.ranks[variant]) for at, model in enumerate(models) if variant in model.ranks
        ]
        for row, rank in rows:
            if math.isfinite(rank.low):
                axes.plot(
                    [rank.low, rank.high], [row, row], color=series.color, linestyle=series.line, zorder=2
                )
        axes.plot(
            [rank.value for _, rank in rows], [row for row, _ in rows], label=series.label, zorder=3,
            **series.marks(),
        )  # fmt: skip
    ends = [end for model in models for rank in model.ranks.values() for end in (rank.low, rank.value)]
    least = min([0.0, *(end for end in ends if math.isfinite(end))])
    for end, label in ((0.0, "nothing"), (ceiling, f"ceiling {ceiling:.2f}")):
        axes.axvline(end, color="0.35", linewidth=0.9, zorder=1)
        axes.text(end, -0.75, label, ha="center", va="bottom", color="0.35")
    room = _ROOM * (ceiling - least)
    axes.set_xlim(least - room, ceiling + room)
    axes.set_ylim(len(models) - 0.4, -0.7)
    axes.set_yticks(range(len(models)), names)
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="lower right", title="Benchmark", frameon=True, framealpha=1, edgecolor="none")
