"""Looks of model families, and their legend."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from fathom.figures.style import RANKING_COLORS, Series, clean_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Place = Literal["upper", "lower"]
_PLACES: dict[Place, Literal["outside upper center", "outside lower center"]] = {
    "upper": "outside upper center",
    "lower": "outside lower center",
}
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
    figure.legend(handles=handles, loc=_PLACES[place], ncols=min(8, len(handles)))
