"""Plot paths of adaptation from one base over each other [RawCorpora, Fig. 9].

Reads following.parquet; writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.by_statistic import add_figures, list_figures
from fathom.figures.following import read_track
from fathom.figures.paths import plot_paths
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the table, draw some tracks, write figure and numbers."""
    settings = read_settings(arguments.settings, Summary)
    tracks = [read_track(arguments.following, track, arguments.domain) for track in arguments.tracks]
    for statistic, files in list_figures(arguments.figure):
        plot_paths(tracks, (arguments.title or arguments.domain, statistic), files, settings)
    log.info("%s: %s paths drawn", arguments.domain, len(tracks))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--following", type=Path, required=True, help="following.parquet of a run")
    parser.add_argument("--tracks", nargs="+", required=True, help="names of what is followed")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--title", default="", help="title of the figures; default: the domain's name")
    add_figures(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
