"""Ranks on documents from before and after the last day of each model's training text."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fathom.config.benchmark import VARIANTS
from fathom.config.scoring import Summary
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.metric_rows import Row, draw_rows
from fathom.figures.model_ranks import label_ranks, scale_axis
from fathom.figures.ranking import draw_note
from fathom.figures.style import RANKING_COLORS, Series, clean_name, make_figure, wrap_name
from fathom.io.contracts.figures import DATES_FIGURE
from fathom.io.contracts.statistics import AFTER, BEFORE, DATES
from fathom.io.delimited import read_rows
from fathom.statistics.aggregates import LEADING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {
    BEFORE: Series("documents up to that day", RANKING_COLORS[0], "o", True, "-"),
    AFTER: Series("later documents", RANKING_COLORS[4], "s", False, "--"),
}
_LINE, _NAME = 0.42, 34


class DatedRank(NamedTuple):
    """Rank of a model on one part of a benchmark, with the last day of its training text."""

    model: str
    cutoff: str
    part: str
    value: float
    low: float
    high: float
    pairs: int


def read_dated_ranks(table: Path | str, domain: str) -> list[DatedRank]:
    """Read the leading statistic of a domain's TF ranks from `dates.csv`; none if nothing is dated.

    Raises
    ------
    InputError
        If a column is missing or a value is no number.
    """
    found = []
    for row in read_rows(table, DATES):
        if (row["domain"], row["variant"], row["aggregate"]) != (domain, VARIANTS[0], LEADING.name):
            continue
        names = ("model", "cutoff", "part", "rank", "ci_low", "ci_high", "pairs")
        found.append(DatedRank(*(row[name] for name in names)))
    return found


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw ranks on documents from before and after the end of each model's training text."""
    ranks = read_dated_ranks(inputs["dates"], parts["domain"])
    figure = draw_dates(ranks, settings.title or parts["domain"], settings.summary)
    return figure, (DATES_FIGURE, ranks)


def draw_dates(ranks: Sequence[DatedRank], title: str, settings: Summary) -> "Figure":
    """Draw a line for each model, the earliest cut-off first; call it inside `use_style`.

    Parameters
    ----------
    ranks : sequence of DatedRank
        See :func:`read_dated_ranks`.
    title : str
        Name of the domain.
    settings : Summary
    """
    if not ranks:
        return draw_note(f"{clean_name(title)}: no pair comes from a document with a date.")
    models = sorted({(each.cutoff, each.model) for each in ranks})
    names = [_name(model, day, ranks) for day, model in models]
    figure = make_figure(
        7.4, 1.6 + _LINE * sum(name.count("\n") + 1 for name in names) / 2 + 0.1 * len(models)
    )
    axes = figure.subplots()
    rows = [
        Row(models.index((each.cutoff, each.model)), LOOKS[each.part], each.value, each.low, each.high)
        for part in LOOKS
        for each in ranks
        if each.part == part
    ]
    handles = draw_rows(axes, names, rows)
    scale_axis(axes, "x", [n for row in rows for n in row[2:] if math.isfinite(n)])
    axes.set_title(clean_name(title))
    axes.set_xlabel(f"TF: {label_ranks(settings)}")
    figure.legend(
        handles=list(handles.values()), labels=list(handles), loc="outside upper center", ncols=len(handles)
    )
    return figure


def _name(model: str, day: str, ranks: Sequence[DatedRank]) -> str:
    """Return a model's name with the last day of its text, and the pairs from before and after it."""
    pairs = {each.part: each.pairs for each in ranks if each.model == model}
    before, after = (f"{pairs.get(part, 0):,}" for part in LOOKS)
    return f"{wrap_name(model, _NAME)}\n{day}: {before} and {after} pairs"
