"""Where and in which precision sentences are embedded; matches are the same everywhere."""

from typing import Literal, NamedTuple

from fathom.config.benchmark import Embedding
from fathom.jobs.devices import pick_device
from fathom.numerics.matrix_products import has_bfloat16_units, multiplies_bfloat16

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
        `auto` stands for a GPU if there is one, and for bfloat16 on a processor with units for it. Float32
        on a processor that does not multiply bfloat16, whatever is asked for.

    Raises
    ------
    InputError
        If there is no such device, or the GPU's driver is too old.
    """
    device = pick_device(settings.device, "embedding.device")
    if device != "cpu" or settings.precision == "float32":
        return Computation(device)
    wanted = settings.precision == "bfloat16" or has_bfloat16_units()
    return Computation(device, "bfloat16" if wanted and multiplies_bfloat16() else "float32")
