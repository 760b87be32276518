"""Plot models by every metric, and each metric against the reference, once for each way to sum up ranks.

Source: [RawCorpora, Figs. 3, 4, 7, 8, 10, 20-23]. Reads summary.csv; writes each figure as PDF and PNG, and
its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.by_statistic import add_figures, list_figures
from fathom.figures.metric_agreement import METRICS, Look, label_references, plot_metrics, read_metrics
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the summary, draw one domain by each statistic, write figures and numbers."""
    settings = read_settings(arguments.settings, Summary)
    labels = label_references(dict(arguments.reference)) if arguments.reference else METRICS
    for statistic, files in list_figures(arguments.figure):
        found = read_metrics(arguments.summary, arguments.domain, arguments.models, statistic, labels)
        look = Look(arguments.title or arguments.domain, statistic, labels, settings)
        for each in plot_metrics(found, look, files):
            log.info("%s: %s with %s: r = %.2f", statistic, each.metric, each.against, each.found.value)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--summary", type=Path, nargs="+", required=True, help="summary.csv, references.csv")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--models", nargs="+", required=True, help="models from top to bottom")
    parser.add_argument(
        "--reference",
        nargs=2,
        action="append",
        metavar=("VARIANT", "NAME"),
        help="draw references, TF and TF-IDF only; repeat for each reference",
    )
    parser.add_argument("--title", default="", help="title of the figures; default: the domain's name")
    add_figures(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
