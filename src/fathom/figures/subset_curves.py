"""How the ranking by subsets approaches that by all pairs: a panel for a benchmark, a line for each kind."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.errors import InputError
from fathom.figures.style import clean_name, make_figure, save_figure, use_style, wrap_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUBSET_COLUMNS = (
    "run", "domain", "variant", "aggregate", "subset", "pairs", "tau", "tau_low", "tau_high", "exact", "kept",
)  # fmt: skip
"""Header of subsets.csv: a line for each size of the subsets of one kind, with the range of resamples."""

# dark to light; lines differ too, and bands stand behind the two that matter most
_LOOKS = {
    "at random": ("#000000", "-"), "stratified by keyword": ("#0072B2", "--"),
    "coverage of the pairs": ("#D55E00", "-."), "coverage of the domain": ("#E69F00", ":"),
}  # fmt: skip
_BANDS = ("at random", "coverage of the pairs")
_COLUMNS = 2

Row = Mapping[str, str]


def plot_subsets(rows: Iterable[Row], aggregate: str, files: tuple[Path, Path]) -> None:
    """Draw and save the curves of all benchmarks by one statistic.

    Parameters
    ----------
    rows : iterable of mapping
        Under SUBSET_COLUMNS.
    aggregate : str
        Name of the statistic.
    files : tuple of Path
        PDF and PNG.

    Raises
    ------
    InputError
        If no row has the statistic.
    """
    with use_style():
        save_figure(draw_subsets([row for row in rows if row["aggregate"] == aggregate]), *files)


def draw_subsets(rows: Sequence[Row]) -> "Figure":
    """Draw a panel for each benchmark; call it inside `use_style`."""
    names = list(dict.fromkeys((row["run"], row["domain"], row["variant"]) for row in rows))
    if not names:
        raise InputError("there are no subsets to draw", "subsets.csv", "give the statistic that it has")
    columns = min(_COLUMNS, len(names))
    lines = -(-len(names) // columns)
    figure = make_figure(max(5.2, 3.3 * columns), 1.0 + 2.5 * lines)
    grid = figure.subplots(lines, columns, squeeze=False, sharey=True)
    for axes, name in zip(grid.flat, names, strict=False):
        _draw_panel(axes, [row for row in rows if (row["run"], row["domain"], row["variant"]) == name])
        title = f"{name[0]}: {clean_name(name[1])}, {name[2].upper()}"
        axes.set_title(wrap_name(title, 30))
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("Kendall's tau")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def _draw_panel(axes: "Axes", rows: Sequence[Row]) -> None:
    """Draw the curves of one benchmark."""
    for kind, (color, line) in _LOOKS.items():
        own = [row for row in rows if row["subset"] == kind]
        pairs, tau, low, high = (
            [float(row[key]) for row in own] for key in ("pairs", "tau", "tau_low", "tau_high")
        )
        axes.plot(pairs, tau, color=color, linestyle=line, label=kind)
        if kind in _BANDS:
            axes.fill_between(pairs, low, high, color=color, alpha=0.15, linewidth=0)
    axes.axhline(0.95, color="#999999", linewidth=0.8)
    axes.set_xlabel("Pairs")
    axes.set_ylim(top=1.02)
