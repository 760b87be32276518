"""Chat models less their bases, the alignment tax, by domain and family [RawCorpora, Fig. 24]."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.errors import InputError
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import (
    Columns,
    PanelRow,
    add_legend,
    draw_values,
    list_handles,
    measure_columns,
    wrap_column,
)
from fathom.figures.style import VARIANT_SERIES, Series, clean_name, make_figure, style_series
from fathom.io.contracts.figures import CHAT_MODELS
from fathom.io.contracts.statistics import COMPARISONS
from fathom.io.delimited import Row, read_rows
from fathom.statistics.aggregates import STATISTICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_WIDTH, _AXIS, _HEIGHT = 3.0, 0.8, 2.6
"""Inches: least width of a panel, margin beside its axes, height of axes."""

Pair = tuple[str, str, str]
"""A chat model, its base, and their family."""


def read_taxes(comparisons: Path | str, pairs: Sequence[Pair]) -> list[Row]:
    """Return ranks of chat models minus their bases' from `comparisons.csv`, under CHAT_MODELS.

    Ordered by pair as given, then as in the file.
    """
    found: dict[Pair, list[Row]] = {pair: [] for pair in pairs}
    places = {frozenset(pair[:2]): pair for pair in pairs}
    for row in read_rows(comparisons, COMPARISONS):
        pair = places.get(frozenset((row["better"], row["worse"])))
        if row["metric"] != "rank" or pair is None:
            continue
        (chat, base, family), ends = pair, [row[name] for name in ("difference", "ci_low", "ci_high")]
        if row["better"] != base:
            ends = [-ends[0], -ends[2], -ends[1]]
        place = [row[name] for name in ("domain", "variant", "aggregate")]
        line = (*place, family, chat, base, *ends, row["p"], row["p_adjusted"], row["apart"])
        found[pair].append(dict(zip(CHAT_MODELS.names, line, strict=True)))
    taxes = [tax for some in found.values() for tax in some]
    if not taxes:
        hint = "score both on one benchmark"
        raise InputError("no chat model is compared with its base", str(comparisons), hint)
    return taxes


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw a panel for each benchmark, a column for each pair of models: rank less that of the base.

    The table has other statistics than the leading one, too.
    """
    taxes = read_taxes(inputs["comparisons"], settings.chat_pairs)
    untitled = {tax["domain"]: tax["domain"] for tax in taxes}
    # in the order of the configuration: a key keeps its first place
    titles = {**settings.titles, **untitled, **settings.titles}
    drawn = [tax for tax in taxes if tax["aggregate"] == "trimmed_mean"]
    pairs = list(dict.fromkeys((tax["chat"], tax["base"]) for tax in drawn))
    domains = [domain for domain in titles if any(tax["domain"] == domain for tax in drawn)]
    looks = {name: style_series(clean_name(titles[name]), place) for place, name in enumerate(domains)}
    names = [f"{wrap_column(chat)}\n− {wrap_column(base)}" for chat, base in pairs]
    columns = measure_columns(names, len(domains))
    variants = [name for name in (*VARIANTS, REFERENCE) if any(tax["variant"] == name for tax in drawn)]
    width = 0.5 + max(_WIDTH, _AXIS + columns.width * len(pairs)) * len(variants)
    widest = max(len(look.label) for look in looks.values())
    beside = min(len(domains), max(1, int(width / (0.6 + 0.085 * widest))))  # domains in a line of the legend
    figure = make_figure(width, 1.0 + 0.2 * -(-len(domains) // beside) + _HEIGHT + columns.below)
    grid = figure.subplots(1, len(variants), squeeze=False)[0]
    for axes, variant in zip(grid, variants, strict=True):
        some = [tax for tax in drawn if tax["variant"] == variant]
        _draw_benchmark(axes, some, pairs, looks, columns)
        axes.set_title(VARIANT_SERIES[variant].label)
    label = f"{100 * settings.summary.trim:.4g} % {STATISTICS['trimmed_mean'].label}"
    figure.supylabel(f"rank of the chat model less that of its base\n({label}); above 0: worse", fontsize=9)
    add_legend(figure, list_handles(*grid), beside, loc="outside upper center")
    return figure, (CHAT_MODELS, taxes)


def _draw_benchmark(
    axes: "Axes",
    taxes: Sequence[Row],
    pairs: Sequence[tuple[str, str]],
    looks: Mapping[str, Series],
    columns: Columns,
) -> None:
    axes.axhline(0, color="0.6", linewidth=0.8)
    for number, (domain, look) in enumerate(looks.items()):
        rows = [
            PanelRow(
                columns.place(pairs.index((tax["chat"], tax["base"])), number),
                look,
                *(tax[end] for end in ("difference", "ci_low", "ci_high")),
            )
            for tax in taxes
            if tax["domain"] == domain
        ]
        if rows:
            draw_values(axes, look, rows, upright=True).set_label(look.label)
    columns.name(axes)
