"""Names of models, `base+domain.text@stageN@seedN@stepN@chat`: made and taken apart here alone.

Tables have the whole names; what people read has short forms.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

TrainingText = Literal["as-is", "terms-exchanged", "terms-only"]
"""What an adaptation reads: a domain's text, or a control made of it."""
CONTROLS: tuple[TrainingText, ...] = ("terms-exchanged", "terms-only")
"""Texts that are made of a domain's own."""

_NUMBERS = "".join(rf"(?:@{key}(?P<{key}>0|-?[1-9][0-9]*))?" for key in ("stage", "seed", "step"))
_FORM = re.compile(rf"(?P<base>[^+@]+)(?P<path>(?:\+[^+@]+)*){_NUMBERS}(?P<chat>@chat)?")


@dataclass(frozen=True)
class ModelName:
    """The name of a model, which says where the model comes from.

    Attributes
    ----------
    base : str
        The model that its training starts from; of a model that nobody trains further, its whole name.
    path : tuple of str
        Domains that it is adapted to, one after the other; of continual pretraining, its name.
    text : {"as-is", "terms-exchanged", "terms-only"}
        What is made of the text of these domains.
    stage : int or None
        Stage of continual pretraining.
    seed : int or None
        Seed of the training; None for the first one.
    step : int or None
        Step of a checkpoint in the last stage; None for its end.
    chat : bool
        Whether the model is asked inside its chat template.
    """

    base: str
    path: tuple[str, ...] = ()
    text: TrainingText = "as-is"
    stage: int | None = None
    seed: int | None = None
    step: int | None = None
    chat: bool = False

    @classmethod
    def parse(cls, name: str) -> Self:
        """Take a name apart; one of another form is a base as a whole."""
        found = _FORM.fullmatch(name)
        if not found:
            return cls(name)
        path = found["path"].split("+")[1:]
        ends = (each for each in CONTROLS if path and all(part.endswith(f".{each}") for part in path))
        text: TrainingText = next(ends, "as-is")
        path = [part.removesuffix(f".{text}") for part in path] if text != "as-is" else path
        stage, seed, step = (int(found[key]) if found[key] else None for key in ("stage", "seed", "step"))
        return cls(found["base"], tuple(path), text, stage, seed, step, bool(found["chat"]))

    def __str__(self) -> str:
        """Return the name as it is written in files and tables."""
        return f"{self.plain}@chat" if self.chat else self.plain

    @property
    def plain(self) -> str:
        """The name of the model outside its chat template, which has the same weights."""
        ending = "" if self.text == "as-is" else f".{self.text}"
        numbers = {"stage": self.stage, "seed": self.seed, "step": self.step}
        marks = (f"@{key}{number}" for key, number in numbers.items() if number is not None)
        return "".join([self.base, *(f"+{part}{ending}" for part in self.path), *marks])


_FORMAT = re.compile(
    r"[-.](?:i?q\d\w*|b?f(?:p|loat)?\d+|gguf|gptq|awq|mxfp\d|int\d|\d+bit|hf)$", re.IGNORECASE
)
_TUNED = re.compile(r"-(?:instruct|chat|it)(?=-|$)", re.IGNORECASE)
_CONTROLS = {"terms-exchanged": " with its terms exchanged", "terms-only": ", its terms alone"}


def shorten_names(names: Iterable[str]) -> dict[str, str]:
    """Return what models are called in sentences and pictures: no two of them the same.

    Of a base the organisation, the number format and what says that it is tuned for chat go, unless another
    base would be called so, too; what a model was adapted to is said in words.

    Examples
    --------
    >>> list(shorten_names(["SmolLM2-135M-Instruct-Q4_1"]).values())
    ['SmolLM2-135M']
    >>> list(shorten_names(["a/toy-gpt2+law+art@seed2"]).values())
    ['toy-gpt2 adapted to law, then art (seed 2)']
    >>> list(shorten_names(["Qwen2-7B", "Qwen2-7B-Instruct"]).values())
    ['Qwen2-7B', 'Qwen2-7B-Instruct']
    """
    parsed = {name: ModelName.parse(name) for name in names}
    bases = _shorten_bases({each.base for each in parsed.values()})
    short = {name: _describe(each, bases[each.base]) for name, each in parsed.items()}
    again = Counter(short.values())
    return {name: text if again[text] == 1 else name for name, text in short.items()}


def _shorten_bases(bases: Iterable[str]) -> dict[str, str]:
    """Return the shortest form of each base that no other one has."""
    forms = {base: _list_forms(base) for base in bases}
    taken = Counter(form for each in forms.values() for form in set(each))
    return {base: next((form for form in each if taken[form] == 1), base) for base, each in forms.items()}


def _list_forms(base: str) -> list[str]:
    """Return forms of a base, the shortest first."""
    plain = own = base.rpartition("/")[2]
    while found := _FORMAT.search(plain):
        plain = plain[: found.start()]
    return [_TUNED.sub("", plain) or plain, plain or own, own]


def _describe(name: ModelName, base: str) -> str:
    """Return a name in words, with a short form of its base."""
    text = base
    if name.path:
        text += f" adapted to {', then '.join(name.path)}{_CONTROLS.get(name.text, '')}"
    numbers = {"stage": name.stage, "seed": name.seed, "step": name.step}
    told = [f"{key} {number}" for key, number in numbers.items() if number is not None]
    told += ["chat template"] if name.chat else []
    return f"{text} ({', '.join(told)})" if told else text
