"""What a figure's frame cuts, and figures drawn from files."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.figures.catalogue import CATALOGUE
from fathom.figures.drawing import FigureSettings, draw_files
from fathom.figures.style import use_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text


def list_cut(figure: "Figure") -> list[str]:
    """Return the texts of a drawn figure that its frame cuts."""
    frame, found = figure.bbox, []
    for text in (text for axes in figure.axes if axes.get_visible() for text in _list_texts(axes)):
        box = text.get_window_extent()
        if box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1:
            found.append(text.get_text())
    return found


def list_names(axes: "Axes") -> list[str]:
    """Return the names of a panel's columns, whole; fail if they are not turned or run into each other."""
    labels = axes.get_xticklabels()
    assert {label.get_rotation() for label in labels} == {90.0}
    boxes = [label.get_window_extent() for label in labels]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    return [label.get_text().replace("\n", "") for label in labels]


def check_apart(axes: "Iterable[Axes]") -> None:
    """Fail if panels, with all their texts, reach into each other."""
    boxes = [each.get_tightbbox() for each in axes if each.get_visible()]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


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


def draw_one(name: str, inputs: Mapping[str, Path], parts: Mapping[str, str], **settings: Any) -> "Figure":
    """Return one figure of a kind, drawn."""
    draw = CATALOGUE[name].find_function()
    with use_style():
        figure, _ = draw(inputs, parts, FigureSettings(**settings))
        figure.draw_without_rendering()
    return figure


def check_inside(figure: "Figure", texts: "Iterable[Text]") -> None:
    """Fail if a text reaches over the edge of its figure."""
    page = figure.bbox
    for text in texts:
        box = text.get_window_extent()
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text


def draw_twice(
    folder: Path, name: str, inputs: Mapping[str, Path], parts: Mapping[str, str], **settings: Any
) -> list[Path]:
    """Draw a kind of figure, and the first of it again; return the tables, if the files are the same."""
    entry, known = CATALOGUE[name], FigureSettings(**settings)
    draw_files(entry, inputs, parts, known, folder / "a")
    first = {part: dict(islice(values.items(), 1)) for part, values in entry.values.items()}
    again = draw_files(replace(entry, values=first), inputs, parts, known, folder / "b")
    assert len(again) == 1
    found = sorted((folder / "a").iterdir())
    assert {path.suffix for path in found} == {".pdf", ".png", ".csv"}
    twice = list((folder / "b").iterdir())
    assert len(twice) == 3
    assert all(path.read_bytes() == (folder / "a" / path.name).read_bytes() for path in twice)
    return [path for path in found if path.suffix == ".csv"]
