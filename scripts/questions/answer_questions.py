"""Let a model answer sets of questions, with one load of it [CompComp, Sec. 5].

Writes a table of answers for each set, and a report beside it. What is finished is kept in a folder of its
own: a job that was interrupted does not make it again.
"""

import os
from pathlib import Path
from typing import Annotated

from fathom.config.questions import Evaluation
from fathom.config.scoring import Scoring
from fathom.config.section import Section
from fathom.config.served import Served, Speaker
from fathom.io import paths
from fathom.jobs.signature import Gpus, ModelFile, Tables, Threads, run


class Settings(Section):
    """Settings of this program; with a speaker, `--model` is the name of a model behind a service."""

    evaluation: Evaluation = Evaluation()
    scoring: Scoring = Scoring()
    speaker: Speaker | None = None
    served: Served = Served()


def main(
    *,
    model: ModelFile,
    questions: Annotated[Tables, paths.QUESTIONS, "questions of a set"],
    vectors: Annotated[list[Path], "their embeddings (.npy)"],
    chunks: Annotated[list[Path], "texts of records of each set (parquet)"],
    embeddings: Annotated[list[Path], "embeddings of these texts (.npy)"],
    others: Annotated[Tables, paths.PERCENTILE_QUESTIONS, "questions of a set with every t_d"] = (),
    vectors_of_others: Annotated[list[Path], "their embeddings (.npy)"] = (),
    corpora: Annotated[list[Path], "records of each set that each t_c keeps (parquet)"] = (),
    finished: Annotated[Path, "folder where finished results are kept"],
    answers: Annotated[list[Path], "answers to each set to write (parquet)"],
    threads: Threads = 1,
    gpus: Gpus = 1,
    settings: Settings,
) -> None:
    """Plan the answers to all sets and write them."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from fathom.answering.speaking import open_model
    from fathom.models.open_model import measure_all
    from fathom.questions.answer_files import QuestionFiles, ThresholdFiles, plan_answers

    varied = {
        name: ThresholdFiles(Path(path), *files)
        for (name, path), *files in zip(others, vectors_of_others, corpora, strict=True)
    }
    planned = [
        plan_answers(name, QuestionFiles(Path(path), *files, varied.get(name)), output, settings.evaluation)
        for (name, path), *files, output in zip(questions, vectors, chunks, embeddings, answers, strict=True)
    ]
    service = (settings.speaker, settings.served) if settings.speaker else None
    measure_all(open_model(model, settings.scoring, threads, gpus, finished, service), planned, finished)


if __name__ == "__main__":
    run(main)
