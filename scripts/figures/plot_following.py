"""Plot the metrics of models over their training, one track on one domain [RawCorpora, Figs. 5, 9, 16].

Reads following.parquet; writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.following import plot_track, read_track
from fathom.jobs.program import add_figure_files, add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the table, draw one track, write figure and numbers."""
    settings = read_settings(arguments.settings, Summary)
    rows = read_track(arguments.following, arguments.track, arguments.domain)
    files = (arguments.output, arguments.png, arguments.table)
    plot_track(rows, arguments.title or arguments.domain, files, settings)
    log.info("%s on %s: %s points drawn", arguments.track, arguments.domain, rows["model"].n_unique())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--following", type=Path, required=True, help="following.parquet of a run")
    parser.add_argument("--track", required=True, help="name of what is followed")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--title", default="", help="title of the figure; default: the domain's name")
    add_figure_files(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
