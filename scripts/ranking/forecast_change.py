"""Forecast how many models a comparison needs before the change of agreement is significant.

Draws samples of each size from the models of a table of scores, and counts how many find a change.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.ranking import RankingSettings
from fathom.io.contracts.ranking import FORECAST
from fathom.io.delimited import write_rows
from fathom.jobs.signature import run
from fathom.ranking.benchmark_agreement import forecast_change
from fathom.ranking.table import read_score_table


def main(
    *,
    scores: Annotated[Path, "folder of the table of scores"],
    table: Annotated[Path, "share of significant samples by size to write (CSV)"],
    settings: RankingSettings,
) -> None:
    """Draw samples of every size, write the table."""
    rows = forecast_change(read_score_table(scores), settings)
    write_rows(table, rows, FORECAST)


if __name__ == "__main__":
    run(main)
