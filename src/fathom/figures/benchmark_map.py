"""Several benchmarks on one map of their domain [CompComp, Fig. 1b]."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from fathom.config.benchmark import VARIANTS
from fathom.errors import InputError
from fathom.figures.coverage import name_axes
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import add_legend, list_handles, make_panels
from fathom.figures.style import VARIANT_SERIES, clean_name, wrap_name
from fathom.io.contracts.coverage import COVERAGE_MAP
from fathom.io.contracts.figures import BENCHMARKS_MAP
from fathom.io.tables import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SENTENCE = "#CCCCCC"


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the benchmarks of one domain on one map."""
    rows = read_maps({name: inputs[name] for name in VARIANTS})
    return draw_map(rows, settings.title or parts["domain"]), (BENCHMARKS_MAP, rows.rows(named=True))


def read_maps(maps: Mapping[str, Path]) -> pl.DataFrame:
    """Read the maps of several benchmarks of a domain as one.

    Parameters
    ----------
    maps : mapping of str to Path
        Tables under COVERAGE_MAP by variant.

    Returns
    -------
    DataFrame
        Under BENCHMARKS_MAP: the sentences once, with an empty variant, then the pairs of each benchmark.

    Raises
    ------
    InputError
        If the maps are not of the same sentences.
    """
    columns = ["kind", "id", "x", "y"]
    tables = {name: read_table(path, COVERAGE_MAP, columns) for name, path in maps.items()}
    first, *others = (each.filter(kind="sentence") for each in tables.values())
    if not all(first.equals(other) for other in others):
        names = ", ".join(str(path) for path in maps.values())
        raise InputError("the maps are not of the same sentences", names, "measure their coverage anew")
    every = [first.with_columns(variant=pl.lit(""))]
    every += [table.filter(kind="pair").with_columns(variant=pl.lit(name)) for name, table in tables.items()]
    return pl.concat(every).select("variant", *columns)


def draw_map(rows: pl.DataFrame, title: str) -> "Figure":
    """Draw a panel for each benchmark and one for all; call it inside `use_style`."""
    variants = rows.filter(kind="pair")["variant"].unique(maintain_order=True).to_list()
    panels = [*([name] for name in variants), *([variants] if len(variants) > 1 else [])]
    figure, grid = make_panels(len(panels), 3, (0.0, 3.4), (1.1, 3.2), 5.0, sharex=True, sharey=True)
    figure.suptitle(wrap_name(clean_name(title), 60))
    for axes, shown in zip(grid.flat, panels, strict=False):
        _draw_panel(axes, rows, shown)
    name_axes([*grid[-1, :], *grid[:, 0]])
    add_legend(figure, list_handles(grid.flat[len(panels) - 1]), markerscale=2)
    return figure


def _draw_panel(axes: "Axes", rows: pl.DataFrame, variants: list[str]) -> None:
    """Draw the sentences and the pairs of some benchmarks, points of a PDF as one picture."""
    sentences = rows.filter(kind="sentence")
    places = sentences["x"], sentences["y"]
    axes.scatter(*places, s=5, c=_SENTENCE, linewidths=0, label="sentence", rasterized=True)
    counts = []
    for name in variants:
        look, pairs = VARIANT_SERIES[name], rows.filter(variant=name)
        face = look.color if look.filled else "none"
        axes.scatter(
            pairs["x"], pairs["y"], s=9, marker=look.marker, facecolors=face, edgecolors=look.color,
            linewidths=0.5, alpha=0.7, label=look.label, rasterized=True,
        )  # fmt: skip
        counts.append(f"{look.label}: {len(pairs):,} pairs")
    axes.set_title("all benchmarks" if len(variants) > 1 else counts[0])
