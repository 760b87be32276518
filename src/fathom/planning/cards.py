"""GPUs that a cluster has, and which of them hold a step of a model."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from fathom.errors import InputError
from fathom.models.memory import Memory, count_needed_gpus

MB = 1_000_000
_CARD = re.compile(r"([\w.]+):(\d+)(?:x(\d+))?")


class Card(NamedTuple):
    """A model of GPU.

    Attributes
    ----------
    model : str
        Name as Slurm spells it; empty where any GPU will do.
    most : int
        GPUs of a node, which one job can have.
    """

    model: str
    megabytes: int
    most: int


UNKNOWN = Card("", 80_000, 8)
"""What is planned for where nothing is known: nodes of eight GPUs of 80 GB."""


def read_cards(text: str | None) -> list[Card]:
    """Return the GPUs that a profile names, as `MODEL:MEGABYTESxGPUS` with blanks between; smallest first."""
    found = []
    for piece in (text or "").split():
        match = _CARD.fullmatch(piece)
        if not match:
            raise InputError(
                f"{piece!r} is no model of GPU",
                "gpu_cards in the profile",
                "MODEL:MEGABYTESxGPUS for each, such as a100:40000x4: memory of a GPU, and GPUs of a node",
            )
        found.append(Card(match[1], int(match[2]), int(match[3] or 1)))
    return sorted(found, key=lambda card: (card.megabytes, card.model))


def choose_card(memory: Memory, cards: Sequence[Card], several: bool) -> tuple[Card, int] | None:
    """Return the GPUs that hold a step: as few as possible, and then the smallest; None if none do."""
    counted = [(card, count_needed_gpus(memory, card.megabytes * MB)) for card in cards]
    fitting = [(card, count) for card, count in counted if 0 < count <= (card.most if several else 1)]
    return min(fitting, key=lambda choice: choice[1], default=None)
