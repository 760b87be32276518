"""Items asked of a model, and its answers as a table: by log-probabilities of letters, or what it writes."""

import re
from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from fathom.answering.answerer import Answerer
from fathom.answering.prompts import LETTERS, Item, Prompt, spell_letters

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


# `A` before a word is an article, but for a few words
_ARTICLE = r"(?!\s+(?!(?:and|or|is|because)\b)[a-z])"
_NAMED = r"(?:(?:answers?|options?|choices?)(?:\s+(?:is|are))?\s*:?\s*)"


def parse_letter(text: str, count: int) -> int | None:
    """Return the place of the option that an answer names, None if it names none, or several.

    These count, in this order: a letter that the answer begins with, alone or before a mark; a letter after
    `answer`, `option` or `choice`; the only letter that stands by itself. `A` before most words is an
    article.
    """
    plain = re.sub(r"[*_`\"']", "", text).strip()
    letters = LETTERS[:count]
    first = re.match(rf"[(\[]?([{letters}{letters.lower()}])(?:[)\].:,;]|\s*$|\s*\n)", plain)
    first = first or re.match(rf"([{letters[1:] or '!'}])(?![\w+#-])", plain)
    if first:
        return LETTERS.index(first[1].upper())
    both = rf"(?!\s+(?:and|or)\s+[{letters}]\b)"
    named = set(re.findall(rf"(?i:{_NAMED})[(\[]?([{letters}])(?![\w+#-]){_ARTICLE}{both}", plain))
    alone = set(re.findall(rf"(?<![\w-])([{letters}])(?![\w+#-]){_ARTICLE}", plain))
    for found in (named, alone):
        if found:
            return LETTERS.index(found.pop()) if len(found) == 1 else None
    return None


def parse_letters(text: str, count: int) -> tuple[int, ...]:
    """Return the places of all options that the first line of an answer names, sorted."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    found = re.findall(rf"(?<![\w-])([{LETTERS[:count]}])(?![\w+#-]){_ARTICLE}", line.replace("*", ""))
    return tuple(sorted({LETTERS.index(letter) for letter in found}))
