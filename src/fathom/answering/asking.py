"""Items asked of a model, and its answers as a table: by log-probabilities of letters, or what it writes."""

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from fathom.answering.answerer import Answerer
from fathom.answering.items import Item
from fathom.answering.letters import parse_letter
from fathom.answering.prompts import Prompt, spell_letters

Way = Literal["letter", "text"]
"""How an answer is found: the letter of the largest log-probability, or the letter in what is written."""

WAYS: tuple[Way, ...] = ("letter", "text")
LETTER_TOKENS = 8
"""Tokens that are written where a letter is asked for."""

_SCHEMA: dict[str, Any] = {
    "item_id": pl.String,
    "way": pl.String,
    "chosen": pl.Int32,
    "is_right": pl.Boolean,
    "log_probabilities": pl.List(pl.Float64),
    "text": pl.String,
    "shots": pl.Int32,
    "cut": pl.Int32,
}


def ask_items(
    answerer: Answerer, items: Sequence[Item], prompts: Sequence[Prompt], ways: Sequence[Way] = WAYS
) -> pl.DataFrame:
    """Ask questions with options, and return the answers.

    Returns
    -------
    DataFrame
        Way by way in the order of the items: item_id; way; chosen, the place of the chosen option, -1 where
        no letter is found; is_right; log_probabilities of the letters in nats, empty for text; text, what
        was written, empty for letters; shots, the examples that fitted; cut, tokens that the question lost.
    """
    fitted = answerer.fit(prompts)
    rows: list[tuple[Any, ...]] = []
    for way in ways:
        answers = _score(answerer, items, prompts) if way == "letter" else _write(answerer, items, prompts)
        for item, read, (chosen, logs, text) in zip(items, fitted, answers, strict=True):
            is_right = chosen in item.right
            rows.append(
                (item.item_id, way, chosen, is_right, logs, text, len(read.prompt.examples), read.cut)
            )
    columns = zip(*rows, strict=True) if rows else [[] for _ in _SCHEMA]
    return pl.DataFrame(
        [
            pl.Series(name, list(values), kind)
            for (name, kind), values in zip(_SCHEMA.items(), columns, strict=True)
        ]
    )


Answer = tuple[int, list[float], str]


def _score(answerer: Answerer, items: Sequence[Item], prompts: Sequence[Prompt]) -> list[Answer]:
    """Return the most likely letter of each item, the first of equal ones."""
    found = answerer.score(prompts, [spell_letters(item) for item in items])
    return [(int(logs.argmax()), logs.tolist(), "") for logs in found]


def _write(answerer: Answerer, items: Sequence[Item], prompts: Sequence[Prompt]) -> list[Answer]:
    texts = answerer.generate(prompts, LETTER_TOKENS)
    letters = [parse_letter(text, len(item.options)) for text, item in zip(texts, items, strict=True)]
    return [(-1 if letter is None else letter, [], text) for letter, text in zip(letters, texts, strict=True)]
