"""Which models a run has made from scratch, and which came to it with their weights."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fathom.config.model_names import ModelName


class Origins(NamedTuple):
    """Models that no other one of the run was the base of, by name.

    Attributes
    ----------
    trained : list of str
        Trained by the run, from scratch.
    pretrained : list of str
        From the hub, a folder, a package or a server.
    """

    trained: list[str]
    pretrained: list[str]


def find_origins(models: Iterable[str], is_trained: Callable[[str], bool]) -> Origins:
    """Return what the models of a run start from.

    Parameters
    ----------
    models : iterable of str
        Names of models, adapted ones among them.
    is_trained : callable
        Takes the name of a model that others may start from; says whether the run has its training curve.
    """
    bases = sorted({ModelName.parse(name).base for name in models})
    return Origins(
        [name for name in bases if is_trained(name)], [name for name in bases if not is_trained(name)]
    )
