"""Forecast how many models a study needs before the change of agreement is significant.

Draws studies of each size from the models of a table of scores, and counts how many find a change.
"""

import argparse
from pathlib import Path

from fathom.config.ranking import RankingSettings
from fathom.io.contracts.ranking import FORECAST_COLUMNS
from fathom.io.files import write_delimited
from fathom.jobs.program import add_settings, read_settings, run_program
from fathom.ranking.forecast import forecast_change
from fathom.ranking.table import read_score_table


def main(arguments: argparse.Namespace) -> None:
    """Draw studies of every size, write the table."""
    settings = read_settings(arguments.settings, RankingSettings)
    rows = forecast_change(read_score_table(arguments.scores), settings)
    write_delimited(arguments.output, FORECAST_COLUMNS, rows, ",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True, help="folder of the table of scores")
    parser.add_argument(
        "--output", type=Path, required=True, help="share of significant studies by size (CSV)"
    )
    add_settings(parser, RankingSettings)
    run_program(parser, main)
