"""Number formats of products and sums: full ones for scores, bfloat16 where training may use it.

Full precision holds whatever the environment or a surrounding training chose. TensorFloat-32 keeps 10 of a
float32 number's 23 bits, and sums of bfloat16 or float16 products may be kept in bfloat16 or float16: either
changes many ranks.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

from fathom.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor


@contextmanager
def use_full_precision() -> Iterator[None]:
    """Turn TF32, sums of reduced precision and autocast off inside the `with` block; restore them afterwards.

    Holds for the whole process but for autocast, which is each thread's own and off in a new one.
    """
    import torch

    with ExitStack() as stack:
        for device in ("cpu", "cuda"):
            if torch.is_autocast_enabled(device):
                stack.enter_context(torch.autocast(device, enabled=False))
        operations = _list_operations()
        for operation in operations:  # restored last: the older settings change these too
            stack.callback(_keep_precision(operation))
        stack.enter_context(_keep_legacy_settings())
        for operation in operations:
            operation.fp32_precision = "ieee"
        stack.enter_context(_sum_in_float32())
        yield


def _list_operations() -> list[Any]:
    """List nothing before torch 2.9, whose settings are global."""
    import torch

    if not hasattr(torch.backends, "fp32_precision"):
        return []
    backends: Any = torch.backends
    return [
        backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn,
        backends.mkldnn.matmul, backends.mkldnn.conv, backends.mkldnn.rnn,
    ]  # fmt: skip


def _keep_precision(operation: Any) -> Callable[[], None]:
    import torch

    general: Any = torch.backends
    now, chosen, found = operation.fp32_precision, general.fp32_precision, set[str]()
    for precision in ("ieee", "tf32"):  # torch tells only what holds, not whether it is the operation's own
        general.fp32_precision = precision
        found.add(operation.fp32_precision)
    general.fp32_precision = chosen

    def restore() -> None:
        operation.fp32_precision = now if len(found) == 1 else "none"
        if operation.fp32_precision != now:  # convolutions begin with TF32 where nothing is said
            operation.fp32_precision = now

    return restore


@contextmanager
def _keep_legacy_settings() -> Iterator[None]:
    """Turn TF32 off by the older settings too, which torch wants to agree with the newer ones."""
    import torch

    try:
        products, convolutions = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    except RuntimeError:  # they disagree already: torch refuses to read them, and only the newer ones count
        yield
        return
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = convolutions
        torch.set_float32_matmul_precision(products)


@contextmanager
def _sum_in_float32() -> Iterator[None]:
    """Sum products of bfloat16 and float16 numbers in float32."""
    import torch

    cuda: Any = torch.backends.cuda
    products, kept = cuda.matmul, {}
    for name in ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction"):
        split = getattr(products, f"{name}_split_k", None)
        kept[name] = getattr(products, name) if split is None else (getattr(products, name), split)
    if hasattr(products, "allow_fp16_accumulation"):
        kept["allow_fp16_accumulation"] = products.allow_fp16_accumulation
    attention = cuda.fp16_bf16_reduction_math_sdp_allowed()
    try:
        for name in kept:
            setattr(products, name, False)
        cuda.allow_fp16_bf16_reduction_math_sdp(False)
        yield
    finally:
        cuda.allow_fp16_bf16_reduction_math_sdp(attention)
        for name, value in kept.items():
            setattr(products, name, value)


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


WITHOUT_FLOAT64 = ("mps",)
"""Device types that have no float64."""


def widen(values: "Tensor") -> "Tensor":
    """Return a tensor in float64: on its device, or on the processor if the device has no float64."""
    return (values.cpu() if values.device.type in WITHOUT_FLOAT64 else values).double()
