"""Sum up the scores of all models on all benchmarks, with intervals, into one table (spec 2.2)."""

import argparse
from pathlib import Path

from fathom.config import Summary
from fathom.errors import InputError
from fathom.files import write_delimited
from fathom.program import add_settings, read_settings, run_program
from fathom.scoring.summaries import summarize_scores
from fathom.tables import SCORES, SUMMARY_COLUMNS, read_table


def main(arguments: argparse.Namespace) -> None:
    """Read all scores, sum them up, write the table."""
    settings = read_settings(arguments.settings, Summary)
    scores = {}
    for domain, variant, model, path in arguments.scores:
        if (domain, variant, model) in scores:
            raise InputError(f"{model} on {domain}, {variant} is given twice", "--scores", "give it once")
        scores[domain, variant, model] = read_table(
            path, SCORES, ["pair_id", "keyword", "rank", "probability"]
        )
    write_delimited(arguments.output, SUMMARY_COLUMNS, summarize_scores(scores, settings), delimiter=",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--scores",
        nargs=4,
        action="append",
        required=True,
        metavar=("DOMAIN", "VARIANT", "MODEL", "FILE"),
        help="scores of one model on one benchmark; repeat for each",
    )
    parser.add_argument("--output", type=Path, required=True, help="the summary (CSV)")
    add_settings(parser, Summary)
    run_program(parser, main)
