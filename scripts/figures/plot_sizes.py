"""Plot the models of one domain by rank over their parameters and training tokens.

Reads summary.csv; writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.rank_values import read_model_ranks, select_domain
from fathom.figures.sizes import join_sizes, plot_sizes, read_size
from fathom.jobs.program import add_figure_files, add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the summary, draw one domain, write figure and numbers."""
    settings = read_settings(arguments.settings, Summary)
    ranks = select_domain(read_model_ranks(arguments.summary), arguments.domain, arguments.summary)
    models = join_sizes(ranks, map(read_size, arguments.model))
    files = (arguments.output, arguments.png, arguments.table)
    plot_sizes(models, arguments.title or arguments.domain, files, settings)
    log.info("domain %s: %d of %d models have a known size", arguments.domain, len(models), len(ranks))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--summary", type=Path, required=True, help="summary.csv of a run")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--title", default="", help="title of the figure; default: the domain's name")
    parser.add_argument(
        "--model", nargs=5, action="append", required=True,
        metavar=("NAME", "FAMILY", "KIND", "PARAMETERS", "TOKENS"),
        help="a model, with empty TOKENS if they are unknown; repeat for each",
    )  # fmt: skip
    add_figure_files(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
