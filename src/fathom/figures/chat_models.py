"""Chat models less their bases, the alignment tax, by domain and family [RawCorpora, Fig. 24]."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import Row, add_legend, draw_rows
from fathom.figures.style import VARIANT_SERIES, clean_name, make_figure, wrap_name
from fathom.io.contracts.figures import CHAT_MODELS
from fathom.io.contracts.statistics import COMPARISONS
from fathom.io.delimited import read_rows
from fathom.statistics.aggregates import STATISTICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_WIDTH, _LINE, _NAME = 2.9, 0.36, 30


class Pair(NamedTuple):
    """A chat model, its base, and their family."""

    chat: str
    base: str
    family: str


class Tax(NamedTuple):
    """What alignment costs a model on one benchmark: ranks of the chat model less those of its base."""

    domain: str
    variant: str
    aggregate: str
    pair: Pair
    difference: float
    low: float
    high: float
    p: str
    apart: str


def read_taxes(comparisons: Path | str, pairs: Sequence[Pair]) -> list[Tax]:
    """Read the difference of each chat model and its base from `comparisons.csv`.

    Parameters
    ----------
    comparisons : Path or str
        CSV under COMPARISONS.
    pairs : sequence of Pair

    Returns
    -------
    list of Tax
        By pair in the given order, within it in the order of the file.

    Raises
    ------
    InputError
        If a column is missing, a value is no number, or no pair is compared.
    """
    found: dict[Pair, list[Tax]] = {pair: [] for pair in pairs}
    places = {frozenset((pair.chat, pair.base)): pair for pair in pairs}
    for row in read_rows(comparisons, COMPARISONS):
        pair = places.get(frozenset((row["better"], row["worse"])))
        if row["metric"] != "rank" or pair is None:
            continue
        value, low, high = row["difference"], row["ci_low"], row["ci_high"]
        ends = (value, low, high) if row["better"] == pair.base else (-value, -high, -low)
        told = (row["domain"], row["variant"], row["aggregate"])
        found[pair].append(Tax(*told, pair, *ends, row["p"], row["apart"]))
    taxes = [tax for some in found.values() for tax in some]
    if not taxes:
        raise InputError(
            "no chat model is compared with its base", str(comparisons), "score both on one benchmark"
        )
    return taxes


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the ranks of chat models less those of their bases; the table has other statistics, too."""
    taxes = read_taxes(inputs["comparisons"], [Pair(*pair) for pair in settings.chat_pairs])
    titles = {tax.domain: tax.domain for tax in taxes} | settings.titles
    rows = [
        (
            *(tax.domain, tax.variant, tax.aggregate, tax.pair.family, tax.pair.chat, tax.pair.base),
            *(tax.difference, tax.low, tax.high, tax.p, tax.apart),
        )
        for tax in taxes
    ]
    return draw_taxes(taxes, titles, settings.summary), (CHAT_MODELS, rows)


def draw_taxes(taxes: Sequence[Tax], titles: dict[str, str], settings: Summary) -> "Figure":
    """Draw a panel for each domain, a line for each pair of models; call it inside `use_style`.

    Parameters
    ----------
    taxes : sequence of Tax
        See :func:`read_taxes`; those of the leading statistic are drawn.
    titles : dict of str to str
        Domains in the order of their panels, and what they are called.
    settings : Summary
    """
    drawn = [tax for tax in taxes if tax.aggregate == "trimmed_mean"]
    pairs = list(dict.fromkeys(tax.pair for tax in drawn))
    names = [_name(pair) for pair in pairs]
    lines = sum(name.count("\n") + 1 for name in names)
    domains = [domain for domain in titles if any(tax.domain == domain for tax in drawn)]
    widest = max(len(line) for name in names for line in name.split("\n"))
    figure = make_figure(0.4 + 0.085 * widest + _WIDTH * len(domains), 1.5 + _LINE * max(lines, len(pairs)))
    panels = figure.subplots(1, len(domains), squeeze=False)[0]
    handles: dict[str, Any] = {}
    for place, (axes, domain) in enumerate(zip(panels, domains, strict=True)):
        some = [tax for tax in drawn if tax.domain == domain]
        handles |= _draw_domain(axes, some, pairs, [""] * len(pairs) if place else names)
        axes.set_title(clean_name(titles[domain]))
    label = f"{100 * settings.trim:.4g} % {STATISTICS['trimmed_mean'].label}"
    figure.supxlabel(f"rank of the chat model less that of its base ({label}); right of 0: worse", fontsize=9)
    add_legend(figure, handles, loc="outside upper center")
    return figure


def _draw_domain(
    axes: "Axes", taxes: Sequence[Tax], pairs: Sequence[Pair], names: Sequence[str]
) -> dict[str, Any]:
    """Draw the pairs of one domain; return legend handles by label."""
    variants = [name for name in (*VARIANTS, REFERENCE) if any(tax.variant == name for tax in taxes)]
    rows = [
        Row(pairs.index(tax.pair), VARIANT_SERIES[variant], tax.difference, tax.low, tax.high)
        for variant in variants
        for tax in taxes
        if tax.variant == variant
    ]
    axes.axvline(0, color="0.6", linewidth=0.8)
    handles = draw_rows(axes, names, rows)
    axes.locator_params(axis="x", nbins=4)
    return handles


def _name(pair: Pair) -> str:
    """Return how a pair is called: its chat model over its base."""
    return f"{wrap_name(pair.chat, _NAME)}\n− {wrap_name(pair.base, _NAME)}"
