"""Sentences of a page: how models by knowledge, by rank and by score are spoken of."""

from collections.abc import Callable, Sequence
from string import Formatter
from typing import NamedTuple

from fathom.explorer.run import Order

_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip


class Piece(NamedTuple):
    """A piece of a sentence; names of models and domains are set off."""

    text: str
    name: bool = False


Sentence = list[Piece]


def spell_number(number: int) -> str:
    """Return a number as a word up to twelve, in digits beyond."""
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def join_names(names: Sequence[str]) -> Sentence:
    """Return names as `A`, `A and B`, or `A, B and C`."""
    pieces = []
    for place, name in enumerate(names):
        if place:
            pieces.append(Piece(" and " if place == len(names) - 1 else ", "))
        pieces.append(Piece(name, name=True))
    return pieces


def to_text(sentence: Sentence) -> str:
    """Return a sentence without marks."""
    return "".join(piece.text for piece in sentence)


def compose(template: str, **parts: Sentence) -> Sentence:
    """Return a template with each field replaced by a sentence; fields that it lacks are left out."""
    pieces: Sentence = []
    for text, field, _, _ in Formatter().parse(template):
        pieces += [Piece(text)] if text else []
        pieces += parts[field] if field else []
    return pieces


class Words(NamedTuple):
    """Templates of the answer, by what is known of the models.

    Attributes
    ----------
    nothing, only : str
        No model has a value; one has.
    single, uncompared : str
        There is one pair, or item; models are not compared.
    one, every : str
        One model is best; several are and do not differ; no two of all differ.
    some : str
        One leads, and those that are not apart from it differ among each other.
    name : callable
        Returns what a further order is called, given it and the label of the variant.
    """

    nothing: str
    only: str
    single: str
    uncompared: str
    one: str
    several: str
    every: str
    some: str
    tied: str
    name: Callable[[Order, str], str]


def _name_ranks(order: Order, variant: str) -> str:
    """Return such as `the geometric mean of TF ranks`."""
    return f"the {order.statistic.label} of {variant} {order.metric.label.replace('rank', 'ranks')}"


_OPEN = "; whether the models really differ cannot be said"
_FIRST = "Of {count} models, {first} {ranks} first on {title}"
_EVERY = "The {count} models are not significantly different on {title}; {first} "
_NOT_FROM_IT = "{others} {verb} not significantly different from it."
_OF_RANKS = Words(
    nothing="No model has been ranked on {title} yet.",
    only="{models} is the only model that was scored on {title}: its {label} is {value}.",
    single=f"{_FIRST}{_OPEN} with a single pair.",
    uncompared=f"{_FIRST}{_OPEN} before they are compared.",
    one="Of {count} models, {first} knows {title} best.",
    several="Of {count} models, {leaders} know {title} best; they are not significantly different.",
    every=f"{_EVERY}{{ranks}} first.",
    some=f"{_FIRST}; {_NOT_FROM_IT}",
    tied="The {count} models have the same {label} on {title}: {value}.",
    name=_name_ranks,
)


def _speak_of_scores(best: str) -> Words:
    """Return the words for scores whose best is the highest, or the lowest."""
    first = f"Of {{count}} models, {{first}} {{has}} the {best} {{label}} on {{title}}"
    return Words(
        nothing="No model has a score on {title}.",
        only=_OF_RANKS.only,
        single=f"{first}{_OPEN} with a single item.",
        uncompared=f"{first}{_OPEN} before they are compared.",
        one=f"{first}.",
        several=f"Of {{count}} models, {{leaders}} have the {best} {{label}} on {{title}}; they are not"
        " significantly different.",
        every=f"{_EVERY}{{has}} the {best} {{label}}.",
        some=f"{first}; {_NOT_FROM_IT}",
        tied=_OF_RANKS.tied,
        name=lambda order, _: order.label,
    )


_LEADS = "Of {count} models, {first} {leads} on {title} with {value}"
_OF_KNOWLEDGE = Words(
    nothing="No model has been scored on {title} yet.",
    only="{models} is the only model that was scored on {title}, with {value}.",
    single=f"{_LEADS}{_OPEN} with a single pair.",
    uncompared=f"{_LEADS}{_OPEN} before they are compared.",
    one="Of {count} models, {first} knows {title} best: {value}.",
    several=_OF_RANKS.several,
    every=f"{_EVERY}{{leads}} with {{value}}.",
    some=f"{_LEADS}; {_NOT_FROM_IT}",
    tied="The {count} models know as much of {title}: {value}.",
    name=lambda _, variant: f"knowledge of {variant} targets",
)
NO_KNOWLEDGE = "No model shows knowledge of {title}."
"""Where no interval lies above 0."""
ONLY_WITHOUT = "{models} is the only model that was scored on {title}, and shows no knowledge of it: {why}."
FIRST_WITHOUT = (
    "Of {count} models, only {others} {show} knowledge of {title}; {first} has the highest mean, {value},"
    " but {why}."
)
"""Where the interval of the first model holds 0 and that of another one does not."""
WITHOUT = "{models} {show} no knowledge of it: {why}."
"""The sentence after an answer, on the models whose intervals hold 0."""


_OF_SCORES = {low: _speak_of_scores("lowest" if low else "highest") for low in (False, True)}


def choose_words(order: Order) -> Words:
    """Return the templates for models in an order."""
    if order.is_knowledge:
        return _OF_KNOWLEDGE
    return _OF_RANKS if order.metric.is_factor else _OF_SCORES[order.metric.low_is_best]
