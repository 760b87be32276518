"""Which models a run has made from scratch, and which came to it with their weights."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fathom.config.model_names import ModelName


class Origins(NamedTuple):
    """Names of models that no other one of the run was the base of: trained by it from scratch, or not."""

    trained: list[str]
    pretrained: list[str]


def find_origins(models: Iterable[str], is_trained: Callable[[str], bool]) -> Origins:
    """Return what the models of a run, adapted ones among them, start from."""
    bases = sorted({ModelName.parse(name).base for name in models})
    return Origins(
        [name for name in bases if is_trained(name)], [name for name in bases if not is_trained(name)]
    )
