"""Summarize the scores of all models on all benchmarks, with intervals, in one table.

Source: [RawCorpora, Sec. 2.6].
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.io.contracts.scoring import ATTRIBUTE_RATES, PERPLEXITY, SUMMARY_COLUMNS
from fathom.io.files import write_delimited
from fathom.jobs.program import add_settings, add_tables, read_settings, run_program
from fathom.statistics.baselines import read_baselines, summarize_attribute_rates, summarize_perplexity
from fathom.statistics.left_out_pairs import leave_out_overlap
from fathom.statistics.summaries import check_benchmarks, read_scores, summarize_scores


def main(arguments: argparse.Namespace) -> None:
    """Summarize all scores and baselines, write the table."""
    settings = read_settings(arguments.settings, Summary)
    scores = read_scores(arguments.scores)
    check_benchmarks(scores, arguments.pairs, arguments.settled)
    scores = leave_out_overlap(scores, arguments.overlap, settings)
    rows = summarize_scores(scores, settings, arguments.settled)
    rows += summarize_perplexity(read_baselines(arguments.perplexity, PERPLEXITY), settings)
    rows += summarize_attribute_rates(read_baselines(arguments.attribute_rates, ATTRIBUTE_RATES), settings)
    write_delimited(arguments.output, SUMMARY_COLUMNS, sorted(rows, key=lambda row: row[:5]), delimiter=",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    names = ("DOMAIN", "VARIANT", "MODEL")
    add_tables(parser, "--scores", names, "scores of one model on one benchmark (parquet)", required=True)
    add_tables(parser, "--pairs", names[:2], "pairs that the scores of one benchmark must belong to")
    add_tables(parser, "--overlap", names[:2], "pairs of one benchmark that stand in training text")
    for option, what in (("--perplexity", "likelihood of held-out text"), ("--attribute-rates", "rates")):
        add_tables(parser, option, ("DOMAIN", "MODEL"), f"{what} of one model on one domain")
    parser.add_argument("--settled", action="store_true", help="models may lack the last pairs")
    parser.add_argument("--output", type=Path, required=True, help="summary (CSV)")
    add_settings(parser, Summary)
    run_program(parser, main)
