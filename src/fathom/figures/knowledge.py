"""What models know of a domain, in bits between zero and a ceiling, and how fluent they are in it."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.benchmark.candidates import find_ceiling
from fathom.config.benchmark import VARIANTS
from fathom.config.scoring import Summary
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.rank_values import ModelRanks, find_variants, read_model_ranks, select_domain
from fathom.figures.style import VARIANT_SERIES, clean_name, make_figure, place_labels, wrap_name
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.figures import KNOWLEDGE
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import scan_rows
from fathom.io.tables import read_table
from fathom.statistics.aggregates import MEAN
from fathom.statistics.metrics import BITS, BITS_PER_BYTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAME, _ROW = 44, 0.34  # letters in a line of a name; inches of a line
_APART = 0.26  # of the height of a row, between benchmarks
_NAMES_UP_TO = 5  # models whose names have room beside their points
_STEPS = 40  # points of a whisker, which labels keep off
_ROOM = 0.04  # of the width of the axis, left of zero and right of the ceiling


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the models of one domain by knowledge, and knowledge against fluency where that was measured."""
    summary, domain = inputs["summary"], parts["domain"]
    models = select_domain(read_model_ranks(summary, MEAN, BITS), domain, summary)
    ceiling = find_ceiling(read_table(inputs["pairs"], PAIRS, ["target"])["target"].to_list())
    fluency = _read_fluency(summary, domain)
    figure = draw_knowledge(models, fluency, ceiling, settings.title or domain, settings.summary)
    rows = [
        (model.model, variant, *(rank.value, rank.low, rank.high), rank.pairs, fluency.get(model.model))
        for model in models
        for variant, rank in model.ranks.items()
    ]
    return figure, (KNOWLEDGE, rows)


def _read_fluency(summary: Path | str, domain: str) -> dict[str, float]:
    """Return bits per byte of held-out text by model."""
    return {
        row["model"]: row["value"]
        for _, row in scan_rows(summary, SUMMARY)
        if (row["domain"], row["metric"]) == (domain, BITS_PER_BYTE.name) and math.isfinite(row["value"])
    }


def draw_knowledge(
    models: Sequence[ModelRanks],
    fluency: dict[str, float],
    ceiling: float,
    title: str,
    settings: Summary | None = None,
) -> "Figure":
    """Draw bits with intervals, a row for each model, and bits against bits per byte.

    Parameters
    ----------
    models : sequence of ModelRanks
        Bits of each, best first.
    fluency : dict of str to float
        Bits per byte by model; the second panel has those that are there, if two are.
    ceiling : float
        The most that bits of the TF benchmark can be.
    title : str
        Name of the domain.
    settings : Summary, optional
        For the confidence of the intervals.
    """
    both = [model for model in models if model.model in fluency and VARIANTS[0] in model.ranks]
    names = [wrap_name(model.model, _NAME) for model in models]
    height = 0.9 + _ROW * sum(1 + name.count("\n") for name in names)
    heights = [height, *([4.2] if len(both) > 1 else [])]
    figure = make_figure(8.0, sum(heights) + 0.8)
    figure.suptitle(wrap_name(title, 60))
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    confidence = f"{100 * (settings or Summary()).confidence:.4g} %"
    numbers = {model.model: str(place) for place, model in enumerate(models, start=1)}
    numbered = len(both) > _NAMES_UP_TO
    if numbered:
        names = [f"{name}  {number}" for name, number in zip(names, numbers.values(), strict=True)]
    _draw_rows(axes[0], models, names, ceiling)
    axes[0].set_xlabel(f"Knowledge in bits, {confidence} intervals")
    if len(both) > 1:
        _draw_fluency(axes[1], both, fluency, numbers if numbered else {})
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


def _draw_fluency(
    axes: "Axes", models: Sequence[ModelRanks], fluency: dict[str, float], numbers: dict[str, str]
) -> None:
    """Draw a point for each model: how fluent it is in the domain, and what it knows of it.

    With numbers of models these stand beside their points, otherwise their names.
    """
    ranks = [model.ranks[VARIANTS[0]] for model in models]
    across = [fluency[model.model] for model in models]
    for x, rank in zip(across, ranks, strict=True):
        if math.isfinite(rank.low):
            axes.plot([x, x], [rank.low, rank.high], color="0.7", zorder=1)
    axes.plot(across, [rank.value for rank in ranks], color="0.2", marker="D", linestyle="none", zorder=3)
    axes.axhline(0.0, color="0.35", linewidth=0.9, zorder=1)
    axes.margins(0.12, 0.1)
    axes.invert_xaxis()
    axes.set_xlabel(f"Fluency: bits per byte{' (numbers as above)' if numbers else ', fewer to the right'}")
    axes.set_ylabel("Knowledge in bits, TF")
    points: list[Any] = [(x, rank.value) for x, rank in zip(across, ranks, strict=True)]
    whiskers = [
        (x, rank.low + (rank.high - rank.low) * step / _STEPS)
        for x, rank in zip(across, ranks, strict=True)
        for step in range(_STEPS + 1)
        if math.isfinite(rank.low)
    ]
    texts = [numbers.get(model.model, clean_name(model.model)) for model in models]
    place_labels(axes, points, texts, whiskers)
