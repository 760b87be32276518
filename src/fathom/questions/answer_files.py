"""A model's answers to sets of questions, from files to files, with one load of the model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from fathom.benchmark.matches import load_embeddings
from fathom.config.questions import Evaluation
from fathom.errors import InputError
from fathom.io.contracts.questions import ANSWERED, CHUNKS, QUESTIONS
from fathom.io.files import hash_file, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.resume import Resume
from fathom.models.open_model import Measurement, OpenModel
from fathom.questions.answers import answer_questions
from fathom.questions.asked_items import Asked, ask, divide_questions
from fathom.questions.retrieval import retrieve_records

UNUSED = {"models", "per_threshold"}
"""Keys of an evaluation that answers to a set do not depend on."""


class QuestionFiles(NamedTuple):
    """The files of a set of questions: questions and records, each with embeddings."""

    questions: Path
    vectors: Path
    chunks: Path
    embeddings: Path


def plan_answers(name: str, files: QuestionFiles, output: Path, settings: Evaluation) -> Measurement:
    """Return how a model answers a set of questions, in all promptings.

    Parameters
    ----------
    name : str
        Name of the set.
    files : QuestionFiles
    output : Path
        Table of answers; a report is written beside it.
    settings : Evaluation
    """
    return Measurement(
        f"{name}.answers",
        __file__,
        inputs=[*files],
        outputs=[output, output.with_suffix(".json")],
        settings=settings.model_dump(mode="json", exclude=UNUSED),
        measure=lambda model, outputs, resume: _answer(model, files, outputs, settings, resume),
    )


def prepare_questions(files: QuestionFiles, settings: Evaluation) -> list[Asked]:
    """Return all questions that models are asked, in all promptings.

    Parameters
    ----------
    files : QuestionFiles
    settings : Evaluation

    Raises
    ------
    InputError
        If questions and embeddings are not of the same run, or no question is left to ask.
    """
    questions, chunks = read_table(files.questions, QUESTIONS), read_table(files.chunks, CHUNKS)
    vectors, records = load_embeddings(files.vectors)[:], load_embeddings(files.embeddings)[:]
    for path, table, array in ((files.vectors, questions, vectors), (files.embeddings, chunks, records)):
        if len(table) != len(array):
            raise InputError(
                f"{len(array)} embeddings for {len(table)} rows", str(path), "make both in one run"
            )
    nearest = retrieve_records(vectors, records, chunks["text"].to_list(), settings.retrieved)
    texts = dict(zip(questions["question_id"], nearest, strict=True))
    shown, asked = divide_questions(questions, settings.shown)
    if asked.is_empty():
        raise InputError("there are no questions to ask", str(files.questions), "ask for more in `first`")
    rows = [(row, texts[row["question_id"]]) for row in asked.iter_rows(named=True)]
    examples = shown.rows(named=True)
    return [each for prompting in settings.promptings for each in ask(rows, examples, prompting, settings)]


def _answer(
    model: OpenModel, files: QuestionFiles, outputs: Sequence[Path], settings: Evaluation, resume: Resume
) -> None:
    """Ask a model; write its answers and a report. It is quick, so a stopped job begins afresh."""
    from fathom.answering.answerer import ModelAnswerer

    asked = prepare_questions(files, settings)
    answers = answer_questions(ModelAnswerer(model), asked, settings)
    write_table(outputs[0], answers, ANSWERED)
    report = {
        **model.description,
        "chat_template": model.pointer.chat_template,
        "questions_sha256": hash_file(files.questions),
        "settings": settings.model_dump(mode="json", exclude=UNUSED),
        "promptings": {
            prompting: describe_answers(answers.filter(prompting=prompting))
            for prompting in settings.promptings
        },
    }
    write_json(outputs[1], report)
    log.info("%s: %s answers", model.pointer.name, f"{len(answers):,}")


def describe_answers(answers: pl.DataFrame) -> dict[str, Any]:
    """Return how many answers there are in one prompting, and what prompts lost to fit the context."""
    shots = answers["shots"].to_list() or [0]
    return {
        "questions": len(answers),
        "unanswered": int((~answers["answered"]).sum()),
        "prompts_cut": int((answers["cut"] > 0).sum()),
        "fewest_shots": min(shots),
        "most_shots": max(shots),
    }
