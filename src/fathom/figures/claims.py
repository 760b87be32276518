"""The papers' claims about metrics of adapted models: agreement with references, and verdicts."""

from typing import TYPE_CHECKING, Any

from fathom.config.short_names import shorten_names
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts, read_domain_rows
from fathom.figures.panels import Row, add_legend, draw_rows, draw_values, name_rows
from fathom.figures.style import Series, clean_name, make_figure, wrap_name
from fathom.io import delimited
from fathom.io.contracts.studies import CLAIM_CORRELATIONS, CLAIMS, FAILS, HOLDS, UNCLEAR
from fathom.statistics.aggregates import STATISTICS, TRIMMED_MEAN
from fathom.statistics.metrics import METRICS, RANK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VERDICT_SERIES = {
    HOLDS: Series(HOLDS, "#009E73", "o", True, "-"),
    FAILS: Series(FAILS, "#D55E00", "X", True, "-"),
    UNCLEAR: Series(UNCLEAR, "#7F7F7F", "o", False, "-"),
}
_REFERENCES = {
    "unused": Series("pairs from documents set aside", "#0072B2", "o", True, "-"),
    "clozes": Series("clozes of held-out text", "#E69F00", "s", False, "-"),
    "reference": Series("reference", "#009E73", "^", True, "-"),
}
_VARIANTS = {"tf": "TF ", "tfidf": "TF-IDF "}
_NUMBERS = ("value", "ci_low", "ci_high")
_LINE = 0.27  # inches


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw correlations of metrics with references beside the papers' claims about them.

    Correlations are Spearman's with the trimmed mean rank of the reference.
    """
    claims = read_domain_rows(inputs["claims"], CLAIMS, parts["domain"])
    correlations = read_domain_rows(inputs["correlations"], CLAIM_CORRELATIONS, parts["domain"], needed=False)
    bases = ", ".join(shorten_names(row["base"] for row in claims).values())
    seeds = max(row["seeds"] for row in claims)
    figure = make_figure(13.0, 2.3 + _LINE * len(claims))
    figure.suptitle(
        f"{wrap_name(settings.title or parts['domain'], 90)}\n"
        f"The papers' claims, on models adapted from {clean_name(bases)}:"
        f" {100 * settings.summary.confidence:.4g} % intervals over items and {seeds} seed{'s' * (seeds > 1)}"
    )
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
    add_legend(figure, _draw_correlations(left, correlations) | _draw_verdicts(right, claims))
    return figure, (CLAIMS, claims)


def _draw_correlations(axes: "Axes", correlations: list[delimited.Row]) -> dict[str, Any]:
    """Draw a line for each metric and a marker for each reference; return legend handles by label."""
    shown = ("spearman", "rank", TRIMMED_MEAN.name)
    keys = ("statistic", "reference_metric", "reference_aggregate")
    some = [row for row in correlations if tuple(row[key] for key in keys) == shown]
    names = list(dict.fromkeys(_name_metric(row) for row in some))
    rows = [
        Row(names.index(_name_metric(row)), _REFERENCES.get(row["reference"]), *(row[n] for n in _NUMBERS))
        for row in some
    ]
    handles = draw_rows(axes, names, rows)
    axes.axvline(0.0, color="0.35", linewidth=0.9, zorder=1)
    axes.set_title("Agreement with the rank on a reference")
    axes.set_xlabel("Spearman's ρ over models")
    return handles


def _draw_verdicts(axes: "Axes", claims: list[delimited.Row]) -> dict[str, Any]:
    """Draw a line for each claim: how far its number is on the side claimed; return legend handles."""
    names: list[str] = []
    rows: dict[str, list[Row]] = {verdict: [] for verdict in VERDICT_SERIES}
    for place, row in enumerate(claims):
        mark = f" ({row['reference']})" if row["reference"] else ""
        names.append(f"{row['claim']}: {_name_metric(row)}{mark}")
        side, threshold = row["claimed"].split(" ")
        sign = 1.0 if side == "above" else -1.0
        numbers = [sign * (row[name] - float(threshold)) for name in _NUMBERS]
        rows[row["verdict"]].append(Row(place, None, *numbers))
    found = {verdict: draw_values(axes, look, rows[verdict]) for verdict, look in VERDICT_SERIES.items()}
    name_rows(axes, names)
    axes.axvline(0.0, color="0.35", linewidth=0.9, zorder=1)
    axes.set_title("Claims")
    axes.set_xlabel(
        "Distance from the threshold; right: as claimed\n(correlation, ln of a factor, rate, or bits)"
    )
    return found


def _name_metric(row: delimited.Row) -> str:
    """Return what a metric is called."""
    name = f"{_VARIANTS.get(row['variant'], '')}{METRICS[row['metric']].label}"
    return f"{name}, {STATISTICS[row['aggregate']].label}" if row["metric"] == RANK.name else name
