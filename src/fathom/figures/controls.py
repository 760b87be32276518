"""Knowledge or style: what each metric says of models that read a domain's text, and controls of it."""

import math
from collections.abc import Sequence
from typing import Any

from fathom.config.short_names import shorten_names
from fathom.figures import panels
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts, read_domain_rows
from fathom.figures.following import PANELS, label_panel
from fathom.figures.panels import add_benchmarks, draw_rows, make_panels
from fathom.figures.style import VARIANT_SERIES, clean_name, wrap_name
from fathom.io.contracts.studies import AS_IS, BASE, BOTH, CONTRASTS, CONTROLS, EXCHANGED, ONLY
from fathom.io.delimited import Row
from fathom.statistics.metrics import METRICS

_NAMES = {AS_IS: "text as it is", ONLY: "sentences with terms", EXCHANGED: "terms exchanged"}
_ROW_HEIGHT = 0.34


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw a panel for each metric: what a model gains from a domain's text, and from controls of it."""
    from matplotlib.ticker import MaxNLocator

    every = read_domain_rows(inputs["controls"], CONTROLS, parts["domain"])
    rows = [row for row in every if row["variant"] != BOTH]
    contrasts = read_domain_rows(inputs["contrasts"], CONTRASTS, parts["domain"], needed=False)
    conditions = _order([row["condition"] for row in rows])
    names = [wrap_name(_NAMES.get(each, each), 22) for each in conditions]
    shown = [panel for panel in PANELS if any((r["metric"], r["aggregate"]) == panel[:2] for r in rows)]
    height = 1.1 + _ROW_HEIGHT * len(conditions)
    figure, grid = make_panels(len(shown), 3, (1.4, 3.1), (1.6, height), 5.6, sharey=True)
    bases = ", ".join(shorten_names(sorted({row["base"] for row in rows})).values())
    seeds = max(row["seeds"] for row in rows)
    figure.suptitle(
        f"{wrap_name(settings.title or parts['domain'], 60)}\n"
        f"What {clean_name(bases)} gains from the text and its controls\n"
        f"{100 * settings.summary.confidence:.4g} % intervals over items and {seeds} seed{'s' * (seeds > 1)}"
    )
    handles: dict[str, Any] = {}
    for axes, panel in zip(grid.flat, shown, strict=False):
        some = [row for row in rows if (row["metric"], row["aggregate"]) == panel[:2]]
        drawn = [_make_row(row, conditions) for row in some if row["condition"] != BASE]
        handles |= draw_rows(axes, names, drawn)
        axes.axvline(1.0 if METRICS[panel[0]].is_factor else 0.0, color="0.35", linewidth=0.9, zorder=1)
        axes.set_title(label_panel(panel, settings.summary))
        axes.set_xlabel(_describe(panel, contrasts))
        axes.xaxis.set_major_locator(MaxNLocator(4))
    add_benchmarks(figure, handles)
    return figure, (CONTROLS, rows)


def _order(conditions: Sequence[str]) -> list[str]:
    """Return the conditions from top to bottom: those with knowledge, then those without."""
    known = [name for name in (AS_IS, ONLY, EXCHANGED) if name in conditions]
    return [*known, *sorted(set(conditions) - {*known, BASE})]


def _make_row(row: Row, conditions: Sequence[str]) -> panels.Row:
    """Return a gain where it stands; as a factor where the metric has one."""
    numbers = [row[name] for name in ("gain", "gain_low", "gain_high")]
    if METRICS[row["metric"]].is_factor:
        numbers = [math.exp(number) for number in numbers]
    return panels.Row(conditions.index(row["condition"]), VARIANT_SERIES.get(row["variant"]), *numbers)


def _describe(panel: tuple[str, str, str], contrasts: list[Row]) -> str:
    """Return the label of the axis, and how often knowledge is ahead."""
    some = [row["verdict"] for row in contrasts if (row["metric"], row["aggregate"]) == panel[:2]]
    metric = METRICS[panel[0]]
    what = "times better than the base" if metric.is_factor else f"better by ({metric.unit})"
    if not some:
        return what
    told = f"knowledge ahead in {some.count('ahead')} of {len(some)}, behind in {some.count('behind')}"
    return f"{what}\n{told}"
