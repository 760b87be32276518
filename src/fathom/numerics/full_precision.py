"""Products and sums in the numbers' own precision, whatever the environment or a surrounding training chose.

TensorFloat-32 keeps 10 of a float32 number's 23 bits, and sums of bfloat16 or float16 products may be kept in
bfloat16 or float16: either changes many ranks.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any


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
