"""Compare models that were adapted to a domain's text with models that read controls of it, by every metric.

Writes a line for each metric and condition, which conditions each metric puts ahead of which, and how far
every two metrics differ in the share of the gain that a control keeps.
"""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from fathom.config.models import Point
from fathom.config.scoring import Summary
from fathom.config.section import Section
from fathom.io.contracts.studies import CONTRASTS, CONTROL_SHARES, CONTROLS
from fathom.io.delimited import write_rows
from fathom.jobs.program import log
from fathom.jobs.signature import OverlapTables, PairTables, PerplexityTables, RateTables, ScoreTables, run
from fathom.statistics.bootstrap import draw_enough
from fathom.statistics.left_out import leave_out_overlap
from fathom.studies.controls import compare_conditions, compare_shares, count_once, count_shares
from fathom.studies.following import CONTROLLED, MetricTables, measure_models, measure_pairs, read_ranks


class Controls(Section):
    """Tracks of one base that are compared on one domain, by condition."""

    domain: str = Field(description="domain that they are measured on")
    conditions: dict[str, str] = Field(description="track by condition")


class Settings(Section):
    """Settings of this program."""

    summary: Summary = Summary()
    tracks: dict[str, list[Point]] = Field({}, description="points by the name of what is followed")
    controls: list[Controls] = Field([], description="what is compared")


def main(
    *,
    scores: ScoreTables,
    pairs: PairTables = (),
    overlap: OverlapTables = (),
    perplexity: PerplexityTables = (),
    attribute_rates: RateTables = (),
    table: Annotated[Path, "metrics by condition to write (CSV)"],
    contrasts: Annotated[Path, "which condition is ahead, to write (CSV)"],
    shares: Annotated[Path, "differences between metrics in what controls keep, to write (CSV)"],
    settings: Settings,
) -> None:
    """Measure all models once, compare, write both tables."""
    tables = MetricTables(scores, pairs, overlap, perplexity, attribute_rates)
    summary = draw_enough(settings.summary, count_shares())
    measured = measure_models(tables, summary, CONTROLLED)
    kept = leave_out_overlap(read_ranks(scores, pairs), overlap, summary)
    measured |= measure_pairs(count_once(kept, pairs), summary, CONTROLLED)
    gains: list[tuple[Any, ...]] = []
    ahead: list[tuple[Any, ...]] = []
    compared: list[tuple[Any, ...]] = []
    for each in settings.controls:
        what = each.domain, each.conditions, settings.tracks, measured, summary
        found = compare_conditions(*what)
        compared += compare_shares(*what)
        gains += found[0]
        ahead += found[1]
        log.info("%s: %s", each.domain, ", ".join(each.conditions))
    write_rows(table, gains, CONTROLS)
    write_rows(contrasts, ahead, CONTRASTS)
    write_rows(shares, compared, CONTROL_SHARES)


if __name__ == "__main__":
    run(main)
