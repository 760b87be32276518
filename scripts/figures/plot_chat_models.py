"""Plot what alignment costs: the ranks of chat models less those of their bases [RawCorpora, Fig. 24].

Reads comparisons.csv; writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.chat_models import Pair, plot_taxes, read_taxes
from fathom.jobs.program import add_figure_files, add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the differences, draw all domains, write figure and numbers."""
    settings = read_settings(arguments.settings, Summary)
    taxes = read_taxes(arguments.comparisons, [Pair(*pair) for pair in arguments.pair])
    titles = {tax.domain: tax.domain for tax in taxes} | dict(arguments.title)
    plot_taxes(taxes, titles, (arguments.output, arguments.png, arguments.table), settings)
    log.info("%d chat models compared with their bases", len({tax.pair for tax in taxes}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=Path, required=True, help="comparisons.csv of a run")
    parser.add_argument(
        "--pair",
        nargs=3,
        action="append",
        required=True,
        metavar=("CHAT", "BASE", "FAMILY"),
        help="a chat model, its base and their family; repeat for each",
    )
    parser.add_argument(
        "--title",
        nargs=2,
        action="append",
        default=[],
        metavar=("DOMAIN", "TITLE"),
        help="a domain and its title; repeat for each",
    )
    add_figure_files(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
