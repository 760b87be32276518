"""Write what models may be trained on of a set of questions: records, and questions nobody is asked.

[CompComp, App. A] trains on text chunks first, then on questions and answers.
"""

import argparse
from pathlib import Path

from fathom.config.questions import Evaluation
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.questions import CHUNKS, QUESTIONS
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read records and questions; write both as training text."""
    from fathom.questions.training_text import make_question_texts, make_record_texts

    settings = read_settings(arguments.settings, Evaluation)
    records = make_record_texts(read_table(arguments.chunks, CHUNKS))
    questions = make_question_texts(read_table(arguments.questions, QUESTIONS), settings.shown)
    write_table(arguments.record_texts, records, TEXTS)
    write_table(arguments.question_texts, questions, TEXTS)
    log.info("%s records, %s questions with answers", f"{len(records):,}", f"{len(questions):,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, required=True, help="table of questions")
    parser.add_argument("--chunks", type=Path, required=True, help="table of texts of records")
    parser.add_argument("--record-texts", type=Path, required=True, help="records as training text to write")
    parser.add_argument(
        "--question-texts",
        type=Path,
        required=True,
        help="questions that nobody is asked, as training text to write",
    )
    add_settings(parser, Evaluation)
    run_program(parser, main)
