"""Score the answers of models with several thresholds, with intervals [CompComp, Table 4]."""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.io.contracts.questions import (
    ANSWERED,
    QUESTION_MAP,
    QUESTIONS,
    RECORD_CORPORA,
    THRESHOLD_ANSWERED,
    THRESHOLD_COLUMNS,
)
from fathom.io.files import write_delimited
from fathom.io.tables import read_table
from fathom.jobs.program import add_settings, add_tables, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read questions, records by t_c and answers; write scores."""
    from fathom.questions.threshold_scores import Varied, score_thresholds

    settings = read_settings(arguments.settings, Summary)
    rows = []
    for name, questions, where, corpora in arguments.questions:
        varied = Varied(
            read_table(questions, QUESTIONS),
            read_table(where, QUESTION_MAP),
            read_table(corpora, RECORD_CORPORA),
        )
        answers = [
            (model, read_table(of_set, ANSWERED), read_table(others, THRESHOLD_ANSWERED))
            for of, model, of_set, others in arguments.answers
            if of == name
        ]
        rows += score_thresholds(name, varied, answers, settings)
    write_delimited(arguments.output, THRESHOLD_COLUMNS, rows, ",")
    log.info("%s scores", len(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    places = ("SET", "QUESTIONS", "MAP")
    add_tables(
        parser, "--questions", places, "name of a set, questions of all t_d, their map, records by t_c"
    )
    places = ("SET", "MODEL", "ANSWERED")
    add_tables(parser, "--answers", places, "name of a set, of a model, its answers to the set, all others")
    parser.add_argument("--output", type=Path, required=True, help="table of scores, CSV")
    add_settings(parser, Summary)
    run_program(parser, main)
