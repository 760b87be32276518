"""Plot metrics after each stage of continual pretraining, by similarity and against the reference.

Source: [RawCorpora, Figs. 6, 17-19], [BeyondBenchmarks, Fig. 4].
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.stages import KINDS, plot_stages, read_relations
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.contracts.scoring import FOLLOWING
from fathom.io.tables import read_table
from fathom.jobs.program import add_figure_files, add_settings, log, read_settings, run_program
from fathom.studies.stages import select_stages


def main(arguments: argparse.Namespace) -> None:
    """Read the tables, write figure and numbers."""
    settings = read_settings(arguments.settings, Summary)
    order = read_table(arguments.order, DOMAIN_ORDERS)
    measured = order["evaluation_domain"][0]
    rows = read_table(arguments.following, FOLLOWING).filter(track=arguments.track, domain=measured)
    files = (arguments.output, arguments.png, arguments.table)
    look = (arguments.kind, arguments.title or measured, settings)
    plot_stages(select_stages(rows, order), read_relations(arguments.relations), look, files)
    log.info("%s: %s drawn", arguments.track, arguments.kind)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=list(KINDS), required=True, help="what is drawn of pairs")
    parser.add_argument("--following", type=Path, required=True, help="following.parquet of a run")
    parser.add_argument("--track", required=True, help="name of what is followed")
    parser.add_argument("--order", type=Path, required=True, help="order of domains (parquet)")
    parser.add_argument("--relations", type=Path, required=True, help="relations of the study (CSV)")
    parser.add_argument("--title", default="", help="title of the evaluation domain; default: its name")
    add_figure_files(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
