"""Knowledge or style: what each metric says of models that read a domain's text, and controls of it."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.config.scoring import Summary
from fathom.figures import metric_rows
from fathom.figures.domain_rows import read_domain_rows
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.following import PANELS, label_panel
from fathom.figures.metric_rows import draw_rows
from fathom.figures.style import VARIANT_SERIES, clean_name, make_figure, wrap_name
from fathom.io.contracts.studies import AS_IS, BASE, CONTRASTS, CONTROLS, EXCHANGED, ONLY
from fathom.io.delimited import Row
from fathom.statistics.metrics import METRICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {AS_IS: "text as it is", ONLY: "sentences with terms", EXCHANGED: "terms exchanged"}
_COLUMNS, _PANEL_WIDTH, _ROW_HEIGHT = 3, 3.1, 0.34


def read_controls(table: Path | str, contrasts: Path | str, domain: str) -> tuple[list[Row], list[Row]]:
    """Read the rows of one domain from controls.csv and control-contrasts.csv.

    Raises
    ------
    InputError
        If a column is missing, or the domain is in neither.
    """
    found = read_domain_rows(table, CONTROLS, domain)
    return found, read_domain_rows(contrasts, CONTRASTS, domain, needed=False)


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw what a model gains from a domain's text, and from controls of it."""
    rows, contrasts = read_controls(inputs["controls"], inputs["contrasts"], parts["domain"])
    title = settings.title or parts["domain"]
    return draw_controls(rows, contrasts, title, settings.summary), (CONTROLS, rows)


def draw_controls(rows: list[Row], contrasts: list[Row], title: str, settings: Summary) -> "Figure":
    """Draw a panel for each metric: the gain over the base by condition; call it inside `use_style`.

    Parameters
    ----------
    rows, contrasts
        See :func:`read_controls`.
    title : str
        Name of the domain.
    settings : Summary
        Its confidence and trim are named.
    """
    conditions = _order([row["condition"] for row in rows])
    names = [wrap_name(_NAMES.get(each, each), 22) for each in conditions]
    shown = [panel for panel in PANELS if any((r["metric"], r["aggregate"]) == panel[:2] for r in rows)]
    columns = min(_COLUMNS, len(shown))
    height = math.ceil(len(shown) / columns)
    figure = make_figure(
        max(5.6, 1.4 + _PANEL_WIDTH * columns), 1.6 + height * (1.1 + _ROW_HEIGHT * len(conditions))
    )
    bases = ", ".join(sorted({row["base"] for row in rows}))
    seeds = max(row["seeds"] for row in rows)
    figure.suptitle(
        f"{wrap_name(title, 60)}\nWhat {clean_name(bases)} gains from the text and its controls"
        + f"\n{100 * settings.confidence:.4g} % intervals over items and {seeds} seed{'s' * (seeds > 1)}"
    )
    from matplotlib.ticker import MaxNLocator

    grid = figure.subplots(height, columns, squeeze=False, sharey=True)
    handles: dict[str, Any] = {}
    for axes, panel in zip(grid.flat, shown, strict=False):
        some = [row for row in rows if (row["metric"], row["aggregate"]) == panel[:2]]
        handles |= draw_rows(
            axes, names, [_make_row(row, conditions) for row in some if row["condition"] != BASE]
        )
        axes.axvline(1.0 if METRICS[panel[0]].is_factor else 0.0, color="0.35", linewidth=0.9, zorder=1)
        axes.set_title(label_panel(panel, settings))
        axes.set_xlabel(_describe(panel, contrasts))
        axes.xaxis.set_major_locator(MaxNLocator(4))
    for axes in grid.flat[len(shown) :]:
        axes.set_visible(False)
    if len(handles) > 1:
        figure.legend(
            [*handles.values()], [*handles], loc="outside lower center", ncols=len(handles), title="Benchmark"
        )
    return figure


def _order(conditions: Sequence[str]) -> list[str]:
    """Return the conditions from top to bottom: those with knowledge, then those without."""
    known = [name for name in (AS_IS, ONLY, EXCHANGED) if name in conditions]
    return [*known, *sorted(set(conditions) - {*known, BASE})]


def _make_row(row: Row, conditions: Sequence[str]) -> metric_rows.Row:
    """Return a gain where it stands; as a factor where the metric has one."""
    numbers = [row[name] for name in ("gain", "gain_low", "gain_high")]
    if METRICS[row["metric"]].is_factor:
        numbers = [math.exp(number) for number in numbers]
    return metric_rows.Row(conditions.index(row["condition"]), VARIANT_SERIES.get(row["variant"]), *numbers)


def _describe(panel: tuple[str, str, str], contrasts: list[Row]) -> str:
    """Return the label of the axis, and how often knowledge is ahead."""
    some = [row["verdict"] for row in contrasts if (row["metric"], row["aggregate"]) == panel[:2]]
    metric = METRICS[panel[0]]
    what = "times better than the base" if metric.is_factor else f"better by ({metric.unit})"
    if not some:
        return what
    told = f"knowledge ahead in {some.count('ahead')} of {len(some)}, behind in {some.count('behind')}"
    return f"{what}\n{told}"
