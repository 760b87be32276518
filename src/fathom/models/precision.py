"""Number formats of products: what a device has, and what training uses."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from fathom.errors import InputError


def check_bfloat16(device: str, where: str) -> None:
    """Raise `InputError` if a device is a GPU that does not compute in bfloat16 itself."""
    if not has_bfloat16(device):
        import torch

        raise InputError(
            f"{torch.cuda.get_device_name(device)} does not compute in bfloat16",
            where,
            "set float32 (in scoring also float16), or take a GPU from Ampere on (A100, RTX 30)",
        )


def has_bfloat16(device: str) -> bool:
    """Return True for the processor, and for a GPU that computes in bfloat16 without emulation."""
    import torch

    if not device.startswith("cuda"):
        return True
    with torch.cuda.device(device):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))


def pick_precision(device: str, precision: str, where: str) -> str:
    """Return the number format of training's products; `auto`: bfloat16 on a GPU that has it, or float32."""
    if precision == "auto":
        return "bfloat16" if device.startswith("cuda") and has_bfloat16(device) else "float32"
    if precision == "bfloat16":
        check_bfloat16(device, f"{where}: precision = bfloat16")
    return precision


def autocast(device_type: str, precision: str) -> AbstractContextManager[Any]:
    """Compute products in a number format inside the `with` block; weights stay as they are."""
    import torch

    if precision != "bfloat16":
        return nullcontext()
    _reach_experts(device_type)
    return torch.autocast(device_type, torch.bfloat16)


@cache
def _reach_experts(device_type: str) -> None:
    """Let autocast reach the product of stacked experts, which PyTorch leaves out; once for the process."""
    import torch

    if device_type in ("cpu", "cuda") and hasattr(torch.ops.aten, "_grouped_mm"):
        torch.library.register_autocast("aten::_grouped_mm", device_type, torch.bfloat16)
