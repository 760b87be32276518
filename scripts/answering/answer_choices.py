"""Ask a model multiple-choice questions in all variations, with one load of it [RawCorpora, App. A.7].

Reads a model (pointer or folder) and tables of questions; `NAME@chat` is asked inside its chat template.
Writes answers to each set, and a report beside them. What is finished is kept in a folder of its own.
"""

import argparse
import os
from pathlib import Path

from fathom.answering.variation_files import ChoiceFiles, plan_choices, read_styles
from fathom.config.choices import Choices
from fathom.config.scoring import Scoring
from fathom.config.section import Section
from fathom.jobs.program import add_settings, add_tables, read_settings, run_program
from fathom.models.loading import read_pointer
from fathom.models.open_model import OpenModel, add_gpus, add_measuring, measure_all


class Settings(Section):
    """Settings of this program."""

    scoring: Scoring = Scoring()
    choices: Choices = Choices()


def main(arguments: argparse.Namespace) -> None:
    """Plan all sets of questions and ask them."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    settings = read_settings(arguments.settings, Settings)
    styles = read_styles(arguments.styles)
    planned = [
        plan_choices(ChoiceFiles(name, subject, Path(questions), Path(answers)), settings.choices, styles)
        for name, subject, questions, answers in arguments.questions
    ]
    model = OpenModel(read_pointer(arguments.model), settings.scoring, arguments.threads, arguments.gpus)
    measure_all(model, planned, arguments.finished)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_measuring(parser)
    add_tables(
        parser,
        "--questions",
        ("NAME", "SUBJECT", "QUESTIONS"),
        "a set: its name, what it is about, its questions, and answers to write",
        required=True,
    )
    parser.add_argument(
        "--styles", type=Path, default=Path("config/choices/styles.yaml"), help="file of styles (YAML)"
    )
    add_gpus(parser)
    add_settings(parser, Settings)
    run_program(parser, main)
