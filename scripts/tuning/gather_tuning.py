"""Gather the scores of all models on all tasks, before and after tuning, as a folder that rankings read.

Writes the folder (tables by condition, standard errors, single examples, metadata) and one long table.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.tuning import TrainBeforeTest
from fathom.io import paths
from fathom.io.contracts.jobs import TUNING
from fathom.io.contracts.ranking import OUTCOMES
from fathom.io.delimited import write_rows
from fathom.io.files import write_atomically
from fathom.io.reports import Tuned, read_report
from fathom.io.tables import read_table
from fathom.jobs.signature import Tables, run
from fathom.tuning.score_tables import CONDITIONS, list_rows, pick_outcomes, write_examples, write_scores


def main(
    *,
    reports: Annotated[Tables, paths.TUNED.ending(".json"), "report of a tuning"],
    outcomes: Annotated[Tables, paths.TUNED, "outcomes of a tuning"],
    scores: Annotated[Path, "folder of scores to write"],
    table: Annotated[Path, "all scores, one a line, to write (CSV)"],
    settings: TrainBeforeTest,
) -> None:
    """Read reports and outcomes, write the folder and the table."""
    read = {(model, task): read_report(path, Tuned) for task, model, path in reports}
    with write_atomically(scores) as folder:
        folder.mkdir()
        write_scores(folder, read, settings.tasks)
        for task, chosen in settings.tasks.items():
            if chosen.scored_by == "mcc":
                continue  # a correlation is no mean over examples
            found = {model: read_table(path, OUTCOMES) for of, model, path in outcomes if of == task}
            for name, score in CONDITIONS.items():
                # a model that did not improve keeps its direct score, and with it its direct examples
                parts = {model: pick_outcomes(read[model, task], score) for model in found}
                write_examples(folder / f"{name}_examples" / f"{task}.csv", found, parts)
    write_rows(table, list_rows(read), TUNING)


if __name__ == "__main__":
    run(main)
