"""A model's answers to sets of questions, from files to files, with one load of the model.

A question is answered by likelihood, or by what the model writes [CompComp, Sec. 5.1].
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from fathom.answering.answerer import Answerer, parse_letter, parse_letters
from fathom.answering.prompts import Prompt, make_prompt, spell_letters
from fathom.benchmark.matches import load_embeddings
from fathom.config.questions import OPEN, OPTIONS, Evaluation
from fathom.errors import InputError
from fathom.io.contracts.column import Contract
from fathom.io.contracts.questions import ANSWERED, CHUNKS, QUESTIONS, RECORD_CORPORA
from fathom.io.files import hash_file, hash_text, write_json
from fathom.io.names import show_count
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.resume import Resume
from fathom.models.open_model import Measurement, OpenModel
from fathom.questions.asked_items import (
    ALL,
    RAG,
    SEVERAL,
    PromptedQuestion,
    Row,
    Vectors,
    ask,
    divide_questions,
    retrieve_records,
    select_own,
)
from fathom.questions.posing import NO, YES


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
    """Return the measurement of a model's answers in all promptings; a report goes beside `output`."""
    return Measurement(
        f"{name}.answers",
        __file__,
        inputs=[*files[:4], *(files.thresholds or ())],
        outputs=[output, output.with_suffix(".json")],
        settings=settings.model_dump(mode="json", exclude={"models"}),
        measure=lambda model, outputs, resume: _answer(model, files, outputs, settings, resume),
    )


def prepare_questions(files: QuestionFiles, settings: Evaluation) -> list[PromptedQuestion]:
    """Return all questions for models, in all promptings, then those with other thresholds.

    Raise `InputError` if files are not of the same run, or no question is left to ask.
    """
    records = _read_embedded(files.chunks, files.embeddings, CHUNKS)
    questions = _read_embedded(files.questions, files.vectors, QUESTIONS)
    shown, asked = divide_questions(questions.rows, settings.shown)
    if asked.is_empty():
        raise InputError("no questions to ask", str(files.questions), "ask for more in `first`")
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
        raise InputError("the questions are not from one run", str(files.questions), "make them again")
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
    rows: pl.DataFrame
    vectors: Vectors

    def filter(self, names: pl.Series) -> "_Embedded":
        """Return the rows of some ids."""
        wanted = self.rows.to_series(0).is_in(names.implode())
        return _Embedded(self.rows.filter(wanted), self.vectors[wanted.to_numpy()])


def _read_embedded(table: Path, array: Path, contract: Contract) -> _Embedded:
    rows, vectors = read_table(table, contract), load_embeddings(array)[:]
    if len(rows) != len(vectors):
        what = f"{show_count(len(vectors), 'embedding')} for {show_count(len(rows), 'row')}"
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
    """Ask a model; write its answers and a report. This is quick, so a stopped job starts again."""
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
    """Return the number of answers in one prompting, and what prompts lost to fit the context."""
    shots = answers["shots"].to_list() or [0]
    return {
        "questions": len(answers),
        "unanswered": int((~answers["answered"]).sum()),
        "prompts_cut": int((answers["cut"] > 0).sum()),
        "fewest_shots": min(shots),
        "most_shots": max(shots),
    }


_LETTER_TOKENS, _LETTERS_TOKENS = 8, 24
"""Longest written answers if one letter, or several, are asked for."""
_YES_OR_NO = [f" {YES}", f" {NO}"]
_WORD = re.compile(rf"\W*({YES}|{NO})\b", re.IGNORECASE)


def answer_questions(
    answerer: Answerer, asked: Sequence[PromptedQuestion], settings: Evaluation
) -> pl.DataFrame:
    """Ask a model questions, equal prompts once; return its answers under ANSWERED, in their order."""
    every, asked = asked, list({each.prompt: each for each in asked}.values())
    prompts = [[make_prompt(item) for item in each.items] for each in asked]
    chosen: dict[int, list[bool]] = {}
    texts: dict[int, str] = {}
    in_writing = [place for place, each in enumerate(asked) if is_written(each, settings)]
    by_likelihood = [place for place, each in enumerate(asked) if not is_written(each, settings)]
    for place, logs in zip(by_likelihood, _score(answerer, asked, prompts, by_likelihood), strict=True):
        chosen[place] = _choose(asked[place], logs)
    for place, text in zip(in_writing, _write(answerer, asked, prompts, in_writing, settings), strict=True):
        texts[place], chosen[place] = text, parse_answer(asked[place].row["form"], text)
    given = {}
    for place, each in enumerate(asked):
        fitted = answerer.fit(prompts[place])
        given[each.prompt] = {
            "question_id": each.row["question_id"],
            "prompting": each.prompting,
            "chosen": chosen[place],
            "text": texts.get(place, ""),
            "answered": any(chosen[place]) or (not chosen[place] and texts[place] != ""),
            "shots": min(len(one.prompt.examples) for one in fitted),
            "cut": max(one.cut for one in fitted),
        }
    rows = [{**given[each.prompt], "corpus": each.corpus} for each in every]
    return pl.DataFrame(rows, schema=make_empty_table(ANSWERED).schema)


def is_written(asked: PromptedQuestion, settings: Evaluation) -> bool:
    """Say whether a question is answered in writing."""
    return settings.by == "text" or asked.row["form"] == OPEN


def find_limit(form: str, settings: Evaluation) -> int:
    """Return how many tokens an answer in writing may have."""
    return {OPEN: settings.max_tokens, SEVERAL: _LETTERS_TOKENS}.get(form, _LETTER_TOKENS)


def parse_answer(form: str, text: str) -> list[bool]:
    """Return which options an answer in writing chooses: none if it cannot be understood."""
    if form == OPEN:
        return []
    count = OPTIONS[form]
    if form == "binary":
        word = _WORD.match(text)
        return [word[1].lower() == each for each in (YES, NO)] if word else [False, False]
    letter = parse_letter(text, count) if form != SEVERAL else None
    places = parse_letters(text, count) if form == SEVERAL else () if letter is None else (letter,)
    return [place in places for place in range(count)]


def _score(
    answerer: Answerer,
    asked: Sequence[PromptedQuestion],
    prompts: Sequence[list[Prompt]],
    places: Sequence[int],
) -> list[list[Any]]:
    """Return the log-probabilities of the answers to each item of some questions, all in one call."""
    flat = [prompt for place in places for prompt in prompts[place]]
    answers = [
        spell_letters(item) if item.options else _YES_OR_NO for place in places for item in asked[place].items
    ]
    logs = iter(answerer.score(flat, answers) if flat else [])
    return [[next(logs) for _ in asked[place].items] for place in places]


def _choose(asked: PromptedQuestion, logs: Sequence[Any]) -> list[bool]:
    """Return the options that are more likely: the letter, or yes for the question or for each option.

    At least one of several is right, so where no is likelier for all, the one nearest to yes is chosen.
    """
    if asked.row["form"] == SEVERAL:
        odds = [float(each[0] - each[1]) for each in logs]
        least = min(0.0, max(odds))
        return [each > 0 or each == least for each in odds]
    best = int(logs[0].argmax())
    return [place == best for place in range(len(logs[0]))]


def _write(
    answerer: Answerer,
    asked: Sequence[PromptedQuestion],
    prompts: Sequence[list[Prompt]],
    places: Sequence[int],
    settings: Evaluation,
) -> list[str]:
    """Return what is written after the only item of some questions, in one call for each length."""
    found: dict[int, str] = {}
    for length in sorted({settings.max_tokens, _LETTER_TOKENS, _LETTERS_TOKENS}):
        some = [place for place in places if find_limit(asked[place].row["form"], settings) == length]
        if some:
            texts = answerer.generate([prompts[place][0] for place in some], length, "\n")
            found.update(zip(some, texts, strict=True))
    return [found[place].strip() for place in places]
