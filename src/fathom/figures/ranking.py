"""Shared parts of ranking figures: tables, styles of conditions and model families, heat maps, notes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.figures.style import RANKING_COLORS, TAU_COLOR_MAP, Series, clean_name, style_families
from fathom.io.contracts.column import Contract
from fathom.io.contracts.ranking import (
    AGREEMENT,
    ALIGNMENT,
    CATEGORIES,
    COMPONENTS,
    CORPUS_AGREEMENT,
    FIRST_COMPONENT,
    FORECAST,
    PAIRWISE,
    PREPARATION,
)
from fathom.io.delimited import Row, read_rows
from fathom.ranking.table import PARTS, Benchmark, Model, read_benchmarks, read_models

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CONTRACTS = {
    "agreement": AGREEMENT,
    "pairwise": PAIRWISE,
    "means": PAIRWISE,
    "categories": CATEGORIES,
    "perplexity": CORPUS_AGREEMENT,
    "pca": COMPONENTS,
    "pc1": FIRST_COMPONENT,
    "alignment": ALIGNMENT,
    "forecast": FORECAST,
    "preparation": PREPARATION,
}

Table = tuple[Contract, Sequence[Row]]
"""Numbers of a figure: what they are, and the rows."""

_HATCHES = ("", "///", "...", "xxx")


@dataclass(frozen=True)
class RankingTables:
    """The ranking tables of one run, `results/{run}/ranking`, read on first use."""

    folder: Path

    def read(self, name: str) -> list[Row]:
        """Read a table by its name without suffix; raise `InputError` if a column is missing."""
        return read_rows(self.folder / f"{name}.csv", _CONTRACTS[name])

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
        """Single conditions, without comparisons of two."""
        return list(dict.fromkeys(row["condition"] for row in self.read("means")))

    @property
    def tested(self) -> str | None:
        """Statistic that counts only significant differences, preferably paired; None if there is none."""
        statistics = {row["statistic"] for row in self.read("means")}
        return next((name for name in ("tau_paired", "tau_significant") if name in statistics), None)

    @cached_property
    def families(self) -> dict[str, Series]:
        """Style of each model family; models without a known family come last."""
        return style_families({model.family for model in self.models.values()})


def condition_style(index: int) -> dict[str, Any]:
    """Return colour and hatch of a condition's bars, by the condition's index."""
    return {"color": RANKING_COLORS[index % 8], "hatch": _HATCHES[index % 4], "edgecolor": "white"}


def condition_color(index: int) -> str:
    """Return the colour of a condition, by its index."""
    return RANKING_COLORS[index % 8]


def measure_names(names: Iterable[str], size: float = 8.0) -> float:
    """Estimate the width, in inches, of the longest name at a font size in points."""
    return max((len(clean_name(name)) for name in names), default=0) * 0.62 * size / 72


def title_condition(name: str) -> str:
    """Return a condition's name as a heading."""
    name = clean_name(name)
    return name[:1].upper() + name[1:]


def draw_matrix(
    axes: "Axes",
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    size: float = 8.0,
    lowest: float = 0.0,
) -> Any:
    """Draw a heat map with its numbers, to two decimals; NaN cells stay white.

    `size` is that of the numbers in points, `lowest` the value of the lightest colour; the darkest is 1.
    """
    image = axes.imshow(values, cmap=TAU_COLOR_MAP, vmin=lowest, vmax=1.0, aspect="auto")
    axes.set_xticks(range(len(columns)), [clean_name(name) for name in columns], rotation=45, ha="right",
                    rotation_mode="anchor")  # fmt: skip
    axes.set_yticks(range(len(rows)), [clean_name(name) for name in rows])
    axes.tick_params(length=0)
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            if not math.isnan(value):
                red, green, blue, _ = image.cmap(float((value - lowest) / (1 - lowest)))
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=size,
                          color="white" if dark else "0.1")  # fmt: skip
    return image


def add_colorbar(figure: "Figure", image: Any, axes: Any, label: str) -> None:
    """Add a colour bar beside axes."""
    bar = figure.colorbar(image, ax=axes, fraction=0.03, pad=0.015)
    bar.set_label(label.replace(", ", ",\n"))  # a long one is longer than a small matrix is high
    bar.outline.set_visible(False)


def label_statistic(statistic: str) -> str:
    """Return the axis label of a statistic."""
    names = {
        "tau_significant": "tau-b, insignificant = tie",
        "tau_paired": "tau-b, insignificant = tie (paired)",
    }
    return names.get(statistic, "Kendall's tau-b")
