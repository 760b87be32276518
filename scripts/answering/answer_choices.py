"""Ask a model multiple-choice questions in all variations, with one load of it [RawCorpora, App. A.7].

Reads a model (pointer or folder) and tables of questions; `NAME@chat` is asked inside its chat template.
Writes answers to each set, and a report beside them. Finished results are kept in a separate folder.
"""

import os
from pathlib import Path
from typing import Annotated

from fathom.answering.speaking import open_model
from fathom.answering.variation_files import ChoiceFiles, plan_choices, read_styles
from fathom.config.choices import Choices
from fathom.config.scoring import Scoring
from fathom.config.section import Section
from fathom.config.served import Served, Speaker
from fathom.io import paths
from fathom.jobs.signature import Gpus, ModelFile, Tables, Threads, run
from fathom.models.open_model import measure_all


class Settings(Section):
    """Settings of this program; with a speaker, `--model` is the name of a model behind a service."""

    scoring: Scoring = Scoring()
    choices: Choices = Choices()
    speaker: Speaker | None = None
    served: Served = Served()


def main(
    *,
    model: ModelFile,
    questions: Annotated[Tables, paths.CHOICE_QUESTIONS, "questions of a set"],
    subjects: Annotated[list[str], "subject of each set"],
    styles: Annotated[Path, "file of styles (YAML)"] = Path("config/choices/styles.yaml"),
    finished: Annotated[Path, "folder for finished results"],
    answers: Annotated[list[Path], "answers to each set to write (parquet)"],
    threads: Threads = 1,
    gpus: Gpus = 1,
    settings: Settings,
) -> None:
    """Plan all sets of questions and ask them."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    read = read_styles(styles)
    planned = [
        plan_choices(ChoiceFiles(name, subject, Path(path), output), settings.choices, read)
        for (name, path), subject, output in zip(questions, subjects, answers, strict=True)
    ]
    service = (settings.speaker, settings.served) if settings.speaker else None
    measure_all(open_model(model, settings.scoring, threads, gpus, finished, service), planned, finished)


if __name__ == "__main__":
    run(main)
