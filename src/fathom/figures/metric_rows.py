"""A panel with a line for each model or condition: values with intervals, a marker for each benchmark."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.figures.style import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAIN = Series("", "#000000", "D", True, "-")
_APART = 0.16  # of the height of a line, between benchmarks


class Row(NamedTuple):
    """A value with its interval: its line from the top, and its look; None: black."""

    line: int
    look: Series | None
    value: float
    low: float
    high: float


def draw_rows(axes: "Axes", names: Sequence[str], rows: Sequence[Row]) -> dict[str, Any]:
    """Draw values with whiskers beside their names, the first at the top; return legend handles by label."""
    looks = list(dict.fromkeys(row.look or PLAIN for row in rows))
    handles: dict[str, Any] = {}
    for place, look in enumerate(looks):
        some = [row for row in rows if (row.look or PLAIN) == look]
        heights = [row.line + _APART * (2 * place - len(looks) + 1) for row in some]
        for row, height in zip(some, heights, strict=True):
            axes.plot([row.low, row.high], [height, height], color=look.color, linewidth=1.1, zorder=2)
        (handle,) = axes.plot([row.value for row in some], heights, markersize=5, zorder=3, **look.marks())
        if look.label:
            handles[look.label] = handle
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    return handles
