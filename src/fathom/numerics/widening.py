"""Float64 values of tensors on any device: Apple's GPUs (`mps`) have no float64."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

WITHOUT_FLOAT64 = ("mps",)
"""Device types that have no float64."""


def widen(values: "Tensor") -> "Tensor":
    """Return a tensor in float64: on its device, or on the processor if the device has no float64."""
    return (values.cpu() if values.device.type in WITHOUT_FLOAT64 else values).double()
