"""Plot the models of one domain by rank, and the agreement of its benchmarks [RawCorpora, Fig. 7].

Reads summary.csv; writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.model_ranks import plot_model_ranks, write_model_ranks
from fathom.figures.rank_values import read_model_ranks, select_domain
from fathom.jobs.program import add_figure_files, add_settings, log, read_settings, run_program
from fathom.statistics.aggregates import COMPARED


def main(arguments: argparse.Namespace) -> None:
    """Read the summary, draw one domain, write figure and numbers."""
    settings = read_settings(arguments.settings, Summary)
    leading, *others = (read_model_ranks(arguments.summary, statistic) for statistic in COMPARED)
    models = select_domain(leading, arguments.domain, arguments.summary)
    beside = [
        (statistic, ranks[arguments.domain])
        for statistic, ranks in zip(COMPARED[1:], others, strict=True)
        if arguments.domain in ranks
    ]
    title = arguments.title or arguments.domain
    agreements = plot_model_ranks(models, title, arguments.output, arguments.png, settings, beside)
    write_model_ranks(arguments.table, models, agreements, beside)
    log.info("domain %s: %d models drawn", arguments.domain, len(models))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--summary", type=Path, required=True, help="summary.csv of a run")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--title", default="", help="title of the figure; default: the domain's name")
    add_figure_files(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
