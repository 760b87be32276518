"""Compare models over the variations of multiple-choice questions [RawCorpora, App. A.7].

Reads answers by set and model. Writes accuracy and its change by variation, what holds over all cyclic orders
of the options, how far rankings of models agree, and what is behind the answers of each model.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.io.contracts.answering import (
    CHOICE_ACCURACY,
    CHOICE_ANSWERS,
    CHOICE_DIAGNOSIS,
    CHOICE_ORDERS,
    CHOICE_RANKINGS,
)
from fathom.io.delimited import write_rows
from fathom.io.tables import read_table
from fathom.jobs.program import add_settings, add_tables, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read all answers, compare them, write the tables."""
    from fathom.answering.diagnosis import VERDICT, tabulate_diagnosis
    from fathom.answering.variation_effects import (
        gather_answers,
        tabulate_accuracy,
        tabulate_orders,
        tabulate_rankings,
    )

    settings = read_settings(arguments.settings, Summary)
    tables = {(name, model): read_table(path, CHOICE_ANSWERS) for name, model, path in arguments.answers}
    answers = gather_answers(tables, settings)
    write_rows(arguments.accuracy, tabulate_accuracy(answers), CHOICE_ACCURACY)
    write_rows(arguments.orders, tabulate_orders(answers), CHOICE_ORDERS)
    write_rows(arguments.rankings, tabulate_rankings(answers, settings), CHOICE_RANKINGS)
    diagnosis = list(tabulate_diagnosis(answers))
    write_rows(arguments.diagnosis, diagnosis, CHOICE_DIAGNOSIS)
    for model, way, finding, detail, *_ in diagnosis:
        if finding == VERDICT:
            log.info("%s, %s: %s", model, way, detail)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_tables(
        parser, "--answers", ("SET", "MODEL"), "answers of a model to a set of questions", required=True
    )
    parser.add_argument("--accuracy", type=Path, required=True, help="accuracy by variation (CSV)")
    parser.add_argument("--orders", type=Path, required=True, help="what holds over all orders (CSV)")
    parser.add_argument("--rankings", type=Path, required=True, help="agreement of rankings (CSV)")
    parser.add_argument("--diagnosis", type=Path, required=True, help="what is behind the answers (CSV)")
    add_settings(parser, Summary)
    run_program(parser, main)
