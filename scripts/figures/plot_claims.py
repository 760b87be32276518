"""Plot how metrics of adapted models go with references, and the verdicts on the papers' claims.

Reads the tables of judge_claims; writes the figure as PDF and PNG, and the claims as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.claims import plot_claims, read_claims
from fathom.jobs.program import add_figure_files, add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the tables, draw one domain, write figure and numbers."""
    settings = read_settings(arguments.settings, Summary)
    claims, correlations = read_claims(arguments.claims, arguments.correlations, arguments.domain)
    files = (arguments.output, arguments.png, arguments.table)
    plot_claims(claims, correlations, arguments.title or arguments.domain, files, settings)
    log.info("%s: %s claims drawn", arguments.domain, len(claims))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=Path, required=True, help="claims with their verdicts (CSV)")
    parser.add_argument("--correlations", type=Path, required=True, help="metrics with references (CSV)")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--title", default="", help="title of the figure; default: the domain's name")
    add_figure_files(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
