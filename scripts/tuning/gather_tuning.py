"""Gather the scores of all models on all tasks, before and after tuning, as a folder that rankings read.

Writes the folder (tables by condition, standard errors, single examples, metadata) and one long table.
"""

import argparse
from pathlib import Path

from fathom.config.tuning import TrainBeforeTest
from fathom.io.contracts.ranking import OUTCOMES
from fathom.io.files import read_json, write_atomically, write_delimited
from fathom.io.tables import read_table
from fathom.jobs.program import add_settings, add_tables, read_settings, run_program
from fathom.tuning.score_tables import (
    CONDITIONS,
    TUNING_COLUMNS,
    list_rows,
    pick_outcomes,
    write_examples,
    write_scores,
)


def main(arguments: argparse.Namespace) -> None:
    """Read reports and outcomes, write the folder and the table."""
    tasks = read_settings(arguments.settings, TrainBeforeTest).tasks
    reports = {(model, task): read_json(Path(path)) for model, task, path in arguments.reports}
    with write_atomically(arguments.output) as folder:
        folder.mkdir()
        write_scores(folder, reports, tasks)
        for task, settings in tasks.items():
            if settings.scored_by == "mcc":
                continue  # a correlation is no mean over examples
            outcomes = {
                model: read_table(path, OUTCOMES) for model, of, path in arguments.outcomes if of == task
            }
            for name, score in CONDITIONS.items():
                # a model that did not improve keeps its direct score, and with it its direct examples
                parts = {model: pick_outcomes(reports[model, task], score) for model in outcomes}
                write_examples(folder / f"{name}_examples" / f"{task}.csv", outcomes, parts)
    write_delimited(arguments.table, TUNING_COLUMNS, list_rows(reports), ",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_tables(parser, "--reports", ("MODEL", "TASK"), "report of a tuning (JSON)", required=True)
    add_tables(parser, "--outcomes", ("MODEL", "TASK"), "outcomes of a tuning (parquet)", required=True)
    parser.add_argument("--output", type=Path, required=True, help="folder of scores")
    parser.add_argument("--table", type=Path, required=True, help="all scores, one a line (CSV)")
    add_settings(parser, TrainBeforeTest)
    run_program(parser, main)
