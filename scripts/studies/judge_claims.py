"""Check the papers' claims about metrics of adapted models: each holds, does not, or cannot be told.

Writes a line for each claim and metric, how metrics go with references, and the metrics themselves.
"""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from fathom.config.claims import Condition
from fathom.config.scoring import Summary
from fathom.config.section import Section
from fathom.io.contracts.studies import CLAIM_CORRELATIONS, CLAIM_MODELS, CLAIMS, VERDICTS
from fathom.io.delimited import write_rows
from fathom.jobs.program import log
from fathom.jobs.signature import OverlapTables, PairTables, PerplexityTables, RateTables, ScoreTables, run
from fathom.statistics.aggregates import MEAN
from fathom.statistics.bootstrap import draw_enough
from fathom.statistics.metrics import BITS, RANK
from fathom.studies.claims import (
    RANKS,
    Family,
    check_claims,
    correlate_metrics,
    count_checked,
    describe_conditions,
    list_references,
)
from fathom.studies.following import JUDGED, MetricTables, measure_models


class Study(Section):
    """Models from one base, on one domain."""

    domain: str = Field(description="domain that they are measured on")
    near: list[str] = Field([], description="domains that are near to it")
    conditions: list[Condition] = Field(description="the base, then what it was adapted to")


class Settings(Section):
    """Settings of this program."""

    summary: Summary = Summary()
    references: list[str] = Field([], description="variants that are references")
    studies: list[Study] = Field([], description="what claims are checked on")


def main(
    *,
    scores: ScoreTables,
    pairs: PairTables = (),
    overlap: OverlapTables = (),
    perplexity: PerplexityTables = (),
    attribute_rates: RateTables = (),
    claims: Annotated[Path, "claims with their verdicts to write (CSV)"],
    correlations: Annotated[Path, "metrics with references to write (CSV)"],
    models: Annotated[Path, "metrics of the models to write (CSV)"],
    settings: Settings,
) -> None:
    """Measure all models once, check every claim, write the tables."""
    tables = MetricTables(scores, pairs, overlap, perplexity, attribute_rates)
    summary = draw_enough(settings.summary, count_checked(len(settings.references) + 1))
    measured = measure_models(tables, summary, {**JUDGED, RANK.name: RANKS, BITS.name: [MEAN.name]})
    checked: list[tuple[Any, ...]] = []
    correlated: list[tuple[Any, ...]] = []
    described: list[tuple[Any, ...]] = []
    for each in settings.studies:
        family = Family(each.domain, each.conditions, each.near, measured, summary)
        references = list_references(measured, each.domain, settings.references)
        found = check_claims(family, references)
        checked += found
        correlated += correlate_metrics(family, references)
        described += describe_conditions(family)
        verdicts = [row[-1] for row in found]
        counts = ", ".join(f"{verdicts.count(name)} {name}" for name in VERDICTS)
        log.info("%s, %s: %s claims: %s", each.domain, family.base, len(found), counts)
    write_rows(claims, checked, CLAIMS)
    write_rows(correlations, correlated, CLAIM_CORRELATIONS)
    write_rows(models, described, CLAIM_MODELS)


if __name__ == "__main__":
    run(main)
