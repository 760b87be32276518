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
from fathom.io.contracts.scoring import ATTRIBUTE_RATES, FOLLOWING, PERPLEXITY
from fathom.io.tables import write_table_in_batches
from fathom.running.program import add_settings, add_tables, log, read_settings, run_program
from fathom.scoring.baselines import read_baselines
from fathom.scoring.following import follow_tracks, measure_ranks, measure_rates, measure_texts, read_ranks
from fathom.scoring.overlap import leave_out_overlap


class Settings(Section):
    """Settings of this program."""

    summary: Summary = Summary()
    tracks: dict[str, list[Point]] = Field({}, description="points by the name of what is followed")


def main(arguments: argparse.Namespace) -> None:
    """Measure all models once, write the rows of all tracks."""
    settings = read_settings(arguments.settings, Settings)
    scores = leave_out_overlap(read_ranks(arguments.scores), arguments.overlap, settings.summary)
    measured = measure_ranks(scores, settings.summary)
    measured |= measure_texts(read_baselines(arguments.perplexity, PERPLEXITY), settings.summary)
    measured |= measure_rates(read_baselines(arguments.attribute_rates, ATTRIBUTE_RATES), settings.summary)
    rows = follow_tracks(settings.tracks, measured, settings.summary)
    with write_table_in_batches(arguments.output, FOLLOWING) as writer:
        writer.write(rows)
    log.info("%s tracks, %s rows", len(settings.tracks), f"{len(rows):,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    names = ("DOMAIN", "VARIANT", "MODEL")
    add_tables(parser, "--scores", names, "scores of one model on one benchmark (parquet)", required=True)
    add_tables(parser, "--overlap", names[:2], "pairs of one benchmark that stand in training text")
    for option, what in (("--perplexity", "likelihood of held-out text"), ("--attribute-rates", "rates")):
        add_tables(parser, option, ("DOMAIN", "MODEL"), f"{what} of one model on one domain")
    parser.add_argument("--output", type=Path, required=True, help="table of all tracks (parquet)")
    add_settings(parser, Settings)
    run_program(parser, main)
