"""The one style of all figures, and saving that gives the same bytes for the same numbers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fathom.io.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARK = 4.9  # half the diagonal of the largest marker, in points
_SHEET = Path(__file__).with_name("fathom.mplstyle")


@dataclass(frozen=True)
class Series:
    """How one series looks: a colour, and what tells it apart without colour."""

    label: str
    color: str
    marker: str
    filled: bool
    line: str

    def marks(self) -> dict[str, Any]:
        """Return keyword arguments for matplotlib's `errorbar` and `plot`."""
        face = self.color if self.filled else "white"
        return {"color": self.color, "marker": self.marker, "markerfacecolor": face, "linestyle": "none"}


# colours of Okabe and Ito, told apart by colour-blind readers; markers and lines differ for grey print
VARIANT_SERIES = {
    "tf": Series("TF", "#0072B2", "o", True, "-"),
    "tfidf": Series("TF-IDF", "#D55E00", "s", False, "--"),
    "reference": Series("reference", "#009E73", "^", True, ":"),
}


@contextmanager
def use_style() -> Iterator[None]:
    """Draw under the project's style sheet alone, whatever the user's matplotlib settings are."""
    from matplotlib import style

    with style.context(cast(Any, _SHEET), after_reset=True):
        yield


def make_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of some inches that can measure its texts; to be called inside `use_style`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: "Figure", pdf: Path | str | None, png: Path | str | None) -> None:
    """Save a figure as PDF and as PNG at 200 dpi, atomically; to be called inside `use_style`.

    Neither file holds a date or a version, so that the same figure is the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to save.
    pdf, png : Path, str or None
        Final names; None leaves that format out.
    """
    undated: dict[str, Any] = {"CreationDate": None, "Creator": "fathom", "Producer": None}
    for path, form, metadata in ((pdf, "pdf", undated), (png, "png", {"Software": None})):
        if path is not None:
            with write_atomically(path) as temporary:
                figure.savefig(temporary, format=form, metadata=metadata)


def clean_name(name: str) -> str:
    """Return a name on one line, without control characters, as it can be drawn or printed."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())


def wrap_name(name: str, width: int) -> str:
    """Break a long name into lines of at most `width` characters, after `+/-_.` or a blank if possible."""
    lines, rest = [], clean_name(name)
    while len(rest) > width:
        end = max(rest.rfind(letter, 0, width) for letter in "+/-_. ") + 1
        end = end if end > width // 3 else width
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return "\n".join([*lines, rest])


def place_labels(
    axes: "Axes",
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    line: Sequence[tuple[float, float]] = (),
) -> bool:
    """Write a label beside each point so that no two labels overlap and none leaves the axes.

    Each label takes the nearest free place around its point, in the order given, off the drawn line if there
    is such a place; one that ends up far from its point is joined to it by a thin line that crosses no label.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes that hold the points already, with final limits.
    points : sequence of (float, float)
        In data coordinates.
    texts : sequence of str
        One label for each point.
    line : sequence of (float, float), optional
        Points of a drawn line, close to each other.

    Returns
    -------
    bool
        False if some label found no free place; it then stands at the nearest place inside the axes.
    """
    import numpy as np
    from matplotlib.text import Text

    figure = axes.get_figure(root=True)
    assert figure is not None  # noqa: S101 -- for the type checker: axes on a figure
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    scale = figure.dpi / 72
    spots = _to_points(axes, points, scale)
    on_line = _to_points(axes, line, scale)
    taken = np.hstack([spots - _MARK, spots + _MARK])
    frame = np.array(axes.get_window_extent().extents) / scale
    labels, every = np.empty((0, 4)), True
    for spot, point, text in zip(spots, points, texts, strict=True):
        label = axes.annotate(
            text, point, xytext=(0, 0), textcoords="offset points", ha="center", va="center", fontsize=8.5,
            arrowprops={"arrowstyle": "-", "color": "0.55", "linewidth": 0.6, "shrinkB": 3},
        )  # fmt: skip
        box = Text.get_window_extent(label)
        half = np.array([box.width, box.height]) / scale / 2
        off_line = np.vstack([taken, np.hstack([on_line, on_line])])
        shift, free = _find_place(spot, half, off_line, frame, labels)
        if not free:
            shift, free = _find_place(spot, half, taken, frame, labels)
        every &= free
        label.set_position(shift)
        joint = _join(spot, shift, half)
        labels = np.vstack([labels, np.hstack([spot + shift - half, spot + shift + half])])
        taken = np.vstack([taken, labels[-1:], np.hstack([joint, joint])])
        cast(Any, label.arrow_patch).set_visible(len(joint) > 0)
    return every


def _to_points(axes: "Axes", places: Sequence[tuple[float, float]], scale: float) -> Any:
    """Return places in data coordinates as an array [n, 2] in points on the page."""
    import numpy as np

    return axes.transData.transform(np.asarray(places, dtype=float).reshape(-1, 2)) / scale


def _join(spot: Any, shift: Any, half: Any) -> Any:
    """Return places on the thin line from a point to its label, as an array [n, 2]; none for one close by."""
    import numpy as np

    if not (np.abs(shift) - half > 8).any():
        return np.empty((0, 2))
    steps = np.arange(0, 1, 2 / np.hypot(*shift))[:, None] * shift
    return spot + steps[(np.abs(steps - shift) > half).any(axis=1)]


def _find_place(spot: Any, half: Any, taken: Any, frame: Any, labels: Any) -> tuple[Any, bool]:
    """Return the shift of a label's middle from its point, in points, and whether the place is free."""
    import numpy as np

    fallback = None
    for gap in (6, 9, 14, 20, 28, 38, 50, 64, 80, 100):
        for angle in np.deg2rad(np.arange(0, 360, 22.5)):
            way = np.array([np.cos(angle), np.sin(angle)])
            shift = way * (gap + np.abs(way) * half)
            low, high = spot + shift - half, spot + shift + half
            if (low < frame[:2]).any() or (high > frame[2:]).any():
                continue
            fallback = shift if fallback is None else fallback
            joint = _join(spot, shift, half)[:, None]
            crosses = ((joint > labels[:, :2] - 1) & (joint < labels[:, 2:] + 1)).all(axis=2).any()
            apart = (taken[:, :2] > high + 1).any(axis=1) | (taken[:, 2:] < low - 1).any(axis=1)
            if apart.all() and not crosses:
                return shift, True
    if fallback is None:  # a label as wide as the axes: push it inside as far as it goes
        fallback = np.clip(spot, frame[:2] + half, np.maximum(frame[2:] - half, frame[:2] + half)) - spot
    return fallback, False
