"""Several benchmarks on one map of their domain [CompComp, Fig. 1b]."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from fathom.config.benchmark import VARIANTS
from fathom.errors import InputError
from fathom.figures.coverage import name_axes
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import add_legend, list_handles, make_panels
from fathom.figures.style import VARIANT_SERIES, Series, clean_name, wrap_name
from fathom.io.contracts.coverage import COVERAGE_MAP
from fathom.io.contracts.figures import BENCHMARKS_MAP
from fathom.io.tables import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SENTENCE = "#CCCCCC"
_OTHERS = [("#CC79A7", "D"), ("#000000", "v"), ("#E69F00", "P"), ("#56B4E9", "X")]
"""Looks of references that do not lead."""
_FEW = 200
"""Pairs up to which a benchmark has larger points."""
_WIDTH = 34
"""Letters of a panel's title on one line."""


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the benchmarks of one domain on one map, references among them."""
    rows = read_maps(inputs)
    figure = draw_map(rows, settings.title or parts["domain"], dict(settings.references))
    return figure, (BENCHMARKS_MAP, rows.rows(named=True))


def read_maps(maps: Mapping[str, Path]) -> pl.DataFrame:
    """Read the maps of several benchmarks of a domain, references last, as one under BENCHMARKS_MAP.

    The sentences come once, with an empty variant, then the pairs of each benchmark. Raise `InputError` if
    the maps are not of the same sentences.
    """
    columns = ["kind", "id", "x", "y"]
    ordered = sorted(maps.items(), key=lambda each: each[0] not in VARIANTS)
    tables = {name: read_table(path, COVERAGE_MAP, columns) for name, path in ordered}
    first, *others = (each.filter(kind="sentence") for each in tables.values())
    if not all(first.equals(other) for other in others):
        names = ", ".join(str(path) for path in maps.values())
        raise InputError("the maps are not of the same sentences", names, "measure their coverage anew")
    every = [first.with_columns(variant=pl.lit(""))]
    every += [table.filter(kind="pair").with_columns(variant=pl.lit(name)) for name, table in tables.items()]
    return pl.concat(every).select("variant", *columns)


def draw_map(rows: pl.DataFrame, title: str, references: Mapping[str, str]) -> "Figure":
    """Draw a panel for each benchmark and one for all; call it inside `use_style`."""
    looks = style_benchmarks(rows.filter(kind="pair")["variant"].unique(maintain_order=True), references)
    panels = [*([name] for name in looks), *([[*looks]] if len(looks) > 1 else [])]
    figure, grid = make_panels(len(panels), 3, (0.0, 3.4), (1.1, 3.2), 5.0, sharex=True, sharey=True)
    figure.suptitle(wrap_name(clean_name(title), 60))
    for axes, shown in zip(grid.flat, panels, strict=False):
        _draw_panel(axes, rows, {name: looks[name] for name in shown})
    name_axes(grid.flat[: len(panels)], grid.shape[1])
    add_legend(figure, list_handles(grid.flat[len(panels) - 1]), markerscale=2)
    return figure


def style_benchmarks(variants: Iterable[str], references: Mapping[str, str]) -> dict[str, Series]:
    """Return the look of each benchmark by variant; references have their names."""
    found, others = dict[str, Series](), iter(_OTHERS * len(references))
    for variant in variants:
        known = VARIANT_SERIES.get(variant)
        look = known or Series("", *next(others), True, ":")
        found[variant] = replace(look, label=clean_name(references.get(variant, look.label or variant)))
    return found


def _draw_panel(axes: "Axes", rows: pl.DataFrame, looks: Mapping[str, Series]) -> None:
    """Draw the sentences and the pairs of some benchmarks, points of a PDF as one picture."""
    sentences = rows.filter(kind="sentence")
    places = sentences["x"], sentences["y"]
    axes.scatter(*places, s=5, c=_SENTENCE, linewidths=0, label="sentence", rasterized=True)
    counts = []
    for name, look in looks.items():
        pairs = rows.filter(variant=name)
        face = look.color if look.filled else "none"
        axes.scatter(
            pairs["x"], pairs["y"], s=9 if len(pairs) > _FEW else 22, marker=look.marker, facecolors=face,
            edgecolors=look.color, linewidths=0.5, alpha=0.7, label=look.label, rasterized=True,
        )  # fmt: skip
        counts.append(f"{look.label}: {len(pairs):,} pairs")
    axes.set_title("all benchmarks" if len(looks) > 1 else wrap_name(counts[0], _WIDTH))
