"""Let a model answer sets of questions, with one load of it [CompComp, Sec. 5].

Writes a table of answers for each set, and a report beside it. What is finished is kept in a folder of its
own: a job that was interrupted does not make it again.
"""

import argparse
import os
from pathlib import Path

from fathom.config.questions import Evaluation
from fathom.config.scoring import Scoring
from fathom.config.section import Section
from fathom.jobs.program import add_settings, add_tables, read_settings, run_program
from fathom.models.open_model import add_gpus, add_measuring


class Settings(Section):
    """Settings of this program."""

    evaluation: Evaluation = Evaluation()
    scoring: Scoring = Scoring()


def main(arguments: argparse.Namespace) -> None:
    """Plan the answers to all sets and write them."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from fathom.models.loading import read_pointer
    from fathom.models.open_model import OpenModel, measure_all
    from fathom.questions.answer_files import QuestionFiles, ThresholdFiles, plan_answers

    settings = read_settings(arguments.settings, Settings)
    model = OpenModel(read_pointer(arguments.model), settings.scoring, arguments.threads, arguments.gpus)
    others = {name: ThresholdFiles(*map(Path, files)) for name, *files in arguments.thresholds}
    planned = [
        plan_answers(
            name, QuestionFiles(*map(Path, files), others.get(name)), Path(output), settings.evaluation
        )
        for name, *files, output in arguments.questions
    ]
    measure_all(model, planned, arguments.finished)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_measuring(parser)
    add_tables(
        parser,
        "--questions",
        ("NAME", "QUESTIONS", "VECTORS", "CHUNKS", "EMBEDDINGS"),
        "name of a set, its questions and records, each with embeddings, and answers to write",
    )
    add_tables(
        parser,
        "--thresholds",
        ("NAME", "QUESTIONS", "VECTORS"),
        "name of a set, questions of all t_d with embeddings, and records by t_c",
    )
    add_gpus(parser)
    add_settings(parser, Settings)
    run_program(parser, main)
