"""Plot the scores of models on a set of questions: panels by form and level, or radar charts.

Writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.figures.answers import plot_answers
from fathom.io.contracts.questions import SCORE_COLUMNS
from fathom.io.files import read_delimited
from fathom.jobs.program import add_figure_files, log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the scores, draw those of one set, write figure and numbers."""
    rows = read_delimited(arguments.scores, ",", SCORE_COLUMNS)
    files = (arguments.output, arguments.png, arguments.table)
    plot_answers(arguments.kind, rows, arguments.name, arguments.base, files)
    log.info("%s of %s drawn", arguments.kind, arguments.name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True, help="table of scores (CSV)")
    parser.add_argument("--name", required=True, help="name of the set of questions")
    parser.add_argument("--kind", choices=("scores", "radar"), required=True, help="what to draw")
    parser.add_argument(
        "--base", nargs=2, action="append", default=[], metavar=("MODEL", "BASE"),
        help="a model and the one that it is drawn over; repeat for each",
    )  # fmt: skip
    add_figure_files(parser)
    run_program(parser, main)
