"""Make a table of scores from a run's own summary and comparisons, to rank its models.

A benchmark is a domain and variant, scored by trimmed mean rank; low is good.
"""

import argparse
from pathlib import Path

from fathom.config.ranking import RankingSettings
from fathom.jobs.program import add_settings, read_settings, run_program
from fathom.models.registry import read_registry
from fathom.ranking.run_scores import collect_run
from fathom.ranking.table import write_score_table


def main(arguments: argparse.Namespace) -> None:
    """Read the run's results, write four tables."""
    settings = read_settings(arguments.settings, RankingSettings)
    table = collect_run(arguments.summary, arguments.comparisons, settings, read_registry(arguments.registry))
    write_score_table(arguments.output, table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--summary", type=Path, required=True, help="summary.csv of a run")
    parser.add_argument("--comparisons", type=Path, required=True, help="comparisons.csv of the same run")
    parser.add_argument("--registry", type=Path, required=True, help="table of models (models.tsv)")
    parser.add_argument("--output", type=Path, required=True, help="folder for the four tables")
    add_settings(parser, RankingSettings)
    run_program(parser, main)
