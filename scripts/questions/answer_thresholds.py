"""Let a model answer sets of questions with several thresholds, with one load of it [CompComp, Table 4].

Writes a table of answers for each set. What is finished is kept in a folder of its own: a job that was
interrupted does not make it again.
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
    from fathom.questions.threshold_answers import ThresholdFiles, plan_threshold_answers

    settings = read_settings(arguments.settings, Settings)
    model = OpenModel(read_pointer(arguments.model), settings.scoring, arguments.threads, arguments.gpus)
    planned = [
        plan_threshold_answers(name, ThresholdFiles(*map(Path, files)), Path(output), settings.evaluation)
        for name, *files, output in arguments.questions
    ]
    measure_all(model, planned, arguments.finished)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_measuring(parser)
    add_tables(
        parser,
        "--questions",
        ("NAME", "QUESTIONS", "OTHERS", "VECTORS", "CHUNKS", "EMBEDDINGS", "CORPORA", "ANSWERED"),
        "name of a set, its questions, those of all t_d with embeddings, records with embeddings, records by "
        "t_c, the model's answers to the set, and answers to write",
    )
    add_gpus(parser)
    add_settings(parser, Settings)
    run_program(parser, main)
