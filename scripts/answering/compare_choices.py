"""Compare models over the variations of multiple-choice questions [RawCorpora, App. A.7].

Reads answers by set and model. Writes accuracy and its change by variation, statistics over all cyclic
orders of the options, agreement of rankings of models, and what explains the answers of each model.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.scoring import Summary
from fathom.io import paths
from fathom.io.contracts.answering import (
    CHOICE_ACCURACY,
    CHOICE_ANSWERS,
    CHOICE_DIAGNOSIS,
    CHOICE_ORDERS,
    CHOICE_RANKINGS,
)
from fathom.io.delimited import write_rows
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.jobs.signature import Tables, run


def main(
    *,
    answers: Annotated[Tables, paths.CHOICE_ANSWERS, "answers of a model to a set of questions"],
    accuracy: Annotated[Path, "accuracy by variation to write (CSV)"],
    orders: Annotated[Path, "statistics over all orders to write (CSV)"],
    rankings: Annotated[Path, "agreement of rankings to write (CSV)"],
    diagnosis: Annotated[Path, "diagnosis of the answers to write (CSV)"],
    settings: Summary,
) -> None:
    """Read all answers, compare them, write the tables."""
    from fathom.answering.diagnosis import (
        VERDICT,
        gather_answers,
        tabulate_accuracy,
        tabulate_diagnosis,
        tabulate_orders,
        tabulate_rankings,
    )

    tables = {(name, model): read_table(path, CHOICE_ANSWERS) for name, model, path in answers}
    gathered = gather_answers(tables, settings)
    write_rows(accuracy, tabulate_accuracy(gathered), CHOICE_ACCURACY)
    write_rows(orders, tabulate_orders(gathered), CHOICE_ORDERS)
    write_rows(rankings, tabulate_rankings(gathered, settings), CHOICE_RANKINGS)
    found = list(tabulate_diagnosis(gathered))
    write_rows(diagnosis, found, CHOICE_DIAGNOSIS)
    for model, way, finding, detail, *_ in found:
        if finding == VERDICT:
            log.info("%s, %s: %s", model, way, detail)


if __name__ == "__main__":
    run(main)
