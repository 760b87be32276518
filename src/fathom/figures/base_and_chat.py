"""Base models left, the chat models made from them right: ranks above, correlations below.

Source: [RawCorpora, Figs. 7, 21-23].
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.short_names import shorten_names
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.metric_agreement import (
    METRICS,
    Agreement,
    Look,
    Metrics,
    describe_look,
    draw_block,
    label_points,
    list_metrics,
    measure_agreements,
    measure_block,
    read_metrics,
)
from fathom.figures.style import make_figure
from fathom.io.contracts.figures import METRIC_AGREEMENT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Sides = Mapping[str, tuple[Metrics, Sequence[Agreement]]]
"""Ranks of models and how far they agree, by the title of the side."""


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw base and chat models on one domain by their ranks."""
    summary, ranks = inputs["summary"], (REFERENCE, *VARIANTS)
    sides = {}
    listed = list_sides(settings.chat_pairs)
    # of both sides together, so that a chat model is not called what its base is
    short = shorten_names(name for models in listed.values() for name in models)
    for title, models in listed.items():
        metrics = read_metrics([summary], parts["domain"], models, parts["statistic"], ranks)
        sides[title] = (metrics, measure_agreements(metrics, settings.summary))
    look = Look(settings.title or parts["domain"], parts["statistic"], METRICS, settings.summary, short)
    rows = [row for side in sides.values() for row in list_metrics(*side)[1]]
    return draw_sides(sides, look), (METRIC_AGREEMENT, rows)


def list_sides(pairs: Sequence[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return the models of each side by its title; a chat model and its base stand in the same order.

    Parameters
    ----------
    pairs : sequence of (str, str, str)
        Chat model, its base and their family.
    """
    bases = list(dict.fromkeys(base for _, base, _ in pairs))
    return {"Base models": bases, "Chat models": [chat for chat, _, _ in pairs]}


def draw_sides(sides: Sides, look: Look) -> "Figure":
    """Draw a block for each side beside the other; call it inside `use_style`.

    Parameters
    ----------
    sides : mapping of str to (dict, sequence of Agreement)
        See :func:`fathom.figures.metric_agreement.measure_agreements`.
    look : Look
    """
    sizes = [measure_block(metrics, look) for metrics, _ in sides.values()]
    widths = [width for width, _, _ in sizes]
    heights = [max(some) for some in list(zip(*sizes, strict=True))[1:]]
    figure = make_figure(sum(widths), 2.0 + sum(heights))
    figure.suptitle(describe_look(look))
    labels = []
    blocks = figure.subfigures(1, len(sides), squeeze=False, width_ratios=widths)
    for block, (title, (metrics, agreements)) in zip(blocks.flat, sides.items(), strict=True):
        block.suptitle(title)
        labels += draw_block(block, metrics, agreements, look, heights)
    label_points(labels)
    return figure
