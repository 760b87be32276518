"""Plot accuracy on multiple-choice questions by how they are asked [RawCorpora, Figs. 3 (left), 11 to 13].

Reads accuracy.csv; writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.figures.choices import plot_choices, read_accuracy
from fathom.jobs.program import add_figure_files, log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the accuracies of one factor, draw them, write figure and numbers."""
    asked = read_accuracy(arguments.accuracy, arguments.factor, arguments.way)
    files = arguments.output, arguments.png, arguments.table
    plot_choices(asked, arguments.factor, arguments.way, files)
    log.info("%d models", len({each.model for each in asked}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accuracy", type=Path, required=True, help="accuracy.csv of a run")
    parser.add_argument(
        "--factor", choices=("examples", "options", "styles", "orders"), required=True, help="what is varied"
    )
    parser.add_argument("--way", choices=("letter", "text"), required=True, help="how answers were found")
    add_figure_files(parser)
    run_program(parser, main)
