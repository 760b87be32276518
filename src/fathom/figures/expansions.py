"""Corpora of several domains as they grow: a column of panels for each domain [CompComp, Fig. 3]."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import add_legend, list_handles
from fathom.figures.style import clean_name, make_figure, wrap_name
from fathom.io import paths
from fathom.io.contracts.coverage import EXPANSION_MAP
from fathom.io.contracts.figures import EXPANSIONS_MAP
from fathom.io.tables import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LAST = 3
"""Phases: the first round, the second, and all after it."""
_PHASES = ("First round", "Second round", "Later rounds")
_COLUMNS = 5
"""Domains beside each other; more stand below."""
_PANEL = 1.75
"""Inches of a panel, which is square."""
_WIDTH = 22
"""Letters of a domain's title on one line."""
_CROWD = 500
"""Points of a panel beyond which they get smaller."""
_OUTSIDE, _HELD, _NEW = ("#BBBBBB", ".", 8), ("#0072B2", "o", 6), ("#CC79A7", "^", 13)
"""Colours as in the paper, markers for grey prints, and sizes: what is new is little, and must be seen."""


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the corpora of all domains that are expanded."""
    rows = read_maps(inputs)
    return draw_corpora(rows, settings.titles), (EXPANSIONS_MAP, rows.rows(named=True))


def read_maps(maps: Mapping[str, Path]) -> pl.DataFrame:
    """Read the maps of several expansions as one, under EXPANSIONS_MAP; domains follow from the paths."""
    tables = []
    for path in maps.values():
        domain = (paths.EXPANSION_MAP.read(path) or {}).get("domain", "")
        tables.append(read_table(path, EXPANSION_MAP).with_columns(domain=pl.lit(domain)))
    return pl.concat(tables).select(EXPANSIONS_MAP.names)


def draw_corpora(rows: pl.DataFrame, titles: Mapping[str, str]) -> "Figure":
    """Draw a column of panels for each domain, a line for each phase; call it inside `use_style`."""
    domains = rows["domain"].unique(maintain_order=True).to_list()
    columns = min(_COLUMNS, len(domains))
    blocks = -(-len(domains) // columns)
    figure = make_figure(max(4.2, 0.5 + _PANEL * columns), 1.1 + (0.55 + (_PANEL + 0.2) * _LAST) * blocks)
    figure.suptitle("Corpora, round by round")
    grid = figure.subplots(blocks * _LAST, columns, squeeze=False)
    for axes in grid.flat:
        axes.set_visible(False)
    for place, domain in enumerate(domains):
        block, column = divmod(place, columns)
        lines = grid[block * _LAST : (block + 1) * _LAST, column]
        _draw_domain(lines, rows.filter(domain=domain), titles.get(domain, domain))
        if not column:
            for axes, name in zip(lines, _PHASES, strict=True):
                axes.set_ylabel(name)
    add_legend(figure, list_handles(*grid.flat), markerscale=2)
    return figure


def _draw_domain(lines: Any, rows: pl.DataFrame, title: str) -> None:
    """Draw the phases of one domain; above each, the share of its sentences that the corpus then holds."""
    phase = pl.min_horizontal("round", pl.lit(_LAST))
    for number, axes in enumerate(lines, 1):
        axes.set_visible(True)
        held = rows.filter(phase.is_between(1, number - 1))
        new = rows.filter(phase == number)
        _scatter(axes, rows.filter((phase == 0) | (phase > number)), _OUTSIDE, "not in the corpus")
        _scatter(axes, held, _HELD, "in it before")
        _scatter(axes, new, _NEW, "newly added")
        share = f"{100 * (len(held) + len(new)) / max(1, len(rows)):.0f} %"
        name = f"{wrap_name(clean_name(title), _WIDTH)}\n" if number == 1 else ""
        axes.set_title(f"{name}{share}", fontsize=9)
        # the same places in every phase, and the same room for every domain
        axes.set_xlim(*_frame(rows["x"]))
        axes.set_ylim(*_frame(rows["y"]))
        axes.set_box_aspect(1)
        axes.set_xticks([])
        axes.set_yticks([])


def _frame(places: pl.Series) -> tuple[float, float]:
    values = places.to_numpy()
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    room = 0.05 * (high - low) or 1
    return low - room, high + room


def _scatter(axes: "Axes", rows: pl.DataFrame, look: tuple[str, str, float], label: str) -> None:
    color, marker, size = look
    shrink = min(1.0, (_CROWD / max(1, len(rows))) ** 0.5)
    axes.scatter(
        rows["x"], rows["y"], s=size * shrink, c=color, marker=marker, label=label, linewidths=0, alpha=0.8,
        rasterized=True,
    )  # fmt: skip
