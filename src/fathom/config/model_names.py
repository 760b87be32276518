"""Names of models, `base+domain.text@stageN@seedN@stepN@chat`: composed and parsed only here."""

import re
from dataclasses import dataclass
from typing import Literal, Self

TrainingText = Literal["as-is", "terms-exchanged", "terms-only"]
"""What an adaptation reads: a domain's text, or a control made from it."""
CONTROLS: tuple[TrainingText, ...] = ("terms-exchanged", "terms-only")
"""Texts made from a domain's own."""

_NUMBERS = "".join(rf"(?:@{key}(?P<{key}>0|-?[1-9][0-9]*))?" for key in ("stage", "seed", "step"))
_FORM = re.compile(rf"(?P<base>[^+@]+)(?P<path>(?:\+[^+@]+)*){_NUMBERS}(?P<chat>@chat)?")


@dataclass(frozen=True)
class ModelName:
    """The name of a model, which says how the model was made.

    `path`: domains that it is adapted to, in order; for continual pretraining, the name of the study.
    """

    base: str  # the model that its training starts from; for a model that is not trained here, its whole name
    path: tuple[str, ...] = ()
    text: TrainingText = "as-is"  # what is made from the text of these domains
    stage: int | None = None  # stage of continual pretraining
    seed: int | None = None  # seed of the training; None for the first one
    step: int | None = None  # step of a checkpoint in the last stage; None at its end
    chat: bool = False  # whether the model is asked inside its chat template

    @classmethod
    def parse(cls, name: str) -> Self:
        """Parse a name; one of another form is a base as a whole."""
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
