"""What figures of rankings share: their tables, looks of conditions and families, heat maps, notes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.errors import InputError
from fathom.figures.style import Series, clean_name, make_figure
from fathom.io.contracts.ranking import (
    AGREEMENT_COLUMNS,
    ALIGNMENT_COLUMNS,
    CATEGORY_COLUMNS,
    COMPONENT_COLUMNS,
    CORPUS_AGREEMENT_COLUMNS,
    FIRST_COMPONENT_COLUMNS,
    FORECAST_COLUMNS,
    PAIRWISE_COLUMNS,
    PREPARATION_COLUMNS,
)
from fathom.io.files import read_delimited
from fathom.ranking.table import PARTS, Benchmark, Model, read_benchmarks, read_models

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = {
    "agreement": AGREEMENT_COLUMNS,
    "pairwise": PAIRWISE_COLUMNS,
    "means": PAIRWISE_COLUMNS,
    "categories": CATEGORY_COLUMNS,
    "perplexity": CORPUS_AGREEMENT_COLUMNS,
    "pca": COMPONENT_COLUMNS,
    "pc1": FIRST_COMPONENT_COLUMNS,
    "alignment": ALIGNMENT_COLUMNS,
    "forecast": FORECAST_COLUMNS,
    "preparation": PREPARATION_COLUMNS,
}

# colours of Okabe and Ito; the first two differ in lightness too
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#999999")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_HATCHES = ("", "///", "...", "xxx")

MAP = "YlGnBu"
"""Colour map of tau: from light to dark, so that it is readable in grey."""

Row = dict[str, str]


@dataclass(frozen=True)
class RankingTables:
    """The tables of rankings of one run, each read when it is asked for.

    Attributes
    ----------
    folder : Path
        `results/{run}/ranking`.
    """

    folder: Path

    def read(self, name: str) -> list[Row]:
        """Return the rows of a table by its name without ending; `InputError` if a column is missing."""
        path = self.folder / f"{name}.csv"
        rows = read_delimited(path, ",")
        missing = [column for column in _COLUMNS[name] if rows and column not in rows[0]]
        if missing:
            raise InputError(f"columns are missing: {', '.join(missing)}", str(path), "make it again")
        return rows

    @cached_property
    def models(self) -> dict[str, Model]:
        """Models by name."""
        return {model.name: model for model in read_models(self.folder / PARTS[2])}

    @cached_property
    def benchmarks(self) -> dict[str, Benchmark]:
        """Benchmarks by name, corpora last."""
        return {each.name: each for each in read_benchmarks(self.folder / PARTS[3])}

    @cached_property
    def conditions(self) -> list[str]:
        """Conditions, without those that compare two."""
        return list(dict.fromkeys(row["condition"] for row in self.read("means")))

    @property
    def tested(self) -> str | None:
        """The statistic that counts significant differences only; the paired one where there is one."""
        statistics = {row["statistic"] for row in self.read("means")}
        return next((name for name in ("tau_paired", "tau_significant") if name in statistics), None)

    @cached_property
    def families(self) -> dict[str, Series]:
        """How each family of models looks; models of no known family come last."""
        names = sorted({model.family for model in self.models.values()} - {""})
        found = {
            name: Series(name, _COLORS[place % 8], _MARKERS[place % 8], True, "-")
            for place, name in enumerate(names)
        }
        if any(not model.family for model in self.models.values()):
            found[""] = Series("other", "#666666", "h", True, "-")
        return found


def read_number(text: str) -> float:
    """Return a number of a table; an empty field is NaN."""
    return float(text) if text else math.nan


def condition_look(place: int) -> dict[str, Any]:
    """Return colour and hatch of the bars of a condition."""
    return {"color": _COLORS[place % 8], "hatch": _HATCHES[place % 4], "edgecolor": "white"}


def condition_color(place: int) -> str:
    """Return the colour of a condition."""
    return _COLORS[place % 8]


def measure_names(names: Iterable[str], size: float = 8.0) -> float:
    """Return about how many inches the longest of some names takes, in points of size `size`."""
    return max((len(clean_name(name)) for name in names), default=0) * 0.62 * size / 72


def title_condition(name: str) -> str:
    """Return a condition as a heading."""
    name = clean_name(name)
    return name[:1].upper() + name[1:]


def draw_note(text: str) -> "Figure":
    """Return a figure that says why there is nothing to draw."""
    figure = make_figure(7.5, 1.6)
    figure.text(0.5, 0.5, text, ha="center", va="center", wrap=True)
    return figure


def draw_matrix(
    axes: "Axes",
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    size: float = 8.0,
    lowest: float = 0.0,
) -> Any:
    """Draw a heat map with its numbers, two decimals each; an unknown cell stays white.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    values : sequence of sequences
        [rows, columns]; NaN where there is none.
    rows, columns : sequence of str
        Labels.
    size : float
        Of the numbers, in points.
    lowest : float
        Value of the lightest colour; the darkest is 1.

    Returns
    -------
    matplotlib.image.AxesImage
        For a colour bar.
    """
    image = axes.imshow(values, cmap=MAP, vmin=lowest, vmax=1.0, aspect="auto")
    axes.set_xticks(range(len(columns)), [clean_name(name) for name in columns], rotation=45, ha="right",
                    rotation_mode="anchor")  # fmt: skip
    axes.set_yticks(range(len(rows)), [clean_name(name) for name in rows])
    axes.tick_params(length=0)
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)
    for place, line in enumerate(values):
        for column, value in enumerate(line):
            if not math.isnan(value):
                red, green, blue, _ = image.cmap(float((value - lowest) / (1 - lowest)))
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                axes.text(column, place, f"{value:.2f}", ha="center", va="center", fontsize=size,
                          color="white" if dark else "0.1")  # fmt: skip
    return image


def add_colorbar(figure: "Figure", image: Any, axes: Any, label: str) -> None:
    """Add a colour bar beside axes."""
    bar = figure.colorbar(image, ax=axes, fraction=0.03, pad=0.015)
    bar.set_label(label)
    bar.outline.set_visible(False)


def label_statistic(statistic: str) -> str:
    """Return how a statistic is called on an axis."""
    names = {
        "tau_significant": "tau-b, insignificant = tie",
        "tau_paired": "tau-b, insignificant = tie (paired)",
    }
    return names.get(statistic, "Kendall's tau-b")
