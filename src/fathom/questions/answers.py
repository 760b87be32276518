"""The answers of a model to questions: by likelihood, or by what it writes [CompComp, Sec. 5.1]."""

import re
from collections.abc import Sequence
from typing import Any

import polars as pl

from fathom.answering.answerer import Answerer
from fathom.answering.asking import parse_letter, parse_letters
from fathom.answering.prompts import Prompt, make_prompt, spell_letters
from fathom.config.questions import OPEN, OPTIONS, Evaluation
from fathom.io.contracts.questions import ANSWERED
from fathom.io.tables import make_empty_table
from fathom.questions.asked_items import SEVERAL, PromptedQuestion
from fathom.questions.posing import NO, YES

_LETTER_TOKENS, _LETTERS_TOKENS = 8, 24
"""Longest answers in writing where one letter, or several, are asked for."""
_YES_OR_NO = [f" {YES}", f" {NO}"]
_WORD = re.compile(rf"\W*({YES}|{NO})\b", re.IGNORECASE)


def answer_questions(
    answerer: Answerer, asked: Sequence[PromptedQuestion], settings: Evaluation
) -> pl.DataFrame:
    """Ask a model questions, equal prompts once; return its answers under ANSWERED, in their order.

    Parameters
    ----------
    answerer : Answerer
    asked : sequence of PromptedQuestion
    settings : Evaluation
        Uses `by` and `max_tokens`.
    """
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
    """Return which options an answer in writing chooses: none if it cannot be understood.

    Parameters
    ----------
    form : str
        Of an open question, there are no options.
    text : str
    """
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
