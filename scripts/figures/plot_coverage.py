"""Draw the map of a benchmark over its domain, or of a corpus over the rounds of its expansion.

Writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.figures.coverage import plot_benchmark, plot_expansion
from fathom.io.contracts.coverage import COVERAGE_MAP, EXPANSION_MAP
from fathom.io.tables import read_table
from fathom.running.program import add_figure_files, log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read a map, draw it, write figure and numbers."""
    files = (arguments.output, arguments.png, arguments.table)
    of_benchmark = arguments.kind == "benchmark"
    rows = read_table(arguments.map, COVERAGE_MAP if of_benchmark else EXPANSION_MAP)
    (plot_benchmark if of_benchmark else plot_expansion)(rows, arguments.title, files)
    log.info("%s points drawn", f"{len(rows):,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--map", type=Path, required=True, help="table of the map")
    parser.add_argument("--kind", choices=("benchmark", "expansion"), required=True, help="what it shows")
    parser.add_argument("--title", required=True, help="title of the figure")
    add_figure_files(parser)
    run_program(parser, main)
