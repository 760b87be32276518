"""Panels that many figures share: grids of axes, values with intervals in rows or columns, legends, notes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.figures.style import Series, make_figure, wrap_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLAIN = Series("", "#000000", "D", True, "-")
_APART = 0.16  # of the height of a line, between benchmarks
_LINE, _LETTER, _ROOM = 0.15, 0.078, 0.06  # inches: a line of a turned name, a letter, between two names
_STEP, _GAP = 0.1, 0.22  # inches: from one value of a column to the next, between values of two columns
_NAME = 34  # letters in a line of a turned name


def make_panels(
    count: int,
    most: int,
    width: tuple[float, float],
    height: tuple[float, float],
    least: float = 0.0,
    **how: Any,
) -> "tuple[Figure, Any]":
    """Return a figure and its grid of axes for some panels; axes beyond them are hidden.

    Parameters
    ----------
    count, most : int
        Number of panels, and of panels in a row.
    width, height : (float, float)
        Inches of the figure, and inches for each column or line of panels.
    least : float
        Least width.
    """
    columns = min(most, count)
    lines = -(-count // columns)
    figure = make_figure(max(least, width[0] + width[1] * columns), height[0] + height[1] * lines)
    grid = figure.subplots(lines, columns, squeeze=False, **how)
    for axes in grid.flat[count:]:
        axes.set_visible(False)
    return figure, grid


def add_legend(figure: "Figure", handles: Mapping[str, Any], columns: int = 0, **how: Any) -> None:
    """Add a legend of labels and their handles below all panels, by default in one line."""
    looks: dict[str, Any] = {"loc": "outside lower center", "ncols": columns or len(handles)} | how
    figure.legend([*handles.values()], [*handles], **looks)


def add_benchmarks(figure: "Figure", handles: Mapping[str, Any]) -> None:
    """Add a legend of benchmarks, if there are several."""
    if len(handles) > 1:
        add_legend(figure, handles, title="Benchmark")


def list_handles(*every: "Axes") -> dict[str, Any]:
    """Return the labelled handles of some axes by label, each once."""
    return {
        label: handle
        for axes in every
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }


def draw_note(text: str) -> "Figure":
    """Return a figure with a note on why there is no data to draw."""
    figure = make_figure(7.5, 1.6)
    figure.text(0.5, 0.5, text, ha="center", va="center", wrap=True)
    return figure


class PanelRow(NamedTuple):
    """A value with its interval: its line from the top or its column from the left; its look, None: black."""

    line: float
    look: Series | None
    value: float
    low: float
    high: float


def draw_rows(axes: "Axes", names: Sequence[str], rows: Sequence[PanelRow]) -> dict[str, Any]:
    """Draw values with whiskers beside their names, the first at the top; return legend handles by label."""
    looks = list(dict.fromkeys(row.look or PLAIN for row in rows))
    handles: dict[str, Any] = {}
    for place, look in enumerate(looks):
        shift = _APART * (2 * place - len(looks) + 1)
        some = [row._replace(line=row.line + shift) for row in rows if (row.look or PLAIN) == look]
        handle = draw_values(axes, look, some)
        if look.label:
            handles[look.label] = handle
    name_rows(axes, names)
    return handles


def draw_values(
    axes: "Axes",
    look: Series,
    rows: Sequence[PanelRow],
    width: float = 1.1,
    size: float = 5,
    upright: bool = False,
) -> Any:
    """Draw values of one look with whiskers, each at its line or column; return the handle for the legend."""
    for row in rows:
        ends, place = [row.low, row.high], [row.line, row.line]
        axes.plot(*_turn(ends, place, upright), color=look.color, linewidth=width, zorder=2)
    marks = _turn([row.value for row in rows], [row.line for row in rows], upright)
    (handle,) = axes.plot(*marks, markersize=size, zorder=3, **look.marks())
    return handle


def _turn(values: list[float], places: list[float], upright: bool) -> tuple[list[float], list[float]]:
    """Return the values for the x-axis, then for the y-axis."""
    return (places, values) if upright else (values, places)


def name_rows(axes: "Axes", names: Sequence[str]) -> None:
    """Name the lines of a panel, the first at the top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


class Columns(NamedTuple):
    """Columns with turned names, the first at the left, sizes in inches; each has `values`."""

    names: list[str]
    values: int
    width: float
    below: float

    def place(self, column: int, number: int) -> float:
        """Return where a value of a column stands."""
        return column + _STEP / self.width * (number - (self.values - 1) / 2)

    def name(self, axes: "Axes") -> None:
        """Label the columns of a panel, turned so that names are neither cut nor overlap."""
        axes.set_xticks(range(len(self.names)), self.names, rotation=90, multialignment="right")
        axes.set_xlim(-0.5, len(self.names) - 0.5)


def measure_columns(names: Sequence[str], values: int = 1) -> Columns:
    """Return columns that have room for their names, in lines, and for so many values each."""
    lines = [name.split("\n") for name in names]
    longest = max((len(line) for name in lines for line in name), default=0)
    width = _ROOM + _LINE * max(map(len, lines), default=1)
    if values > 1:
        width = max(width, _GAP + _STEP * values)
    return Columns([*names], values, width, _LETTER * longest)


def wrap_column(name: str) -> str:
    """Break a name below a column into lines."""
    return wrap_name(name, _NAME)
