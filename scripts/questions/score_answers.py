"""Score the answers of models to questions, with intervals, and compare them in pairs [CompComp, Table 3]."""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.io.contracts.questions import (
    ANSWERED,
    QUESTION_DIFFERENCES,
    QUESTION_MAP,
    QUESTION_SCORES,
    QUESTION_THRESHOLDS,
    QUESTIONS,
    RECORD_CORPORA,
)
from fathom.io.delimited import write_rows
from fathom.io.tables import read_table
from fathom.jobs.program import add_settings, add_tables, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read questions and answers; write scores, paired differences, and scores with each threshold."""
    from fathom.questions.answer_scores import (
        list_comparisons,
        score_answers,
        tabulate_differences,
        tabulate_scores,
    )
    from fathom.questions.asked_items import select_own
    from fathom.questions.metrics import measure_answers
    from fathom.questions.threshold_scores import Varied, score_thresholds

    settings = read_settings(arguments.settings, Summary)
    questions = {name: read_table(path, QUESTIONS) for name, path in arguments.questions}
    bases = dict(arguments.base)
    given = {(name, model): read_table(path, ANSWERED) for name, model, path in arguments.answers}
    rows, differences, varied = [], [], []
    for name, asked in questions.items():
        scores = {}
        for model in (model for of, model in given if of == name):
            answers = select_own(given[name, model], asked)
            measures = measure_answers(asked, answers)
            for prompting in answers["prompting"].unique(maintain_order=True):
                scores[model, prompting] = score_answers(measures.filter(prompting=prompting), settings)
        rows += tabulate_scores(name, scores, settings)
        comparisons = list_comparisons(list(scores), bases)
        differences += tabulate_differences(name, scores, comparisons, settings)
    for name, *files in arguments.thresholds:
        tables = zip(files, (QUESTIONS, QUESTION_MAP, RECORD_CORPORA), strict=True)
        own = [(model, answers) for (of, model), answers in given.items() if of == name]
        varied += score_thresholds(name, Varied(*(read_table(*table) for table in tables)), own, settings)
    if arguments.thresholds:
        write_rows(arguments.threshold_scores, varied, QUESTION_THRESHOLDS)
    write_rows(arguments.output, rows, QUESTION_SCORES)
    write_rows(arguments.differences, differences, QUESTION_DIFFERENCES)
    apart = sum(row[QUESTION_DIFFERENCES.names.index("apart")] == "yes" for row in differences)
    log.info("%s scores; %s of %s differences have an interval without 0", len(rows), apart, len(differences))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_tables(parser, "--questions", ("SET",), "name of a set, and its questions")
    add_tables(parser, "--answers", ("SET", "MODEL"), "name of a set, of a model, and its answers")
    parser.add_argument(
        "--base", nargs=2, action="append", default=[], metavar=("MODEL", "BASE"),
        help="a model and the one that it is compared with; repeat for each",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, required=True, help="table of scores (CSV)")
    add_tables(
        parser,
        "--thresholds",
        ("SET", "QUESTIONS", "MAP"),
        "name of a set, questions of all t_d, their map, records by t_c",
    )
    parser.add_argument("--threshold-scores", type=Path, help="table of scores with each threshold (CSV)")
    parser.add_argument("--differences", type=Path, required=True, help="table of differences (CSV)")
    add_settings(parser, Summary)
    run_program(parser, main)
