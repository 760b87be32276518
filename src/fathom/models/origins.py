"""Models that a run trains from scratch, and models that come with weights."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fathom.config.model_names import ModelName


class Origins(NamedTuple):
    """Names of models without a base in the run: trained from scratch, or from elsewhere."""

    trained: list[str]
    pretrained: list[str]


def find_origins(models: Iterable[str], is_trained: Callable[[str], bool]) -> Origins:
    """Return the models that a run's models, including adapted ones, start from."""
    bases = sorted({ModelName.parse(name).base for name in models})
    return Origins(
        [name for name in bases if is_trained(name)], [name for name in bases if not is_trained(name)]
    )
