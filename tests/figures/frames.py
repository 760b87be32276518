"""What stands outside a figure."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text


def list_cut(figure: "Figure") -> list[str]:
    """Return the texts of a drawn figure that its frame cuts."""
    frame, found = figure.bbox, []
    for text in (text for axes in figure.axes for text in _list_texts(axes)):
        box = text.get_window_extent()
        if box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1:
            found.append(text.get_text())
    return found


def _list_texts(axes: "Axes") -> Iterator["Text"]:
    """Yield the texts of some axes that are drawn."""
    texts: Iterable[Text] = (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts)
    yield from (text for text in texts if text.get_text())
    if not axes.axison:
        return
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if low <= tick.get_loc() <= high and tick.label1.get_text():
                yield tick.label1
