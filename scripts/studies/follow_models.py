"""Follow models over their training: every metric at every checkpoint, with intervals, in one table.

Source: [RawCorpora, Secs. 4.2 and 4.3, App. A.6].

Reads the scores of the models that the tracks name. Writes a table with a row for each metric of each point,
and for its mean over seeds where there are several.
"""

import argparse
from pathlib import Path

from pydantic import Field

from fathom.config.following import Point
from fathom.config.scoring import Summary
from fathom.config.section import Section
from fathom.io.contracts.scoring import CHECKPOINT_COLUMNS, FOLLOWING
from fathom.io.files import write_delimited
from fathom.io.tables import write_table_in_batches
from fathom.jobs.program import add_settings, add_tables, log, read_settings, run_program
from fathom.models.loading import read_pointer
from fathom.statistics.aggregates import STATISTICS
from fathom.studies.following import (
    add_scores,
    follow_tracks,
    list_checkpoints,
    measure_models,
    take_stand_ins,
)


class Settings(Section):
    """Settings of this program."""

    summary: Summary = Summary()
    tracks: dict[str, list[Point]] = Field({}, description="points by the name of what is followed")


def main(arguments: argparse.Namespace) -> None:
    """Measure all models once, write the rows of all tracks."""
    settings = read_settings(arguments.settings, Settings)
    measured = measure_models(arguments, settings.summary, tuple(STATISTICS))
    pointers = {model: read_pointer(path) for model, path in arguments.pointers}
    rows = follow_tracks(take_stand_ins(settings.tracks, pointers), measured, settings.summary)
    with write_table_in_batches(arguments.output, FOLLOWING) as writer:
        writer.write(rows)
    write_delimited(arguments.checkpoints, CHECKPOINT_COLUMNS, list_checkpoints(rows), ",")
    log.info("%s tracks, %s rows", len(settings.tracks), f"{len(rows):,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_scores(parser)
    help_ = "pointer of a fetched model, which names its stand-in if it is corrupt"
    add_tables(parser, "--pointers", ("MODEL",), help_)
    parser.add_argument("--output", type=Path, required=True, help="table of all tracks (parquet)")
    parser.add_argument("--checkpoints", type=Path, required=True, help="the models of all tracks (CSV)")
    add_settings(parser, Settings)
    run_program(parser, main)
