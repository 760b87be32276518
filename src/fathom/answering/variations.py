"""The same questions asked in other ways: examples, order of options, style [RawCorpora, App. A.7]."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from fathom.answering.prompts import EXAM, LETTERS, PLAIN, Item, Prompt, Style, make_prompt, reorder
from fathom.config.choices import STANDARD, Choices
from fathom.io.files import hash_text

AS_SHIPPED = "as-shipped"
"""The questions as their files have them."""

ORDERS = "orders"
"""The factor of all cyclic orders."""


class Variation(NamedTuple):
    """A way of asking.

    `factor`: what is varied: examples, options, styles or orders; of what others are compared with, nothing.
    `baseline`: name of the variation that it is compared with, of a baseline itself.
    """

    name: str
    factor: str
    baseline: str


def list_variations(settings: Choices, chat: bool, styles: Sequence[str], options: int) -> list[Variation]:
    """Return all ways of asking a model, baselines first."""
    letters, shuffles = LETTERS[:options], range(1, settings.shuffles + 1)
    factors = settings.chat_factors if chat else settings.factors
    found = [Variation(AS_SHIPPED, "", AS_SHIPPED)]
    if "examples" in factors and settings.shots:
        names = [f"examples-{letter}" for letter in letters]
        names += [f"examples-shuffled-{number}" for number in shuffles]
        found += [Variation(name, "examples", AS_SHIPPED) for name in names]
    if "options" in factors:
        names = [f"options-shuffled-{number}" for number in shuffles]
        names += [f"right-{letter}" for letter in letters]
        found += [Variation(name, "options", AS_SHIPPED) for name in names]
    if "styles" in factors:
        # in a chat, the questions as shipped are asked in the standard style
        baseline = AS_SHIPPED if chat else f"style-{STANDARD}"
        found += [] if chat else [Variation(baseline, "", baseline)]
        found += [Variation(f"style-{name}", "styles", baseline) for name in styles if name != STANDARD]
    if settings.orders:
        found += [Variation(f"order-{number}", ORDERS, AS_SHIPPED) for number in range(1, options)]
    return found


class VariedQuestion(NamedTuple):
    """A question, options in the order in which they are shown, and the shipped option at each place."""

    item: Item
    prompt: Prompt
    order: tuple[int, ...]


def vary(
    item: Item, variation: Variation, chat: bool, styles: Mapping[str, Style], settings: Choices
) -> VariedQuestion:
    """Return a question as a variation asks it.

    Outside a chat, examples stand before it, but not where the style is varied; in a chat there are none.
    """
    seed = settings.seed
    kind, _, rest = variation.name.partition("-")
    if chat or kind == "style":
        item = item._replace(examples=())
    order = tuple(range(len(item.options)))
    if kind == "examples":
        item = item._replace(
            examples=tuple(reorder(each, _place(each, rest, seed)) for each in item.examples)
        )
        if settings.exchange_biased and rest in item.right_letters:
            order = _exchange_right(item, seed)
    elif kind in ("options", "right"):
        order = _place(item, rest, seed)
    elif kind == "order":
        order = tuple((place + int(rest)) % len(order) for place in order)
    shown = reorder(item, order)
    style = styles[rest if kind == "style" else STANDARD] if chat or kind == "style" else PLAIN
    return VariedQuestion(shown, make_prompt(shown, style, "" if style is not PLAIN else EXAM), order)


def _place(item: Item, rest: str, seed: int) -> tuple[int, ...]:
    """Return an order of options: the right one swapped to a letter, or shuffled by a hash."""
    count = len(item.options)
    if rest in LETTERS[:count]:
        order, place, right = list(range(count)), LETTERS.index(rest), item.right[0]
        order[place], order[right] = order[right], order[place]
        return tuple(order)
    return _shuffle(count, rest, str(seed), item.item_id)


def _exchange_right(item: Item, seed: int) -> tuple[int, ...]:
    """Return the order in which the right option and a wrong one, which a hash draws, are exchanged."""
    (right,) = item.right
    order = list(range(len(item.options)))
    other = next(
        place for place in _shuffle(len(order), "exchange", str(seed), item.item_id) if place != right
    )
    order[right], order[other] = other, right
    return tuple(order)


@cache
def _shuffle(count: int, *key: str) -> tuple[int, ...]:
    return tuple(sorted(range(count), key=lambda option: hash_text(*key, str(option))))
