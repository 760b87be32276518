"""Summarize layers over keywords, compare models with their references, and find where changes begin.

Source: [BeyondBenchmarks, Sec. 3.3].

Reads the rates and target measures of all models on one domain. Writes layers.csv, layer-changes.csv and
layer-onsets.csv.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.config.layers import Layers
from fathom.config.scoring import Summary
from fathom.config.section import Section
from fathom.io.contracts.layers import (
    LAYER_CHANGE_COLUMNS,
    LAYER_ONSET_COLUMNS,
    LAYER_RATES,
    LAYER_SUMMARY_COLUMNS,
    LAYER_TARGETS,
)
from fathom.io.files import write_delimited
from fathom.jobs.program import add_settings, add_tables, log, read_settings, run_program
from fathom.layers.layer_changes import (
    compare_layers,
    find_onsets,
    list_changes,
    make_curves,
    read_layers,
    summarize_layers,
)
from fathom.statistics.left_out_pairs import leave_out_overlap

if TYPE_CHECKING:
    import polars as pl


class Settings(Section):
    """Settings of this program."""

    layers: Layers = Layers()
    summary: Summary = Summary()


def main(arguments: argparse.Namespace) -> None:
    """Summarize and compare all models, write three tables."""
    settings = read_settings(arguments.settings, Settings)
    rates = read_layers(arguments.rates, LAYER_RATES)
    targets = leave_out(read_layers(arguments.targets, LAYER_TARGETS), arguments.overlap, settings.summary)
    curves = make_curves(rates, targets)
    changes = compare_layers(curves, arguments.reference, settings.layers, settings.summary)
    rows = summarize_layers(curves, settings.summary)
    log.info("%s models, %s comparisons", len(rates), len(arguments.reference))
    write_delimited(arguments.output, LAYER_SUMMARY_COLUMNS, rows, ",")
    write_delimited(arguments.changes, LAYER_CHANGE_COLUMNS, list_changes(changes, settings.summary), ",")
    write_delimited(arguments.onsets, LAYER_ONSET_COLUMNS, find_onsets(changes, settings.summary), ",")


def leave_out(
    targets: dict[str, "pl.DataFrame"], overlap: Sequence[tuple[str, str, str]], settings: Summary
) -> dict[str, "pl.DataFrame"]:
    """Return the target measures without the pairs that stand in training text."""
    benchmark = overlap[0][:2] if overlap else ("", "")
    kept = leave_out_overlap({(*benchmark, name): rows for name, rows in targets.items()}, overlap, settings)
    return {name: kept[*benchmark, name] for name in targets}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_tables(parser, "--rates", ("MODEL",), "rates of one model by layer (parquet)", required=True)
    add_tables(parser, "--targets", ("MODEL",), "target measures of one model by layer (parquet)")
    add_tables(
        parser, "--overlap", ("DOMAIN", "VARIANT"), "pairs of the benchmark that stand in training text"
    )
    parser.add_argument(
        "--reference",
        nargs=2,
        action="append",
        default=[],
        metavar=("MODEL", "REFERENCE"),
        help="a model and its reference; repeat for each",
    )
    parser.add_argument("--output", type=Path, required=True, help="every metric by layer (CSV)")
    parser.add_argument("--changes", type=Path, required=True, help="changes from the references (CSV)")
    parser.add_argument("--onsets", type=Path, required=True, help="layers where changes begin (CSV)")
    add_settings(parser, Settings)
    run_program(parser, main)
