"""Prompts of questions: the question with its options, examples, and a style.

Questions look like MMLU's [MMLU, Fig. 1]: options by letter, one per line, and `Answer:` as the last line
of plain text. In a chat the model's turn replaces that line.
"""

from collections.abc import Sequence
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


CUE = "\nAnswer:"
"""End of plain text, and cue before the answer of every example."""


class Prompt(NamedTuple):
    """The parts of a prompt; the answerer decides how many examples fit, and whether it is a chat.

    Attributes
    ----------
    question : str
        The user's message in a chat, or the end of plain text.
    cue : str
        What follows the question in plain text, and in a chat with examples.
    examples : tuple of str
        Questions with answers, each with the blank line after it.
    head : str
        What stands before the examples.
    system : str
        System message of a chat, or the beginning of plain text.
    """

    question: str
    cue: str = CUE
    examples: tuple[str, ...] = ()
    head: str = ""
    system: str = ""

    def render(self, chat: bool) -> str:
        """Return the whole text; in a chat, the user's message."""
        cue = "" if chat and not self.examples else self.cue
        system = "" if chat or not self.system else f"{self.system}\n\n"
        return f"{system}{self.head}{''.join(self.examples)}{self.question}{cue}"


class Style(NamedTuple):
    """A way of asking [RawCorpora, Table 6]: two messages with places for `{subject}` and `{question}`."""

    system: str
    user: str


PLAIN = Style("", "{question}")
"""Only the question."""

EXAM = "The following are multiple choice questions (with answers) about {subject}.\n\n"
"""First line before examples, as in MMLU's own evaluation."""


def make_prompt(item: Item, style: Style = PLAIN, head: str = "") -> Prompt:
    """Return the prompt of a question: its examples, then the question in some style.

    `head` stands before the examples, or before the question alone; `{subject}` is filled in.
    """
    return Prompt(
        _fill(style.user, item),
        examples=tuple(f"{show(each)}{CUE} {tell_answer(each)}\n\n" for each in item.examples),
        head=head.replace("{subject}", item.subject),
        system=_fill(style.system, item),
    )


def show(item: Item) -> str:
    """Return a question with its context and its options, one per line."""
    lines = [f"{LETTERS[place]}. {option}" for place, option in enumerate(item.options)]
    return "\n".join([*([item.context] if item.context else []), item.question, *lines])


def tell_answer(item: Item) -> str:
    """Return the answer of an example: its letter or letters, or the words of an open question."""
    return ", ".join(item.right_letters) if item.options else item.answer


def spell_letters(item: Item) -> Sequence[str]:
    """Return the letters of the options as continuations of a prompt."""
    return [f" {letter}" for letter in item.letters]


def _fill(text: str, item: Item) -> str:
    """Return a text with subject and question; a question that holds braces stays as it is."""
    before, gap, after = text.partition("{question}")
    parts = [part.replace("{subject}", item.subject) for part in (before, after)]
    return parts[0] + (show(item) if gap else "") + parts[1]
