"""Plot what t_c does to a corpus: size, coverage and redundancy against corpora at random.

Writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.figures.thresholds import plot_correlations
from fathom.io.contracts.coverage import CORRELATION_COLUMNS
from fathom.io.files import read_delimited
from fathom.jobs.program import add_figure_files, log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the thresholds, draw them, write figure and numbers."""
    rows = list(read_delimited(arguments.thresholds, ",", CORRELATION_COLUMNS))
    plot_correlations(rows, arguments.title, (arguments.output, arguments.png, arguments.table))
    log.info("%s thresholds drawn", len(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--thresholds", type=Path, required=True, help="table of thresholds (CSV)")
    parser.add_argument("--title", required=True, help="title of the figure")
    add_figure_files(parser)
    run_program(parser, main)
