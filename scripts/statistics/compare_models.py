"""Compare models pairwise on each benchmark, group indistinguishable models, and correlate metrics.

Reads the scores of all models and their summary. Writes differences with intervals, letters of groups, and
correlations.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.io.contracts.scoring import COMPARISON_COLUMNS, CORRELATION_COLUMNS, GROUP_COLUMNS
from fathom.io.files import write_delimited
from fathom.jobs.program import add_settings, add_tables, read_settings, run_program
from fathom.statistics.comparisons import read_settled, resample_scores, tabulate_comparisons
from fathom.statistics.correlations import read_series, tabulate_correlations
from fathom.statistics.left_out_pairs import leave_out_overlap
from fathom.statistics.summaries import read_scores


def main(arguments: argparse.Namespace) -> None:
    """Resample all scores once, write three tables."""
    settings = read_settings(arguments.settings, Summary)
    scores, is_settled = read_scores(arguments.scores), arguments.settled is not None
    settled = read_settled(arguments.settled, scores)  # before pairs are left out: it counts them
    scores = leave_out_overlap(scores, arguments.overlap, settings)
    resampled = resample_scores(scores, settings, is_settled)
    comparisons, groups = tabulate_comparisons(resampled, settings, settled)
    write_delimited(arguments.output, COMPARISON_COLUMNS, comparisons, delimiter=",")
    write_delimited(arguments.groups, GROUP_COLUMNS, groups, delimiter=",")
    correlations = tabulate_correlations(read_series(arguments.summary), settings)
    write_delimited(arguments.correlations, CORRELATION_COLUMNS, correlations, delimiter=",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    names = ("DOMAIN", "VARIANT", "MODEL")
    add_tables(parser, "--scores", names, "scores of one model on one benchmark (parquet)", required=True)
    add_tables(parser, "--overlap", names[:2], "pairs of one benchmark that stand in training text")
    parser.add_argument("--summary", type=Path, required=True, help="summary.csv, for the correlations")
    parser.add_argument("--settled", type=Path, help="settled.csv, where models stopped before the last pair")
    parser.add_argument("--output", type=Path, required=True, help="paired differences (CSV)")
    parser.add_argument("--groups", type=Path, required=True, help="letters of groups of models (CSV)")
    parser.add_argument("--correlations", type=Path, required=True, help="correlations of metrics (CSV)")
    add_settings(parser, Summary)
    run_program(parser, main)
