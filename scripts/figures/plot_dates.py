"""Plot ranks on documents from before and after the last day of each model's training text.

Reads dates.csv; writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.dates import plot_dates, read_dated_ranks
from fathom.jobs.program import add_figure_files, add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read ranks by date, draw one domain, write figure and numbers."""
    settings = read_settings(arguments.settings, Summary)
    ranks = read_dated_ranks(arguments.dates, arguments.domain)
    files = (arguments.output, arguments.png, arguments.table)
    plot_dates(ranks, arguments.title or arguments.domain, files, settings)
    log.info("domain %s: %d models drawn", arguments.domain, len({each.model for each in ranks}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dates", type=Path, required=True, help="dates.csv of a run")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--title", default="", help="title of the figure; default: the domain's name")
    add_figure_files(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
