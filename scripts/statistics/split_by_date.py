"""Sum up ranks on pairs from before and after the last day of each model's training text.

Writes a CSV table: a line for each benchmark, model, statistic and part.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.scoring import DATE_COLUMNS
from fathom.io.files import write_delimited
from fathom.io.tables import read_table
from fathom.jobs.program import add_settings, add_tables, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read pairs and scores, write ranks by date."""
    from fathom.statistics.left_out_pairs import leave_out_overlap
    from fathom.statistics.pair_parts import split_by_date
    from fathom.statistics.summaries import read_scores

    settings = read_settings(arguments.settings, Summary)
    cutoffs: Mapping[str, str] = dict(arguments.cutoff)
    scores = leave_out_overlap(read_scores(arguments.scores), arguments.overlap, settings)
    rows = []
    for domain, variant, path in arguments.pairs:
        dates = read_table(path, PAIRS, ["pair_id", "date"])
        unknown = int((dates["date"] == "").sum())
        log.info("%s, %s: %s of %s pairs have no date", domain, variant, f"{unknown:,}", f"{len(dates):,}")
        models = {key[2]: frame for key, frame in scores.items() if key[:2] == (domain, variant)}
        for model, *rest in split_by_date(models, dates, cutoffs, settings):
            rows.append((domain, variant, model, cutoffs[model], *rest))
    write_delimited(arguments.output, DATE_COLUMNS, rows, ",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    names = ("DOMAIN", "VARIANT", "MODEL")
    add_tables(parser, "--pairs", names[:2], "pairs of one benchmark (parquet)", required=True)
    add_tables(parser, "--scores", names, "scores of one model on one benchmark (parquet)", required=True)
    add_tables(parser, "--overlap", names[:2], "pairs of one benchmark that stand in training text")
    parser.add_argument(
        "--cutoff", nargs=2, action="append", required=True, metavar=("MODEL", "DAY"),
        help="last day of a model's training text; repeat for each",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, required=True, help="table to write (CSV)")
    add_settings(parser, Summary)
    run_program(parser, main)
