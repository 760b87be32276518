"""Questions as models are asked them: options, which of them are right, examples, the text around them."""

from typing import NamedTuple

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Names of options, in the order in which they are shown."""


class Item(NamedTuple):
    """A question.

    Attributes
    ----------
    item_id : str
        Unique among the questions that are asked together.
    options : tuple of str
        Answers to choose from, in the order in which they are shown; none for an open question.
    right : tuple of int
        Places of the right options, from 0.
    answer : str
        The answer in words, for an open question.
    context : str
        Text that stands before the question, such as records that help to answer it.
    examples : tuple of Item
        Questions with answers that are shown before it.
    """

    item_id: str
    question: str
    options: tuple[str, ...] = ()
    right: tuple[int, ...] = ()
    answer: str = ""
    subject: str = ""
    context: str = ""
    examples: tuple["Item", ...] = ()

    @property
    def letters(self) -> str:
        """Letters of the options."""
        return LETTERS[: len(self.options)]

    @property
    def right_letters(self) -> str:
        """Letters of the right options."""
        return "".join(LETTERS[place] for place in self.right)


def reorder(item: Item, order: tuple[int, ...]) -> Item:
    """Return an item with its options in another order; examples keep theirs.

    `order` gives, for each place, which of the item's options stands there.
    """
    options = tuple(item.options[old] for old in order)
    right = tuple(place for place, old in enumerate(order) if old in item.right)
    return item._replace(options=options, right=right)
