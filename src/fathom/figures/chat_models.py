"""Chat models less their bases, the alignment tax, by domain and family [RawCorpora, Fig. 24]."""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.short_names import clean_name, label_variant
from fathom.errors import InputError
from fathom.figures import panels
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.style import Series, fit_columns, make_figure, style_series
from fathom.io.contracts.figures import CHAT_MODELS
from fathom.io.contracts.statistics import COMPARISONS
from fathom.io.delimited import Row, read_rows
from fathom.statistics.aggregates import TRIMMED_MEAN
from fathom.statistics.metrics import RANK

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
        if row["metric"] != RANK.name or pair is None:
            continue
        (chat, base, family), ends = pair, [row[name] for name in ("difference", "ci_low", "ci_high")]
        if row["better"] != base:
            ends = [-ends[0], -ends[2], -ends[1]]
        place, tests = (
            [row[name] for name in names]
            for names in (("domain", "variant", "aggregate"), ("p", "p_adjusted", "apart", "pairs"))
        )
        line = (*place, family, chat, base, *ends, *tests)
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
    drawn = [tax for tax in taxes if tax["aggregate"] == TRIMMED_MEAN.name]
    pairs = list(dict.fromkeys((tax["chat"], tax["base"]) for tax in drawn))
    domains = [domain for domain in titles if any(tax["domain"] == domain for tax in drawn)]
    looks = {name: style_series(clean_name(titles[name]), place) for place, name in enumerate(domains)}
    short = {name: panels.wrap_column(text) for name, text in settings.name_models(chain(*pairs)).items()}
    columns = panels.measure_columns(
        [f"{short[chat]}\n− {short[base]}" for chat, base in pairs], len(domains)
    )
    variants = [name for name in (*VARIANTS, REFERENCE) if any(tax["variant"] == name for tax in drawn)]
    width = max(_WIDTH, _AXIS + columns.width * len(pairs)) * len(variants)
    beside = fit_columns(width, [look.label for look in looks.values()])
    figure = make_figure(width, 1.0 + 0.2 * -(-len(domains) // beside) + _HEIGHT + columns.below)
    grid = figure.subplots(1, len(variants), squeeze=False)[0]
    for axes, variant in zip(grid, variants, strict=True):
        some = [tax for tax in drawn if tax["variant"] == variant]
        _draw_benchmark(axes, some, pairs, looks, columns)
        count = panels.describe_count([tax["pairs"] for tax in some], "pair")
        axes.set_title(f"{label_variant(variant, settings.references)}: {count}")
    label = f"{panels.format_share(settings.summary.trim)} {TRIMMED_MEAN.label}; above 0: worse"
    whiskers = panels.describe_intervals(settings.summary)
    figure.supylabel(f"rank of the chat model less that of its base\n({label})\n{whiskers}", fontsize=9)
    panels.add_legend(figure, panels.list_handles(*grid), beside, loc="outside upper center")
    return figure, (CHAT_MODELS, taxes)


def _draw_benchmark(
    axes: "Axes",
    taxes: Sequence[Row],
    pairs: Sequence[tuple[str, str]],
    looks: Mapping[str, Series],
    columns: panels.Columns,
) -> None:
    axes.axhline(0, color="0.6", linewidth=0.8)
    for number, (domain, look) in enumerate(looks.items()):
        rows = [
            panels.PanelRow(
                columns.place(pairs.index((tax["chat"], tax["base"])), number),
                look,
                *(tax[end] for end in ("difference", "ci_low", "ci_high")),
            )
            for tax in taxes
            if tax["domain"] == domain
        ]
        if rows:
            panels.draw_values(axes, look, rows, upright=True).set_label(look.label)
    columns.name(axes)
