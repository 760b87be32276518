"""Shared style of all figures, and reproducible saving: the same numbers give the same bytes."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from fathom.config.short_names import References, clean_name, label_variant
from fathom.io.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


_MARK = 4.9  # half the diagonal of the largest marker, in points
_DECADES = 1000
_SHEET = Path(__file__).with_name("fathom.mplstyle")


@dataclass(frozen=True)
class Series:
    """Look of one series: a colour, and a marker and line style for grey prints."""

    label: str
    color: str
    marker: str
    filled: bool
    line: str

    def marks(self) -> dict[str, Any]:
        """Return keyword arguments for matplotlib's `errorbar` and `plot`."""
        face = self.color if self.filled else "white"
        return {"color": self.color, "marker": self.marker, "markerfacecolor": face, "linestyle": "none"}


# Okabe and Ito's colour-blind-safe palette; markers and lines differ for grey prints
_VARIANT_LOOKS = {
    "tf": ("#0072B2", "o", True, "-"),
    "tfidf": ("#D55E00", "s", False, "--"),
    "reference": ("#009E73", "^", True, ":"),
}
VARIANT_SERIES = {name: Series(label_variant(name), *look) for name, look in _VARIANT_LOOKS.items()}


def style_variant(variant: str, references: References) -> Series:
    """Return the look of a benchmark, labelled as it is called."""
    return replace(VARIANT_SERIES[variant], label=label_variant(variant, references))


LAYER_COLORS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
"""Curves of figures by layer."""
SERIES_COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7F7F7F", "#B0A000")
SERIES_MARKERS = "s^vDPX*hp<>"
"""Looks of other series, by their place."""
RANKING_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#999999")
"""Conditions and families in figures of rankings; the first two also differ in lightness."""
SIMILARITY_COLOR_MAP = "YlGnBu"
"""Similarity of a domain to the measured one: light to dark."""
LAYER_COLOR_MAP, TAU_COLOR_MAP = "cividis", "YlGnBu"
"""Heat maps of rates by layer, and of Kendall's tau: light to dark, readable in grey."""


def style_series(label: str, place: int) -> Series:
    """Return the look of a series by its place among others; every second is hollow."""
    color, marker = SERIES_COLORS[place % len(SERIES_COLORS)], SERIES_MARKERS[place % len(SERIES_MARKERS)]
    return Series(label, color, marker, place % 2 == 0, "-")


@contextmanager
def use_style() -> Iterator[None]:
    """Apply the project's style sheet, independent of the user's Matplotlib settings."""
    from matplotlib import style

    with style.context(cast(Any, _SHEET), after_reset=True):
        yield


def make_figure(width: float, height: float) -> "Figure":
    """Return an empty figure, size in inches, that can measure its texts; call it inside `use_style`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: "Figure", pdf: Path | str | None, png: Path | str | None) -> None:
    """Save a figure as PDF and as PNG at 200 dpi, atomically; call it inside `use_style`.

    The files contain neither date nor version, so that the same figure has the same bytes.
    """
    undated: dict[str, Any] = {"CreationDate": None, "Creator": "fathom", "Producer": None}
    for path, form, metadata in ((pdf, "pdf", undated), (png, "png", {"Software": None})):
        if path is not None:
            with write_atomically(path) as temporary:
                figure.savefig(temporary, format=form, metadata=metadata)


def number_ticks(axis: "Axis") -> None:
    """Write the numbers of an axis in full: with as many decimals as they need, the same for all."""
    from matplotlib.ticker import Formatter

    class Numbers(Formatter):
        def __call__(self, value: float, pos: int | None = None) -> str:
            return self.format_ticks([value])[0]

        def format_ticks(self, values: Sequence[float]) -> list[str]:
            sizes = [abs(value) for value in values if value]
            # over powers of ten each number has its own decimals
            each = bool(sizes) and max(sizes) > _DECADES * min(sizes)
            decimals = max((_count_decimals(value) for value in values), default=0)
            texts = [f"{value:,.{_count_decimals(value) if each else decimals}f}" for value in values]
            return [text.replace("-", "\N{MINUS SIGN}") for text in texts]

    axis.set_major_formatter(Numbers())


def label_scale(label: str, axis: "Axis") -> str:
    """Return the label of an axis that has its scale; a logarithmic one says so."""
    return ", ".join(filter(None, (label, "log axis" if axis.get_scale() == "log" else "")))


def _count_decimals(value: float) -> int:
    return max(0, -int(Decimal(f"{value:.10g}").normalize().as_tuple().exponent))


def wrap_name(name: str, width: int) -> str:
    """Break a long name into lines of at most `width` characters, after `+/-_.` or a space if possible.

    A number such as 0.3 stays whole, and so does a format such as Q4_1.
    """
    lines, rest = [], clean_name(name)
    while len(rest) > width:
        ends = [found.end() for found in re.finditer(r"[+/\- ]|[_.](?!\d)", rest[: width + 1])]
        end = max((end for end in ends if end <= width), default=0)
        end = end if end > width // 3 else width
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return "\n".join([*lines, rest])


def place_labels(
    axes: "Axes",
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    line: Sequence[tuple[float, float]] = (),
    size: float = 8.5,
) -> bool:
    """Label each point such that labels neither overlap nor leave the axes.

    In the given order, each label takes the nearest free position around its point, if possible off the drawn
    `line`, given by closely spaced points. A label far from its point is connected to it by a thin line that
    crosses no other label. Return False if a label found no free position; it is then at the nearest one
    inside the axes.
    """
    from matplotlib.layout_engine import PlaceHolderLayoutEngine
    from matplotlib.text import Text

    figure = axes.get_figure(root=True)
    assert figure is not None  # noqa: S101 -- for the type checker: axes on a figure
    if not isinstance(figure.get_layout_engine(), PlaceHolderLayoutEngine):  # else computed before the layout
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
            text, point, xytext=(0, 0), textcoords="offset points", ha="center", va="center", fontsize=size,
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


def trace_line(
    first: tuple[float, float], last: tuple[float, float], steps: int = 60
) -> list[tuple[float, float]]:
    """Return points on a drawn line that :func:`place_labels` keeps labels off; none without finite ends."""
    if not np.isfinite([*first, *last]).all():
        return []
    (x, y), (to_x, to_y) = first, last
    return [(x + (to_x - x) * n / steps, y + (to_y - y) * n / steps) for n in range(steps + 1)]


def _to_points(axes: "Axes", places: Sequence[tuple[float, float]], scale: float) -> Any:
    """Convert data coordinates to points on the page, as an array of shape (n, 2)."""
    return axes.transData.transform(np.asarray(places, dtype=float).reshape(-1, 2)) / scale


def _join(spot: Any, shift: Any, half: Any) -> Any:
    """Return points on the line from a point to its label, of shape (n, 2); empty if the label is close."""
    if not (np.abs(shift) - half > 8).any():
        return np.empty((0, 2))
    steps = np.arange(0, 1, 2 / np.hypot(*shift))[:, None] * shift
    return spot + steps[(np.abs(steps - shift) > half).any(axis=1)]


def _find_place(spot: Any, half: Any, taken: Any, frame: Any, labels: Any) -> tuple[Any, bool]:
    """Return the shift of a label's centre from its point, in points, and whether the position is free."""
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
    if fallback is None:  # a label as wide as the axes: push it inside as far as possible
        fallback = np.clip(spot, frame[:2] + half, np.maximum(frame[2:] - half, frame[:2] + half)) - spot
    return fallback, False


Place = Literal["upper", "lower"]
_PLACES: dict[Place, Literal["outside upper center", "outside lower center"]] = {
    "upper": "outside upper center",
    "lower": "outside lower center",
}
_ENTRY, _ENTRY_LETTER = 0.6, 0.085  # inches of an entry of a legend without its text, and of a letter
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def style_families(names: Iterable[str]) -> dict[str, Series]:
    """Return the look of each family by name; models without a known family, named "", come last."""
    known = sorted({*names} - {""})
    found = {
        name: Series(name, RANKING_COLORS[index % 8], _MARKERS[index % 8], True, "-")
        for index, name in enumerate(known)
    }
    if "" in names:
        found[""] = Series("other", "#666666", "h", True, "-")
    return found


def mark_model(look: Series, kind: str) -> dict[str, Any]:
    """Return a family's marker for `plot`; that of chat models is hollow."""
    face = "white" if kind == "chat" else look.color
    return {"color": look.color, "marker": look.marker, "markerfacecolor": face, "linestyle": "none"}


def add_families(
    figure: "Figure", families: Mapping[str, Series], kinds: Collection[str], place: Place = "upper"
) -> None:
    """Add a legend of families, and of base and chat models if there are both, at the upper or lower edge."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], label=clean_name(look.label), **mark_model(look, "base")) for look in families.values()
    ]
    if {"base", "chat"} <= {*kinds}:
        grey = Series("", "0.4", "o", True, "-")
        handles += [Line2D([], [], label=kind, **mark_model(grey, kind)) for kind in ("base", "chat")]
    columns = fit_columns(figure.get_figwidth(), [str(handle.get_label()) for handle in handles])
    figure.legend(handles=handles, loc=_PLACES[place], ncols=columns)


def fit_columns(width: float, labels: Collection[str], most: int = 8) -> int:
    """Return in how many columns, at most, the entries of a legend fit a width in inches."""
    lengths = [len(label) for label in labels]

    def measure(columns: int) -> float:
        longest = [int(part.max()) for part in np.array_split(lengths, columns)]
        return _ENTRY * columns + _ENTRY_LETTER * sum(longest)

    fitting = (columns for columns in range(min(most, len(lengths)), 1, -1) if measure(columns) <= width)
    return next(fitting, 1)
