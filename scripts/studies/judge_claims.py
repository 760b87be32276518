"""Check the papers' claims about metrics of adapted models: each holds, does not, or cannot be told.

Writes a line for each claim and metric, how metrics go with references, and the metrics themselves.
"""

import argparse
from pathlib import Path
from typing import Any

from pydantic import Field

from fathom.config.claims import Condition
from fathom.config.scoring import Summary
from fathom.config.section import Section
from fathom.io.contracts.scoring import (
    CLAIM_COLUMNS,
    CLAIM_CORRELATION_COLUMNS,
    CLAIM_MODEL_COLUMNS,
    VERDICTS,
)
from fathom.io.files import write_delimited
from fathom.jobs.program import add_settings, log, read_settings, run_program
from fathom.studies.claims import (
    RANKS,
    check_claims,
    correlate_metrics,
    describe_conditions,
    list_references,
)
from fathom.studies.families import Family
from fathom.studies.following import add_scores, measure_models


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


def main(arguments: argparse.Namespace) -> None:
    """Measure all models once, check every claim, write the tables."""
    settings = read_settings(arguments.settings, Settings)
    measured = measure_models(arguments, settings.summary, RANKS)
    claims: list[tuple[Any, ...]] = []
    correlations: list[tuple[Any, ...]] = []
    models: list[tuple[Any, ...]] = []
    for each in settings.studies:
        family = Family(each.domain, each.conditions, each.near, measured, settings.summary)
        references = list_references(measured, each.domain, settings.references)
        found = check_claims(family, references)
        claims += found
        correlations += correlate_metrics(family, references)
        models += describe_conditions(family)
        verdicts = [row[-1] for row in found]
        told = ", ".join(f"{verdicts.count(name)} {name}" for name in VERDICTS)
        log.info("%s, %s: %s claims: %s", each.domain, family.base, len(found), told)
    write_delimited(arguments.output, CLAIM_COLUMNS, claims, delimiter=",")
    write_delimited(arguments.correlations, CLAIM_CORRELATION_COLUMNS, correlations, delimiter=",")
    write_delimited(arguments.models, CLAIM_MODEL_COLUMNS, models, delimiter=",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_scores(parser)
    parser.add_argument("--output", type=Path, required=True, help="claims with their verdicts (CSV)")
    parser.add_argument("--correlations", type=Path, required=True, help="metrics with references (CSV)")
    parser.add_argument("--models", type=Path, required=True, help="metrics of the models (CSV)")
    add_settings(parser, Settings)
    run_program(parser, main)
