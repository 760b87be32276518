"""Matrix products of float32 models on the processor by oneDNN, on weights that are packed once.

PyTorch gives them to MKL, which has no kernel of its own for AMD's processors and takes twice the time there.
Packed weights are copies. The layer's parameters stay as they are, only its `forward` is another one: what is
saved, hashed or trained is never the copy.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

BUDGET = 1 << 30
"""Bytes that the packed copies of all models inside one block take at most."""


class PrepackedLinear:
    """What a layer computes in place of its `forward`, on a packed copy of its weights.

    Parameters
    ----------
    layer : torch.nn.Linear or transformers' Conv1D
        The latter, GPT-2's, keeps its weights transposed.
    """

    def __init__(self, layer: Any) -> None:
        import torch

        weight = layer.weight.detach()
        self._layer = layer
        self._multiply = torch.ops.mkldnn._linear_pointwise
        self._weight = torch.ops.mkldnn._reorder_linear_weight(
            weight if isinstance(layer, torch.nn.Linear) else weight.t().contiguous()
        )
        self._bias = None if layer.bias is None else layer.bias.detach()

    def __call__(self, inputs: "Tensor") -> "Tensor":
        """Return the layer's output; where gradients are wanted, by its own weights."""
        import torch

        if torch.is_grad_enabled():
            found: Tensor = type(self._layer).forward(self._layer, inputs)
        else:
            found = self._multiply(inputs, self._weight, self._bias, "none", [], "")
        return found


def is_prepacked(layer: Any) -> bool:
    """Say whether a layer computes on packed weights."""
    return isinstance(vars(layer).get("forward"), PrepackedLinear)


def prepack_layer(layer: Any, most: int | None = None) -> int:
    """Let a layer compute on packed weights; return the bytes that they take, 0 where it stays as it is.

    Packed are linear layers and GPT-2's Conv1D, in float32, on the processor, where PyTorch was built with
    oneDNN. Layers of other types, subclasses too, stay as they are, and layers that something else changed.

    Parameters
    ----------
    layer : torch.nn.Module
    most : int, optional
        Bytes that the copy may take; none: as many as it needs.
    """
    import torch
    from transformers.pytorch_utils import Conv1D

    if type(layer) not in (torch.nn.Linear, Conv1D) or "forward" in vars(layer):
        return 0
    parts = [part for part in (layer.weight, layer.bias) if part is not None]
    plain = all(part.dtype == torch.float32 and part.device.type == "cpu" for part in parts)
    size: int = layer.weight.nbytes
    if not plain or not _has_onednn() or (most is not None and size > most):
        return 0
    layer.forward = PrepackedLinear(layer)
    return size


def _has_onednn() -> bool:
    """Say whether PyTorch was built with oneDNN."""
    import torch

    available: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return available and hasattr(torch.ops.mkldnn, "_linear_pointwise")


@contextmanager
def prepack_models(models: Iterable[Any], budget: int = BUDGET) -> Iterator[None]:
    """Let models compute on packed weights inside the block; afterwards they are as before.

    Nothing is packed where gradients are wanted: the block belongs inside `torch.inference_mode`. Output
    layers are packed first, then the other layers in their order, each if its copy fits into what is left of
    the budget; the others stay with MKL. So which layers are packed depends on the models alone.

    Parameters
    ----------
    models : iterable of transformers models
        Adapters (PEFT) may lie over them.
    budget : int, default=BUDGET
        Bytes that all copies take at most.
    """
    import torch

    packed: list[Any] = []
    try:
        for layer in [] if torch.is_grad_enabled() else _order_layers(list(models)):
            size = prepack_layer(layer, budget)
            if size:
                packed.append(layer)
                budget -= size
        yield
    finally:
        for layer in packed:
            del layer.forward


def _order_layers(models: list[Any]) -> list[Any]:
    """Return the layers of all models, output layers first; what is shared stands once."""
    heads = [model.get_output_embeddings() for model in models]
    layers = [layer for model in models for layer in model.modules()]
    return list({id(layer): layer for layer in [*heads, *layers] if layer is not None}.values())
