"""Plot what each metric says of models that read a domain's text, and controls of it.

Reads the tables of compare_controls; writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.controls import plot_controls, read_controls
from fathom.jobs.program import add_figure_files, add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the tables, draw one domain, write figure and numbers."""
    settings = read_settings(arguments.settings, Summary)
    rows, contrasts = read_controls(arguments.controls, arguments.contrasts, arguments.domain)
    files = (arguments.output, arguments.png, arguments.table)
    plot_controls(rows, contrasts, arguments.title or arguments.domain, files, settings)
    log.info("%s: %s numbers drawn", arguments.domain, f"{len(rows):,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--controls", type=Path, required=True, help="metrics by condition (CSV)")
    parser.add_argument("--contrasts", type=Path, required=True, help="which condition is ahead (CSV)")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--title", default="", help="title of the figure; default: the domain's name")
    add_figure_files(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
