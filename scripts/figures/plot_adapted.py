"""Plot adapted models by every metric, and each metric against the reference [RawCorpora, Figs. 4, 8, 10].

Reads summary.csv; writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.adapted_models import order_models, plot_adapted, read_metrics
from fathom.running.program import add_figure_files, add_settings, log, read_settings, run_program
from fathom.scoring.statistics import LEADING, STATISTICS


def main(arguments: argparse.Namespace) -> None:
    """Read the summary, draw one base and domain, write figure and numbers."""
    settings = read_settings(arguments.settings, Summary)
    found = read_metrics(arguments.summary, arguments.domain, arguments.models, arguments.statistic)
    files = (arguments.output, arguments.png, arguments.table)
    title = arguments.title or arguments.domain
    for each in plot_adapted(
        order_models(found, arguments.models), title, arguments.statistic, files, settings
    ):
        log.info("%s with %s: r = %.2f", each.metric, each.against, each.found.value)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--summary", type=Path, required=True, help="summary.csv of a run")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--models", nargs="+", required=True, help="a base, and models adapted from it")
    parser.add_argument("--statistic", choices=STATISTICS, default=LEADING.name, help="of the ranks")
    parser.add_argument("--title", default="", help="title of the figure; default: the domain's name")
    add_figure_files(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
