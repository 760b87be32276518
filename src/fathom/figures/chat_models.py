"""Chat models less their bases, the alignment tax, by domain and family [RawCorpora, Fig. 24]."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.errors import InputError
from fathom.figures import panels
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import add_legend, draw_rows
from fathom.figures.style import VARIANT_SERIES, clean_name, make_figure, wrap_name
from fathom.io.contracts.figures import CHAT_MODELS
from fathom.io.contracts.statistics import COMPARISONS
from fathom.io.delimited import Row, read_rows
from fathom.statistics.aggregates import STATISTICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_WIDTH, _LINE, _NAME = 2.9, 0.36, 30

Pair = tuple[str, str, str]
"""A chat model, its base, and their family."""


def read_taxes(comparisons: Path | str, pairs: Sequence[Pair]) -> list[Row]:
    """Return ranks of chat models less those of their bases from `comparisons.csv`, under CHAT_MODELS.

    They are by pair in the given order, within it in the order of the file.

    Raises
    ------
    InputError
        If a column is missing, a value is no number, or no pair is compared.
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
        told = [row[name] for name in ("domain", "variant", "aggregate")]
        line = (*told, family, chat, base, *ends, row["p"], row["p_adjusted"], row["apart"])
        found[pair].append(dict(zip(CHAT_MODELS.names, line, strict=True)))
    taxes = [tax for some in found.values() for tax in some]
    if not taxes:
        hint = "score both on one benchmark"
        raise InputError("no chat model is compared with its base", str(comparisons), hint)
    return taxes


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw a panel for each domain, a line for each pair of models: the rank of a chat model less its base's.

    The table has other statistics than the leading one, too.
    """
    taxes = read_taxes(inputs["comparisons"], settings.chat_pairs)
    told = {tax["domain"]: tax["domain"] for tax in taxes}
    # in the order of the configuration: a key keeps its first place
    titles = {**settings.titles, **told, **settings.titles}
    drawn = [tax for tax in taxes if tax["aggregate"] == "trimmed_mean"]
    pairs = list(dict.fromkeys((tax["chat"], tax["base"]) for tax in drawn))
    names = [f"{wrap_name(chat, _NAME)}\n− {wrap_name(base, _NAME)}" for chat, base in pairs]
    lines = [line for name in names for line in name.split("\n")]
    domains = [domain for domain in titles if any(tax["domain"] == domain for tax in drawn)]
    widest = max(map(len, lines))
    figure = make_figure(0.4 + 0.085 * widest + _WIDTH * len(domains), 1.5 + _LINE * len(lines))
    grid = figure.subplots(1, len(domains), squeeze=False)[0]
    handles: dict[str, Any] = {}
    for place, (axes, domain) in enumerate(zip(grid, domains, strict=True)):
        some = [tax for tax in drawn if tax["domain"] == domain]
        handles |= _draw_domain(axes, some, pairs, [""] * len(pairs) if place else names)
        axes.set_title(clean_name(titles[domain]))
    label = f"{100 * settings.summary.trim:.4g} % {STATISTICS['trimmed_mean'].label}"
    figure.supxlabel(f"rank of the chat model less that of its base ({label}); right of 0: worse", fontsize=9)
    add_legend(figure, handles, loc="outside upper center")
    return figure, (CHAT_MODELS, taxes)


def _draw_domain(
    axes: "Axes", taxes: Sequence[Row], pairs: Sequence[tuple[str, str]], names: Sequence[str]
) -> dict[str, Any]:
    """Draw the pairs of one domain; return legend handles by label."""
    rows = [
        panels.Row(
            pairs.index((tax["chat"], tax["base"])),
            VARIANT_SERIES[variant],
            *(tax[end] for end in ("difference", "ci_low", "ci_high")),
        )
        for variant in (*VARIANTS, REFERENCE)
        for tax in taxes
        if tax["variant"] == variant
    ]
    axes.axvline(0, color="0.6", linewidth=0.8)
    handles = draw_rows(axes, names, rows)
    axes.locator_params(axis="x", nbins=4)
    return handles
