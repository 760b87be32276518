"""Draw scores of answers over t_d and t_c.

Writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.figures.answer_thresholds import plot_answer_thresholds
from fathom.io.contracts.questions import THRESHOLD_COLUMNS
from fathom.io.files import read_delimited
from fathom.jobs.program import add_figure_files, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read scores, draw those of a set, write figure and numbers."""
    rows = read_delimited(arguments.scores, ",", THRESHOLD_COLUMNS)
    plot_answer_thresholds(rows, arguments.name, (arguments.output, arguments.png, arguments.table))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True, help="table of scores, CSV")
    parser.add_argument("--name", required=True, help="name of the set")
    add_figure_files(parser)
    run_program(parser, main)
