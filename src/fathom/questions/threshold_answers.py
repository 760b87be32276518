"""A model's answers with other thresholds, always with the nearest records [CompComp, Sec. 5.5, Table 4].

Other t_d: questions that the set itself lacks. Other t_c: some questions of the set, with the nearest of the
records that t_c keeps. Whatever was answered in the same prompt before is taken over.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from fathom.benchmark.matches import load_embeddings
from fathom.config.questions import Evaluation, Prompting
from fathom.errors import InputError
from fathom.io.contracts.questions import ANSWERED, CHUNKS, QUESTIONS, RECORD_CORPORA, THRESHOLD_ANSWERED
from fathom.io.files import hash_text
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.resume import Resume
from fathom.models.open_model import Measurement, OpenModel
from fathom.questions.answers import answer_questions
from fathom.questions.asked_items import Asked, Row, ask, divide_questions
from fathom.questions.retrieval import retrieve_records

ALL = "all"
"""The corpus of all records."""
RAG: Prompting = "rag"

Answer = Callable[[Sequence[Asked]], pl.DataFrame]
"""Takes questions as they are asked; returns answers under ANSWERED."""


class ThresholdFiles(NamedTuple):
    """The files of a set of questions with several thresholds.

    Attributes
    ----------
    questions : Path
        Those of the set.
    others : Path
        Questions of all t_d, those of the set among them.
    vectors : Path
        Embeddings of these.
    chunks, embeddings : Path
        Records.
    corpora : Path
        Records by t_c.
    answers : Path
        The model's answers to the set.
    """

    questions: Path
    others: Path
    vectors: Path
    chunks: Path
    embeddings: Path
    corpora: Path
    answers: Path


class Case(NamedTuple):
    """A question with the records next to it, of one corpus."""

    corpus: str
    question_id: str
    records: str


def plan_threshold_answers(
    name: str, files: ThresholdFiles, output: Path, settings: Evaluation
) -> Measurement:
    """Return how a model answers a set of questions with several thresholds.

    Parameters
    ----------
    name : str
        Name of the set.
    files : ThresholdFiles
    output : Path
        Table of answers under THRESHOLD_ANSWERED.
    settings : Evaluation
    """
    return Measurement(
        f"{name}.thresholds",
        __file__,
        inputs=[*files],
        outputs=[output],
        settings=settings.model_dump(mode="json", exclude={"models"}),
        measure=lambda model, outputs, resume: _answer(model, files, outputs, settings, resume),
    )


def list_cases(files: ThresholdFiles, settings: Evaluation) -> tuple[list[Case], pl.DataFrame]:
    """Return what is asked with several thresholds, and the rows of all questions.

    Parameters
    ----------
    files : ThresholdFiles
    settings : Evaluation
        Uses `retrieved`, `shown` and `per_threshold`.

    Raises
    ------
    InputError
        If the files are not of the same run.
    """
    others, chunks = read_table(files.others, QUESTIONS), read_table(files.chunks, CHUNKS)
    vectors, records = load_embeddings(files.vectors)[:], load_embeddings(files.embeddings)[:]
    own = read_table(files.questions, QUESTIONS)
    missing = set(own["question_id"]) - set(others["question_id"])
    if missing or len(others) != len(vectors) or len(chunks) != len(records):
        raise InputError("not the questions and records of one run", str(files.others), "make them again")
    asked = divide_questions(own, settings.shown)[1]
    few = _draw(asked, settings.per_threshold)
    corpora = read_table(files.corpora, RECORD_CORPORA)
    found = []
    for corpus, kept in [(ALL, chunks["iri"]), *_divide(corpora)]:
        names = set(few["question_id"])
        if corpus == ALL:
            # asked of the set before; none that anyone was shown
            names |= set(others["question_id"]) - set(own["question_id"])
        rows = [row for row, name in enumerate(others["question_id"]) if name in names]
        inside = chunks["iri"].is_in(kept.implode()).to_numpy()
        texts = chunks.filter(inside)["text"].to_list()
        nearest = retrieve_records(vectors[rows], records[inside], texts, settings.retrieved)
        found += [
            Case(corpus, others["question_id"][row], text) for row, text in zip(rows, nearest, strict=True)
        ]
    return found, others


def answer_cases(
    cases: Sequence[Case],
    questions: pl.DataFrame,
    known: pl.DataFrame,
    answer: Answer,
    settings: Evaluation,
) -> pl.DataFrame:
    """Return the answers to questions with several thresholds, under THRESHOLD_ANSWERED.

    Parameters
    ----------
    cases : sequence of Case
        As :func:`list_cases` returns them.
    questions : polars.DataFrame
        Under QUESTIONS.
    known : polars.DataFrame
        Under ANSWERED: answers to questions with the nearest of all records.
    answer : Answer
    settings : Evaluation
        Uses `by`.
    """
    rows = {row["question_id"]: row for row in questions.iter_rows(named=True)}
    first: dict[tuple[str, str], int] = {}
    given: dict[tuple[str, str], dict[str, object]] = {}
    of_set = {row["question_id"]: row for row in known.iter_rows(named=True)}
    wanted: list[tuple[Row, str]] = []
    for case in cases:
        key = (case.question_id, case.records)
        if case.corpus == ALL and case.question_id in of_set:
            given[key] = of_set[case.question_id]
        elif key not in given and key not in first:
            first[key] = len(wanted)
            wanted.append((rows[case.question_id], case.records))
    asked = ask(wanted, [], RAG, settings)
    answered = answer(asked).rows(named=True) if asked else []
    given |= {key: answered[place] for key, place in first.items()}
    log.info("%s prompts for %s questions with several thresholds", len(wanted), len(cases))
    return pl.DataFrame(
        [{"corpus": case.corpus, **given[case.question_id, case.records]} for case in cases],
        schema=make_empty_table(THRESHOLD_ANSWERED).schema,
    )


def _draw(questions: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return so many questions of each form and level, the first by a hash."""
    hashes = [hash_text("threshold", name) for name in questions["question_id"]]
    place = pl.col("hash").rank("ordinal").over("form", "level")
    return questions.with_columns(hash=pl.Series(hashes)).filter(place <= most).drop("hash")


def _divide(corpora: pl.DataFrame) -> list[tuple[str, pl.Series]]:
    """Return the names of corpora, and the records of each."""
    parts = corpora.partition_by("max_correlation", maintain_order=True)
    return [(f"{part['max_correlation'][0]:g}", part["iri"]) for part in parts]


def _answer(
    model: OpenModel,
    files: ThresholdFiles,
    outputs: Sequence[Path],
    settings: Evaluation,
    resume: Resume,
) -> None:
    """Ask a model; write its answers. It is quick, so a stopped job begins afresh."""
    from fathom.answering.answerer import ModelAnswerer

    cases, questions = list_cases(files, settings)
    known = read_table(files.answers, ANSWERED).filter(prompting=RAG)
    answerer = ModelAnswerer(model)
    found = answer_cases(
        cases, questions, known, lambda asked: answer_questions(answerer, asked, settings), settings
    )
    write_table(outputs[0], found, THRESHOLD_ANSWERED)
