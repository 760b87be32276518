"""Where and in which precision sentences are embedded; matches are the same everywhere."""

from typing import Literal, NamedTuple

from fathom.config.benchmark import Embedding
from fathom.errors import InputError
from fathom.numerics.processor import has_bfloat16_units

Precision = Literal["float32", "bfloat16"]


class Computation(NamedTuple):
    """How sentences are embedded.

    Attributes
    ----------
    device : str
        `cpu`, `cuda` or `cuda:N`.
    precision : {"float32", "bfloat16"}
        On a GPU always float32.
    """

    device: str = "cpu"
    precision: Precision = "float32"


PLAIN = Computation()
"""On the processor in float32."""


def choose_computation(settings: Embedding) -> Computation:
    """Return the device and precision that the settings ask for on this machine.

    Parameters
    ----------
    settings : Embedding
        `auto` stands for a GPU if there is one, and for bfloat16 on a processor with units for it.

    Raises
    ------
    InputError
        If there is no such device.
    """
    device = _choose_device(settings.device)
    if device != "cpu" or settings.precision == "float32":
        return Computation(device)
    wanted = settings.precision == "bfloat16" or has_bfloat16_units()
    return Computation(device, "bfloat16" if wanted else "float32")


def _choose_device(device: str) -> str:
    """Return the device, the first GPU or the processor if it is `auto`."""
    if device == "cpu":
        return device
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "auto":
        return "cuda" if count else "cpu"
    name, _, number = device.partition(":")
    if name != "cuda" or not (number or "0").isdecimal() or int(number or 0) >= count:
        there = f"there are {count} GPUs" if count else "there is no GPU"
        raise InputError(f"no device {device!r}: {there}", "embedding.device", "auto, cpu, cuda or cuda:N")
    return device


def describe_device(device: str) -> str:
    """Return the name of a GPU, or `cpu`."""
    if device == "cpu":
        return device
    import torch

    return torch.cuda.get_device_name(device)
