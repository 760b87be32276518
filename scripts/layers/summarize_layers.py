"""Summarize layers over keywords, compare models with their references, and find where changes begin.

Source: [BeyondBenchmarks, Sec. 3.3].

Reads the rates and target measures of all models on one domain. Writes layers.csv, layer-changes.csv and
layer-onsets.csv.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fathom.config.layers import Layers
from fathom.config.scoring import Summary
from fathom.config.section import Section
from fathom.io import paths
from fathom.io.contracts.layers import LAYER_CHANGES, LAYER_ONSETS, LAYER_RATES, LAYER_SUMMARY, LAYER_TARGETS
from fathom.io.delimited import write_rows
from fathom.jobs.program import log
from fathom.jobs.signature import OverlapTables, Tables, run
from fathom.layers.layer_changes import (
    compare_layers,
    find_onsets,
    list_changes,
    make_curves,
    read_layers,
    summarize_layers,
)
from fathom.statistics.left_out import leave_out_overlap

if TYPE_CHECKING:
    import polars as pl


class Settings(Section):
    """Settings of this program."""

    layers: Layers = Layers()
    summary: Summary = Summary()


def main(
    *,
    rates: Annotated[Tables, paths.LAYER_RATES, "rates of one model by layer"],
    targets: Annotated[Tables, paths.LAYER_TARGETS, "target measures of one model by layer"] = (),
    overlap: OverlapTables = (),
    references: Annotated[list[list[str]], "models, each with its reference"] = (),
    summary: Annotated[Path, "every metric by layer to write (CSV)"],
    changes: Annotated[Path, "changes from the references to write (CSV)"],
    onsets: Annotated[Path, "layers where changes begin, to write (CSV)"],
    settings: Settings,
) -> None:
    """Summarize and compare all models, write three tables."""
    read = read_layers([place[1:] for place in rates], LAYER_RATES)
    measures = read_layers([place[1:] for place in targets], LAYER_TARGETS)
    curves = make_curves(read, leave_out(measures, overlap, settings.summary))
    compared = compare_layers(curves, references, settings.layers, settings.summary)
    log.info("%s models, %s comparisons", len(read), len(references))
    write_rows(summary, summarize_layers(curves, settings.summary), LAYER_SUMMARY)
    write_rows(changes, list_changes(compared, settings.summary), LAYER_CHANGES)
    write_rows(onsets, find_onsets(compared, settings.summary), LAYER_ONSETS)


def leave_out(
    targets: dict[str, "pl.DataFrame"], overlap: Sequence[tuple[str, str, str]], settings: Summary
) -> dict[str, "pl.DataFrame"]:
    """Return the target measures without the pairs that occur in training text."""
    benchmark = overlap[0][:2] if overlap else ("", "")
    kept = leave_out_overlap({(*benchmark, name): rows for name, rows in targets.items()}, overlap, settings)
    return {name: kept[*benchmark, name] for name in targets}


if __name__ == "__main__":
    run(main)
