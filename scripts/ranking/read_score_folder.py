"""Read a folder of scores, models by benchmarks for each condition, and its metadata.

Writes scores and paired tests as tables, and one line for each model and each benchmark.
"""

import argparse
from pathlib import Path

from fathom.config.ranking import Ranking
from fathom.jobs.program import add_settings, read_settings, run_program
from fathom.models.registry import read_registry
from fathom.ranking.folder import read_folder
from fathom.ranking.table import write_score_table


def main(arguments: argparse.Namespace) -> None:
    """Read the folder, write four tables."""
    settings = read_settings(arguments.settings, Ranking)
    write_score_table(
        arguments.output, read_folder(arguments.scores, settings, read_registry(arguments.registry))
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True, help="folder of scores")
    parser.add_argument("--registry", type=Path, required=True, help="table of models (models.tsv)")
    parser.add_argument("--output", type=Path, required=True, help="folder for the four tables")
    add_settings(parser, Ranking)
    run_program(parser, main)
