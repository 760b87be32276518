"""Models made by hand, which answer by a rule that variations must find out, and questions for them."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from fathom.answering.answerer import Fitted
from fathom.answering.choice_files import make_items
from fathom.answering.prompts import Prompt, Style
from fathom.answering.variation_files import answer_choices
from fathom.config.choices import Choices
from fathom.io.files import hash_text

STYLES = {"standard": Style("Reply with a letter.", "On {subject}:\n{question}"),
          "minimal": Style("", "{question}"), "shouting": Style("ANSWER!", "{question}\nNOW!")}  # fmt: skip
_OPTION = re.compile(r"^[A-Z]\. (.*)$", re.MULTILINE)


class Planted:
    """Answers as a rule says that is given the question, its options as shown, and the whole prompt."""

    def __init__(self, rule: Callable[[str, Sequence[str], Prompt], int]) -> None:
        self._rule = rule

    def fit(self, prompts: Sequence[Prompt]) -> list[Fitted]:
        return [Fitted(prompt) for prompt in prompts]

    def score(self, prompts: Sequence[Prompt], answers: Sequence[Sequence[str]]) -> list[np.ndarray]:
        places = [self._choose(prompt) for prompt in prompts]
        return [np.where(np.arange(len(some)) == place, -0.1, -5.0)
                for place, some in zip(places, answers, strict=True)]  # fmt: skip

    def generate(self, prompts: Sequence[Prompt], max_tokens: int, until: str = "") -> list[str]:
        return [f" {'ABCD'[self._choose(prompt)]}\n" for prompt in prompts]

    def _choose(self, prompt: Prompt) -> int:
        shown = re.sub(r"^On .*:\n", "", prompt.question)
        options = _OPTION.findall(shown)
        return self._rule(shown.partition("\nA. ")[0], options, prompt)


def _guess(question: str, options: Sequence[str], prompt: Prompt) -> int:
    return int(hash_text("by chance", question, *options)[:8], 16) % 4


def make_planted(known: dict[str, str]) -> dict[str, Planted]:
    """Return the planted models; `known` maps questions to right options."""
    return {
        "always-b": Planted(lambda question, options, prompt: 1),
        "longest": Planted(
            # equally long ones by their text, for the first of them would favour a letter
            lambda question, options, prompt: options.index(max(options, key=lambda text: (len(text), text)))
        ),
        "knows": Planted(lambda question, options, prompt: options.index(known[question])),
        "guesses": Planted(_guess),
        "follows": Planted(
            lambda question, options, prompt: (
                "ABCD".index(prompt.examples[-1].strip()[-1])
                if prompt.examples
                else _guess(question, options, prompt)
            )
        ),
    }


def make_table(count: int = 60) -> pl.DataFrame:
    """Return questions under CHOICE_QUESTIONS; in 2 of 5 the right option is the longest."""
    rows = []
    for number in range(count + 5):
        sizes = sorted(range(4), key=lambda place: hash_text("size", str(number), str(place)))
        options = [f"option {number} {place} " + "x" * (3 * size + 1) for place, size in enumerate(sizes)]
        places = sorted(range(4), key=lambda place: -len(options[place]))
        right = places[0] if number % 5 < 2 else places[1 + number % 3]
        split = "dev" if number < 5 else "test"
        rows.append((f"item{number:03d}", split, f"What is number {number}?", options, right))
    return pl.DataFrame(rows, ["item_id", "split", "question", "options", "right"], orient="row")


def answer_table(
    table: pl.DataFrame, settings: Choices, chat: bool, names: Sequence[str] = ()
) -> dict[str, pl.DataFrame]:
    """Return what the planted models answer, by name."""
    items = make_items(table, "numbers", 0 if chat else settings.shots, "numbers")
    models = make_planted({item.question: item.options[item.right[0]] for item in items})
    return {name: answer_choices(model, items, settings, STYLES, chat) for name, model in models.items()
            if name in names or not names}  # fmt: skip
