"""Plot models by every metric, and each metric against the reference, once for each way to sum up ranks.

Source: [RawCorpora, Figs. 3, 4, 7, 8, 10, 20-23]. Reads summary.csv; writes each figure as PDF and PNG, and
its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.figures.metric_agreement import METRICS, Look, label_references, plot_metrics, read_metrics
from fathom.running.program import add_settings, log, read_settings, run_program
from fathom.scoring.statistics import STATISTICS


def main(arguments: argparse.Namespace) -> None:
    """Read the summary, draw one domain by each statistic, write figures and numbers."""
    settings = read_settings(arguments.settings, Summary)
    labels = label_references(dict(arguments.reference)) if arguments.reference else METRICS
    for statistic, *files in arguments.figure:
        if statistic not in STATISTICS:
            raise InputError(
                f"unknown statistic {statistic!r}", "--figure", f"known: {', '.join(STATISTICS)}"
            )
        found = read_metrics(arguments.summary, arguments.domain, arguments.models, statistic, labels)
        look = Look(arguments.title or arguments.domain, statistic, labels, settings)
        pdf, png, table = map(Path, files)
        for each in plot_metrics(found, look, (pdf, png, table)):
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
    parser.add_argument(
        "--figure",
        nargs=4,
        action="append",
        required=True,
        metavar=("STATISTIC", "PDF", "PNG", "CSV"),
        help="statistic of the ranks, and files to write; repeat for each",
    )
    add_settings(parser, Summary)
    run_program(parser, main)
