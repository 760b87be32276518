"""Fast matrix products on the CPU: oneDNN on prepacked weights.

By default PyTorch calls MKL, which has no kernels tuned for AMD processors and is half as fast there.
Prepacked weights are copies. Only the layer's `forward` is replaced, its parameters are untouched: saving,
hashing and training never see the copy.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


BUDGET = 1 << 30
"""Upper limit, in bytes, on the prepacked copies of all models inside one `with` block."""


class PrepackedLinear:
    """Replacement for a layer's `forward` that uses a prepacked copy of its weights.

    `layer`: GPT-2's Conv1D stores its weights transposed.
    """

    def __init__(self, layer: Any, gelu: bool = False) -> None:
        import torch

        weight = layer.weight.detach()
        self._layer = layer
        self._multiply = torch.ops.mkldnn._linear_pointwise
        self._weight = torch.ops.mkldnn._reorder_linear_weight(
            weight if isinstance(layer, torch.nn.Linear) else weight.t().contiguous()
        )
        self._bias = None if layer.bias is None else layer.bias.detach()
        self._gelu = gelu

    def __call__(self, inputs: "Tensor") -> "Tensor":
        """Return the layer's output; computed on its own weights if gradients are enabled."""
        import torch

        if torch.is_grad_enabled():
            output: Tensor = type(self._layer).forward(self._layer, inputs)
            output = torch.nn.functional.gelu(output) if self._gelu else output
        elif self._gelu:
            output = self._multiply(inputs, self._weight, self._bias, "gelu", [], "none")
        else:
            output = self._multiply(inputs, self._weight, self._bias, "none", [], "")
        return output


def is_prepacked(layer: Any) -> bool:
    """Return whether a layer computes on prepacked weights."""
    return isinstance(vars(layer).get("forward"), PrepackedLinear)


def prepack_layer(
    layer: Any, max_bytes: int | None = None, dtype: str = "float32", gelu: bool = False
) -> int:
    """Prepack a layer's weights and use them from now on.

    Only linear layers and GPT-2's Conv1D of one type on the CPU are prepacked, if PyTorch was built with
    oneDNN. Other types, including subclasses, and layers whose `forward` was replaced before stay unchanged.

    Parameters
    ----------
    max_bytes : int, optional
        Do not prepack if the copy would take more; None: no limit.
    dtype : {"float32", "bfloat16"}
        Type of the weights; those of other types are left alone.
    gelu : bool, default=False
        Return the exact GELU of the layer's output from now on.

    Returns
    -------
    int
        Size of the copy in bytes; 0 if the layer was left unchanged.
    """
    import torch
    from transformers.pytorch_utils import Conv1D

    if type(layer) not in (torch.nn.Linear, Conv1D) or "forward" in vars(layer):
        return 0
    parts = [part for part in (layer.weight, layer.bias) if part is not None]
    plain = all(part.dtype == getattr(torch, dtype) and part.device.type == "cpu" for part in parts)
    size: int = layer.weight.nbytes
    if not plain or not _has_onednn(dtype) or (max_bytes is not None and size > max_bytes):
        return 0
    layer.forward = PrepackedLinear(layer, gelu)
    return size


def _has_onednn(dtype: str) -> bool:
    """Return whether PyTorch was built with oneDNN and it multiplies numbers of a type here."""
    import torch

    available: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    built = available and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return built and (dtype != "bfloat16" or multiplies_bfloat16())


@contextmanager
def prepack_models(models: Iterable[Any], budget: int = BUDGET) -> Iterator[None]:
    """Prepack the layers of models inside the `with` block; restore them afterwards.

    Use it inside `torch.inference_mode`: nothing is prepacked while gradients are enabled. Output layers come
    first, then the other layers in order, as long as their copies fit the budget; the rest stay with MKL.
    So the choice of layers depends on the models alone.

    Parameters
    ----------
    budget : int, default=BUDGET
        Upper limit on all copies, in bytes.
    """
    import torch

    prepacked: list[Any] = []
    try:
        for layer in [] if torch.is_grad_enabled() else _order_layers(list(models)):
            size = prepack_layer(layer, budget)
            if size:
                prepacked.append(layer)
                budget -= size
        yield
    finally:
        for layer in prepacked:
            del layer.forward


def _order_layers(models: list[Any]) -> list[Any]:
    heads = [model.get_output_embeddings() for model in models]
    layers = [layer for model in models for layer in model.modules()]
    return list({id(layer): layer for layer in [*heads, *layers] if layer is not None}.values())


_FLAGS = Path("/proc/cpuinfo")


def has_bfloat16_units(flags: Path = _FLAGS) -> bool:
    """Return whether the processor has matrix units for bfloat16 (Intel's AMX); False if that is unknown.

    AVX-512's bfloat16 instructions do not count: they are at most twice as fast as float32, and computing
    close cases again takes most of that.

    Parameters
    ----------
    flags : Path, default=/proc/cpuinfo
        Where Linux lists the processor's flags.
    """
    if not flags.is_file():
        return False
    lines = flags.read_text(encoding="utf-8", errors="replace").splitlines()
    return any("amx_bf16" in line.split() for line in lines if line.startswith("flags"))


def multiplies_bfloat16() -> bool:
    """Return whether PyTorch's oneDNN multiplies bfloat16 on this processor, as it does from AVX-512 on."""
    import torch

    possible: bool = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return possible
