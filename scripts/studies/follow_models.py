"""Follow models over their training: every metric at every checkpoint, with intervals, in one table.

Source: [RawCorpora, Secs. 4.2 and 4.3, App. A.6].

Reads the scores of the models that the tracks name. Writes a table with a row for each metric of each point,
and for its mean over seeds where there are several.
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from fathom.config.models import Point
from fathom.config.scoring import Summary
from fathom.config.section import Section
from fathom.io import paths
from fathom.io.contracts.studies import CHECKPOINTS, FOLLOWING
from fathom.io.delimited import write_rows
from fathom.io.tables import write_table_in_batches
from fathom.jobs.program import log
from fathom.jobs.signature import (
    OverlapTables,
    PairTables,
    PerplexityTables,
    RateTables,
    ScoreTables,
    Tables,
    run,
)
from fathom.models.loading import read_pointer
from fathom.studies.following import (
    DRAWN,
    MetricTables,
    follow_tracks,
    list_checkpoints,
    measure_models,
    take_stand_ins,
)


class Settings(Section):
    """Settings of this program."""

    summary: Summary = Summary()
    tracks: dict[str, list[Point]] = Field({}, description="points by the name of what is followed")


def main(
    *,
    scores: ScoreTables,
    pairs: PairTables = (),
    overlap: OverlapTables = (),
    perplexity: PerplexityTables = (),
    attribute_rates: RateTables = (),
    pointers: Annotated[Tables, paths.POINTER, "fetched model; it names its stand-in if it is corrupt"] = (),
    table: Annotated[Path, "table of all tracks to write (parquet)"],
    checkpoints: Annotated[Path, "the models of all tracks to write (CSV)"],
    settings: Settings,
) -> None:
    """Measure all models once, write the rows of all tracks."""
    tables = MetricTables(scores, pairs, overlap, perplexity, attribute_rates)
    measured = measure_models(tables, settings.summary, DRAWN)
    fetched = {model: read_pointer(Path(path)) for model, path in pointers}
    tracks = take_stand_ins(settings.tracks, fetched)
    rows = follow_tracks(tracks, measured, settings.summary)
    with write_table_in_batches(table, FOLLOWING) as writer:
        writer.write(rows)
    write_rows(checkpoints, list_checkpoints(tracks), CHECKPOINTS)
    log.info("%s tracks, %s rows", len(settings.tracks), f"{len(rows):,}")


if __name__ == "__main__":
    run(main)
