"""Panels that many figures share: grids of axes, values with intervals, legends, what n and whiskers are."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.scoring import Summary
from fathom.config.short_names import References, label_variant, name_set
from fathom.figures.style import Series, make_figure, wrap_name
from fathom.statistics.metrics import ATTRIBUTE_RATE, PERPLEXITY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLAIN = Series("", "#000000", "D", True, "-")
_APART = 0.16  # of the height of a line, between benchmarks
_LINE, _LETTER, _ROOM = 0.15, 0.078, 0.06  # inches: a line of a turned name, a letter, between two names
_STEP, _GAP = 0.1, 0.22  # inches: from one value of a column to the next, between values of two columns
_NAME = 34  # letters in a line of a turned name
_LOG_FROM = 20.0  # largest value over the smallest


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
    """Add a legend of benchmarks, if there are several; what is on none has no label."""
    named = {label: handle for label, handle in handles.items() if label}
    if len(named) > 1:
        add_legend(figure, named, title="Benchmark")


def list_handles(*every: "Axes") -> dict[str, Any]:
    """Return the labelled handles of some axes by label, each once."""
    return {
        label: handle
        for axes in every
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }


def format_share(share: float) -> str:
    """Return a share such as `20 %`."""
    return f"{100 * share:.4g} %"


def describe_intervals(settings: Summary, which: str = "Whiskers") -> str:
    """Return what whiskers, or bands, are."""
    return f"{which}: {format_share(settings.confidence)} intervals"


def needs_log_axis(values: Sequence[float], metric: str = "") -> bool:
    """Tell whether values span so much that small ones would be crowded on a linear axis.

    A rate is a share of a whole, and has a linear axis whatever it spans.
    """
    if not values or metric == ATTRIBUTE_RATE.name:
        return False
    return bool(0 < _LOG_FROM * min(values) < max(values))


def entitle_set(name: str) -> str:
    """Return the heading of a figure of a set of questions."""
    called = name_set(name)
    return wrap_name(called[:1].upper() + called[1:], 70)


def describe_count(counts: Collection[int], item: str) -> str:
    """Return a number of items, or the least and the largest.

    Examples
    --------
    >>> describe_count([1042, 41], "pair")
    '41 to 1,042 pairs'
    """
    if not counts:
        return f"no {item}s"
    ends = sorted({min(counts), max(counts)})
    return f"{' to '.join(f'{end:,}' for end in ends)} {item}{'s' * (ends != [1])}"


def describe_items(counts: Iterable[tuple[str, int]], references: References, models: int = 0) -> str:
    """Return how many models, pairs, documents and keywords a figure has, given variants and their counts.

    Examples
    --------
    >>> describe_items([("text", 1), ("tf", 42), ("tfidf", 40), ("tf", 41)], {})
    'n: 41 to 42 TF pairs, 40 TF-IDF pairs, 1 document'
    """
    found: dict[str, list[int]] = {}
    for variant, count in counts:
        found.setdefault(variant, []).append(count)
    named, items = dict(references), {PERPLEXITY.variant: "document", ATTRIBUTE_RATE.variant: "keyword"}
    parts = [describe_count([models], "model")] if models else []
    for variant in dict.fromkeys((*named, REFERENCE, *VARIANTS, *items, *found)):
        if variant in found:
            item = items.get(variant) or f"{label_variant(variant, named)} pair"
            parts.append(describe_count(found[variant], item))
    return f"n: {', '.join(parts)}"


def describe_r(r: float, p: float, low: float = math.nan, high: float = math.nan, gap: str = " ") -> str:
    """Return a correlation with its p-value and, after `gap`, its interval if it has one."""
    tested = "" if math.isnan(p) else ", p < 0.001" if p < 0.001 else f", p = {p:.3f}"
    return f"r = {r:.2f}{tested}" + ("" if math.isnan(low) else f"{gap}[{low:.2f}, {high:.2f}]")


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
