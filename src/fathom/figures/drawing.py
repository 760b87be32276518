"""How every figure is drawn: from named tables, the parts of its file's name, and settings.

A function that draws takes :data:`Inputs`, :data:`Parts` and :class:`FigureSettings`, returns the figure and
its numbers, and is called inside `use_style`. It is called `draw_figure` where a module has but one.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from fathom.config.layers import Layers
from fathom.config.ranking import Ranking
from fathom.config.scoring import Summary, Targets
from fathom.config.section import Section, refuse_unknown
from fathom.config.short_names import shorten_names
from fathom.figures.entry import Figure as Entry
from fathom.figures.style import save_figure, use_style
from fathom.io.contracts.column import Contract
from fathom.io.delimited import Row, read_rows, write_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Inputs = Mapping[str, Path]
"""Finished tables by name."""
Parts = Mapping[str, str]
"""Parts of the name of a figure's file, such as its domain."""
Table = tuple[Contract, Sequence[Mapping[str, Any] | Sequence[Any]]]
"""A figure's numbers: their contract, and rows."""


class FigureSettings(Section):
    """Sections of the configuration that affect figures, and their texts beside tables."""

    summary: Summary = Summary()
    layers: Layers = Layers()
    ranking: Ranking = Ranking()
    title: str = Field("", description="title of the domain")
    titles: dict[str, str] = Field({}, description="title of each domain, in the order of the panels")
    members: list[str] = Field([], description="models, or tracks, that are drawn together")
    references: list[tuple[str, str]] = Field([], description="variants and names of references, in order")
    subjects: dict[str, str] = Field({}, description="subject of each set of multiple-choice questions")
    share: float = Field(Targets().share, description="share of the targets among the best, or the worst")
    bases: dict[str, str] = Field({}, description="models, each with the one that it is drawn over")
    chat_pairs: list[tuple[str, str, str]] = Field([], description="chat model, its base and their family")
    sizes: list[tuple[str, str, str, int, int]] = Field(
        [], description="model, family, kind, parameters and training tokens, 0: unknown"
    )

    def name_models(self, models: Iterable[str]) -> dict[str, str]:
        """Return what models are called, those that were adapted by the titles of domains."""
        return shorten_names(models, self.titles)


def draw_files(
    entry: Entry, inputs: Inputs, parts: Parts, settings: FigureSettings, folder: Path
) -> list[str]:
    """Draw all figures of one job as PDF and PNG, and write their numbers as CSV; return their names.

    Parts that one job draws all values of are not among `parts`.
    """
    draw = entry.find_function()
    names = []
    for values in entry.vary():
        name = entry.pattern.format_map({**parts, **values})
        with use_style():
            figure, (contract, rows) = draw(inputs, {**parts, **values}, settings)
            save_figure(figure, folder / f"{name}.pdf", folder / f"{name}.png")
        write_rows(folder / f"{name}.csv", rows, contract)
        names.append(name)
    return names


def require_known(kind: str, name: str, known: Iterable[str], path: Path | str) -> None:
    """Raise `InputError` if a table does not contain what to draw."""
    names = {*known}
    if name not in names:
        raise refuse_unknown(kind, name, names, str(path))


def read_domain_rows(path: Path | str, contract: Contract, domain: str, needed: bool = True) -> list[Row]:
    """Return the rows of one domain of a CSV with a column `domain`."""
    rows = read_rows(path, contract)
    if needed:
        require_known("domain", domain, (row["domain"] for row in rows), path)
    return [row for row in rows if row["domain"] == domain]


DrawnFigure = tuple["Figure", Table]
"""A figure and its numbers."""
