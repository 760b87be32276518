"""Plot domains by similarity to one of them, and which of them are trained on [RawCorpora, Sec. 4.3]."""

import argparse
from pathlib import Path

from fathom.figures.domain_order import plot_order
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.tables import read_table
from fathom.jobs.program import add_figure_files, log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the table, write figure and numbers."""
    order = read_table(arguments.order, DOMAIN_ORDERS)
    plot_order(order, arguments.study, (arguments.output, arguments.png, arguments.table))
    log.info("%s: %s domains drawn", arguments.study, len(order))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--order", type=Path, required=True, help="order of domains (parquet)")
    parser.add_argument("--study", required=True, help="name of the study")
    add_figure_files(parser)
    run_program(parser, main)
