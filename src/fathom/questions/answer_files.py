"""A model's answers to sets of questions, from files to files, with one load of the model."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from fathom.answering.prompts import make_prompt
from fathom.benchmark.matches import load_embeddings
from fathom.config.questions import Evaluation
from fathom.errors import InputError
from fathom.io.contracts.column import Contract
from fathom.io.contracts.questions import ANSWERED, CHUNKS, QUESTIONS, RECORD_CORPORA
from fathom.io.files import hash_file, hash_text, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.resume import Resume
from fathom.models.open_model import Measurement, OpenModel
from fathom.questions.answers import answer_questions, find_limit
from fathom.questions.asked_items import ALL, RAG, PromptedQuestion, Row, ask, divide_questions, select_own
from fathom.questions.retrieval import Vectors, retrieve_records


class ThresholdFiles(NamedTuple):
    """The files of a set's other thresholds: questions of all t_d with embeddings, and records by t_c."""

    questions: Path
    vectors: Path
    corpora: Path


class QuestionFiles(NamedTuple):
    """The files of a set of questions: questions and records, each with embeddings; its other thresholds."""

    questions: Path
    vectors: Path
    chunks: Path
    embeddings: Path
    thresholds: ThresholdFiles | None = None


def plan_answers(name: str, files: QuestionFiles, output: Path, settings: Evaluation) -> Measurement:
    """Return how a model answers a set of questions, in all promptings; a report goes beside `output`."""
    return Measurement(
        f"{name}.answers",
        __file__,
        inputs=[*files[:4], *(files.thresholds or ())],
        outputs=[output, output.with_suffix(".json")],
        settings=settings.model_dump(mode="json", exclude={"models"}),
        measure=lambda model, outputs, resume: _answer(model, files, outputs, settings, resume),
    )


def prepare_questions(files: QuestionFiles, settings: Evaluation) -> list[PromptedQuestion]:
    """Return all questions that models are asked, in all promptings, then those with other thresholds.

    Raises
    ------
    InputError
        If files are not of the same run, or no question is left to ask.
    """
    records = _read_embedded(files.chunks, files.embeddings, CHUNKS)
    questions = _read_embedded(files.questions, files.vectors, QUESTIONS)
    shown, asked = divide_questions(questions.rows, settings.shown)
    if asked.is_empty():
        raise InputError("there are no questions to ask", str(files.questions), "ask for more in `first`")
    rows = _retrieve(questions.filter(asked["question_id"]), records, settings)
    examples = shown.rows(named=True)
    found = [each for prompting in settings.promptings for each in ask(rows, examples, prompting, settings)]
    if files.thresholds:
        few = _draw(asked, settings.per_threshold)["question_id"]
        found += _ask_with_thresholds(files.thresholds, questions.rows["question_id"], few, records, settings)
    return found


def _ask_with_thresholds(
    files: ThresholdFiles, own: pl.Series, few: pl.Series, records: "_Embedded", settings: Evaluation
) -> Iterator[PromptedQuestion]:
    """Yield questions with the nearest records, as [CompComp, Table 4] asks them.

    Other t_d: questions that the set itself lacks. Other t_c: a few of the set, with records that t_c keeps.
    """
    every = _read_embedded(files.questions, files.vectors, QUESTIONS)
    if not own.is_in(every.rows["question_id"].implode()).all():
        raise InputError("not the questions of one run", str(files.questions), "make them again")
    others = every.rows["question_id"].filter(~every.rows["question_id"].is_in(own.implode()))
    corpora = read_table(files.corpora, RECORD_CORPORA).partition_by("max_correlation", maintain_order=True)
    kept = [(few, f"{part['max_correlation'][0]:g}", records.filter(part["iri"])) for part in corpora]
    for names, corpus, some in [(others, ALL, records), *kept]:
        rows = _retrieve(every.filter(names), some, settings)
        yield from (each._replace(corpus=corpus) for each in ask(rows, [], RAG, settings))


def list_threshold_questions(
    questions: Path, corpora: Path, own: pl.DataFrame, settings: Evaluation
) -> list[Row]:
    """Return the questions that models are asked with other thresholds, one with each t_c as often."""
    every = read_table(questions, QUESTIONS)
    others = every.filter(~every["question_id"].is_in(own["question_id"].implode()))
    few = _draw(divide_questions(own, settings.shown)[1], settings.per_threshold)
    times = read_table(corpora, RECORD_CORPORA)["max_correlation"].n_unique()
    return [*others.rows(named=True), *few.rows(named=True) * times]


class _Embedded(NamedTuple):
    """Rows of a table with an id in the first column, and their embeddings."""

    rows: pl.DataFrame
    vectors: Vectors

    def filter(self, names: pl.Series) -> "_Embedded":
        """Return the rows of some ids."""
        wanted = self.rows.to_series(0).is_in(names.implode())
        return _Embedded(self.rows.filter(wanted), self.vectors[wanted.to_numpy()])


def _read_embedded(table: Path, array: Path, contract: Contract) -> _Embedded:
    """Return a table and its embeddings; raise `InputError` if there are more or fewer of them."""
    rows, vectors = read_table(table, contract), load_embeddings(array)[:]
    if len(rows) != len(vectors):
        what = f"{len(vectors)} embeddings for {len(rows)} rows"
        raise InputError(what, str(array), "make both in one run")
    return _Embedded(rows, vectors)


def _retrieve(questions: _Embedded, records: _Embedded, settings: Evaluation) -> list[tuple[Row, str]]:
    texts = records.rows["text"].to_list()
    nearest = retrieve_records(questions.vectors, records.vectors, texts, settings.retrieved)
    return list(zip(questions.rows.rows(named=True), nearest, strict=True))


def _draw(questions: pl.DataFrame, most: int) -> pl.DataFrame:
    hashes = [hash_text("threshold", name) for name in questions["question_id"]]
    place = pl.col("hash").rank("ordinal").over("form", "level")
    return questions.with_columns(hash=pl.Series(hashes)).filter(place <= most).drop("hash")


def _answer(
    model: OpenModel, files: QuestionFiles, outputs: Sequence[Path], settings: Evaluation, resume: Resume
) -> None:
    """Ask a model; write its answers and a report. It is quick, so a stopped job begins afresh."""
    from fathom.answering.speaking import SpeakingAnswerer, open_answerer

    asked = prepare_questions(files, settings)
    answerer = open_answerer(model)
    if isinstance(answerer, SpeakingAnswerer):
        prompts = [make_prompt(each.items[0]) for each in asked]
        answerer.announce(prompts, [find_limit(each.row["form"], settings) for each in asked])
    answers = answer_questions(answerer, asked, settings)
    write_table(outputs[0], answers, ANSWERED)
    own = select_own(answers, read_table(files.questions, QUESTIONS))
    report = {
        **model.description,
        "chat_template": model.pointer.chat_template,
        "questions_sha256": hash_file(files.questions),
        "settings": settings.model_dump(mode="json", exclude={"models"}),
        "promptings": {
            prompting: describe_answers(own.filter(prompting=prompting)) for prompting in settings.promptings
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
