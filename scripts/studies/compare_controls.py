"""Compare models that were adapted to a domain's text with models that read controls of it, by every metric.

Writes a line for each metric and condition, and which conditions each metric puts ahead of which.
"""

import argparse
from pathlib import Path
from typing import Any

from pydantic import Field

from fathom.config.following import Point
from fathom.config.scoring import Summary
from fathom.config.section import Section
from fathom.io.contracts.scoring import CONTRAST_COLUMNS, CONTROL_COLUMNS
from fathom.io.files import write_delimited
from fathom.jobs.program import add_settings, log, read_settings, run_program
from fathom.studies.controls import compare_conditions
from fathom.studies.following import add_scores, measure_models


class Controls(Section):
    """Tracks of one base that are compared on one domain, by condition."""

    domain: str = Field(description="domain that they are measured on")
    conditions: dict[str, str] = Field(description="track by condition")


class Settings(Section):
    """Settings of this program."""

    summary: Summary = Summary()
    tracks: dict[str, list[Point]] = Field({}, description="points by the name of what is followed")
    controls: list[Controls] = Field([], description="what is compared")


def main(arguments: argparse.Namespace) -> None:
    """Measure all models once, compare, write both tables."""
    settings = read_settings(arguments.settings, Settings)
    measured = measure_models(arguments, settings.summary)
    gains: list[tuple[Any, ...]] = []
    contrasts: list[tuple[Any, ...]] = []
    for each in settings.controls:
        found = compare_conditions(each.domain, each.conditions, settings.tracks, measured, settings.summary)
        gains += found[0]
        contrasts += found[1]
        log.info("%s: %s", each.domain, ", ".join(each.conditions))
    write_delimited(arguments.output, CONTROL_COLUMNS, gains, delimiter=",")
    write_delimited(arguments.contrasts, CONTRAST_COLUMNS, contrasts, delimiter=",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_scores(parser)
    parser.add_argument("--output", type=Path, required=True, help="metrics by condition (CSV)")
    parser.add_argument("--contrasts", type=Path, required=True, help="which condition is ahead (CSV)")
    add_settings(parser, Settings)
    run_program(parser, main)
