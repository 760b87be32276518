"""Read a folder of scores, models by benchmarks for each condition, and its metadata.

Writes scores and paired tests as tables, and one line for each model and each benchmark.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.ranking import RankingSettings
from fathom.jobs.signature import run
from fathom.models.registry import read_registry
from fathom.ranking.score_folder import read_folder
from fathom.ranking.table import write_score_table


def main(
    *,
    scores: Annotated[Path, "folder of scores"],
    registry: Annotated[Path, "table of models (models.tsv)"],
    table: Annotated[Path, "folder for the four tables"],
    settings: RankingSettings,
) -> None:
    """Read the folder, write four tables."""
    write_score_table(table, read_folder(scores, settings, read_registry(registry)))


if __name__ == "__main__":
    run(main)
