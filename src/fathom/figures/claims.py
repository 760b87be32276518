"""The papers' claims about metrics of adapted models: agreement with references, and verdicts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.config.scoring import Summary
from fathom.figures import metric_rows
from fathom.figures.domain_rows import read_domain_rows
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.metric_rows import draw_rows
from fathom.figures.style import Series, clean_name, make_figure, wrap_name
from fathom.io.contracts.studies import CLAIM_CORRELATIONS, CLAIMS, FAILS, HOLDS, UNCLEAR
from fathom.io.delimited import Row
from fathom.statistics.aggregates import STATISTICS, TRIMMED_MEAN
from fathom.statistics.metrics import METRICS, RANK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def read_claims(claims: Path | str, correlations: Path | str, domain: str) -> tuple[list[Row], list[Row]]:
    """Read the rows of one domain from claims.csv and claim-correlations.csv.

    Raises
    ------
    InputError
        If a column is missing, or the domain is not among the claims.
    """
    found = read_domain_rows(claims, CLAIMS, domain)
    return found, read_domain_rows(correlations, CLAIM_CORRELATIONS, domain, needed=False)


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw how metrics go with references, and the papers' claims about them."""
    claims, correlations = read_claims(inputs["claims"], inputs["correlations"], parts["domain"])
    title = settings.title or parts["domain"]
    return draw_claims(claims, correlations, title, settings.summary), (CLAIMS, claims)


def draw_claims(claims: list[Row], correlations: list[Row], title: str, settings: Summary) -> "Figure":
    """Draw correlations with references beside the claims; call it inside `use_style`.

    Parameters
    ----------
    claims, correlations
        See :func:`read_claims`. Correlations are Spearman's with the trimmed mean rank of the reference.
    title : str
        Name of the domain.
    settings : Summary
        Its confidence is named.
    """
    bases = ", ".join(dict.fromkeys(row["base"] for row in claims))
    seeds = max(row["seeds"] for row in claims)
    figure = make_figure(13.0, 2.3 + _LINE * len(claims))
    figure.suptitle(
        f"{wrap_name(title, 90)}\nThe papers' claims, on models adapted from {clean_name(bases)}:"
        f" {100 * settings.confidence:.4g} % intervals over items and {seeds} seed{'s' * (seeds > 1)}"
    )
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
    handles = _draw_correlations(left, correlations) | _draw_verdicts(right, claims)
    figure.legend([*handles.values()], [*handles], loc="outside lower center", ncols=len(handles))
    return figure


def _draw_correlations(axes: "Axes", correlations: list[Row]) -> dict[str, Any]:
    """Draw a line for each metric and a marker for each reference; return legend handles by label."""
    some = [
        row
        for row in correlations
        if row["statistic"] == "spearman"
        and (row["reference_metric"], row["reference_aggregate"]) == ("rank", TRIMMED_MEAN.name)
    ]
    names = list(dict.fromkeys(_name_metric(row) for row in some))
    rows = [
        metric_rows.Row(
            names.index(_name_metric(row)),
            _REFERENCES.get(row["reference"]),
            *(row[name] for name in _NUMBERS),
        )
        for row in some
    ]
    handles = draw_rows(axes, names, rows)
    axes.axvline(0.0, color="0.35", linewidth=0.9, zorder=1)
    axes.set_title("Agreement with the rank on a reference")
    axes.set_xlabel("Spearman's ρ over models")
    return handles


def _draw_verdicts(axes: "Axes", claims: list[Row]) -> dict[str, Any]:
    """Draw a line for each claim: how far its number is on the side claimed; return legend handles."""
    names: list[str] = []
    numbers: list[list[float]] = []
    for row in claims:
        mark = f" ({row['reference']})" if row["reference"] else ""
        names.append(f"{row['claim']}: {_name_metric(row)}{mark}")
        side, threshold = row["claimed"].split(" ")
        sign = 1.0 if side == "above" else -1.0
        numbers.append([sign * (number - float(threshold)) for number in (row[name] for name in _NUMBERS)])
    found: dict[str, Any] = {}
    for verdict, look in VERDICT_SERIES.items():
        places = [place for place, row in enumerate(claims) if row["verdict"] == verdict]
        for place in places:
            axes.plot(numbers[place][1:], [place, place], color=look.color, linewidth=1.1, zorder=2)
        values = [numbers[place][0] for place in places]
        (found[verdict],) = axes.plot(values, places, markersize=5, zorder=3, **look.marks())
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.axvline(0.0, color="0.35", linewidth=0.9, zorder=1)
    axes.set_title("Claims")
    axes.set_xlabel("Distance from the threshold; right: as claimed\n(correlation, ln of a factor, or rate)")
    return found


def _name_metric(row: Row) -> str:
    """Return what a metric is called."""
    name = f"{_VARIANTS.get(row['variant'], '')}{METRICS[row['metric']].label}"
    return f"{name}, {STATISTICS[row['aggregate']].label}" if row["metric"] == RANK.name else name
