"""Plot a map: of a benchmark over its domain, a corpus over its rounds, or questions over t_d.

Writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.figures.coverage import plot_benchmark, plot_expansion, plot_questions
from fathom.io.contracts.coverage import COVERAGE_MAP, EXPANSION_MAP
from fathom.io.contracts.questions import QUESTION_MAP
from fathom.io.tables import read_table
from fathom.jobs.program import add_figure_files, log, run_program

_KINDS = {
    "benchmark": (COVERAGE_MAP, plot_benchmark),
    "expansion": (EXPANSION_MAP, plot_expansion),
    "questions": (QUESTION_MAP, plot_questions),
}


def main(arguments: argparse.Namespace) -> None:
    """Read a map, draw it, write figure and numbers."""
    files = (arguments.output, arguments.png, arguments.table)
    contract, plot = _KINDS[arguments.kind]
    rows = read_table(arguments.map, contract)
    plot(rows, arguments.title, files)
    log.info("%s points drawn", f"{len(rows):,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--map", type=Path, required=True, help="table of the map")
    parser.add_argument("--kind", choices=tuple(_KINDS), required=True, help="what it shows")
    parser.add_argument("--title", required=True, help="title of the figure")
    add_figure_files(parser)
    run_program(parser, main)
