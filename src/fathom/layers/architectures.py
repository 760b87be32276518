"""Where a model keeps its blocks, and what stands between the last of them and its output layer.

Both are found by watching the model read two tokens, for any architecture. A wrong guess would give plausible
but wrong numbers, so the last layer must reproduce the model's own logits before anything is measured.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.models.placement import find_input_device
from fathom.models.text_model import find_blocks

_TOKENS = (0, 1)  # what the model reads while it is watched


class ModelParts(NamedTuple):
    """A loaded model, its blocks, and the modules between the last block and the output layer, in order.

    Attributes
    ----------
    final : list of modules
        The final norm, and in some models a projection to another width; empty if there is nothing between.
    width : int
        Number of features between the blocks.
    """

    model: Any
    blocks: list[Any]
    final: list[Any]
    width: int


def find_model_parts(model: Any, name: str = "the model") -> ModelParts:
    """Find the blocks and the final norm of a model.

    Raises
    ------
    InputError
        If the model has no blocks or output layer, an adapter changes its output layer, or its blocks do not
        hand on one state for each token, once each.
    """
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    _check_head(inner, name)
    blocks = find_blocks(inner, name)
    watcher = _Watcher(inner, blocks)
    watcher.run()
    if watcher.calls != [1] * len(blocks) or watcher.shape[:-1] != (1, len(_TOKENS)):
        raise InputError(
            f"the blocks of {name} do not hand on one state for each token, once each",
            "layers",
            f"models of type {inner.config.get_text_config().model_type!r} have no layers in this sense",
        )
    return ModelParts(inner, blocks, watcher.final, watcher.shape[-1])


class _Watcher:
    """Notes how often each block runs, what it gives, and what runs between the last block and the head."""

    def __init__(self, model: Any, blocks: Sequence[Any]) -> None:
        self.model, self.blocks = model, blocks
        self.calls, self.final = [0] * len(blocks), list[Any]()
        self.shape: tuple[int, ...] = ()
        self._watching = False

    def run(self) -> None:
        """Watch the model read a few tokens."""
        import torch

        head, mode = self.model.get_output_embeddings(), self.model.training
        hooks = [head.register_forward_pre_hook(self._stop)]
        hooks += [each.register_forward_hook(self._count(place)) for place, each in enumerate(self.blocks)]
        hooks += [each.register_forward_hook(self._note) for each in self._list_outside(head)]
        try:
            self.model.eval()
            with torch.no_grad():
                self.model(
                    input_ids=torch.tensor([_TOKENS], device=find_input_device(self.model)), use_cache=False
                )
        finally:
            self.model.train(mode)
            for hook in hooks:
                hook.remove()

    def _list_outside(self, head: Any) -> list[Any]:
        """Return the outermost modules that hold neither blocks nor the output layer."""
        inside = {id(each) for each in (*self.blocks, head)}
        open_ones, found = [self.model], list[Any]()
        while open_ones:
            for child in open_ones.pop().children():
                if any(id(part) in inside for part in child.modules()):
                    open_ones += [child] if id(child) not in inside else []
                else:
                    found.append(child)
        return found

    def _count(self, place: int) -> Any:
        def count(_: Any, __: Any, output: Any) -> None:
            self.calls[place] += 1
            self.shape = tuple(getattr(take_states(output), "shape", ()))
            self.final, self._watching = [], True

        return count

    def _note(self, module: Any, inputs: tuple[Any, ...], output: Any) -> None:
        import torch

        takes_states = bool(inputs) and isinstance(inputs[0], torch.Tensor)
        if self._watching and takes_states and isinstance(output, torch.Tensor):
            self.final.append(module)

    def _stop(self, *_: Any) -> None:
        self._watching = False


def take_states(values: Any) -> Any:
    """Return the hidden states among a block's inputs or outputs: the first of several."""
    return values[0] if isinstance(values, tuple | list) and values else values


def _check_head(model: Any, name: str) -> None:
    head = model.get_output_embeddings()
    if head is None:
        raise InputError(
            f"{name} has no output layer",
            "layers",
            "use a causal language model",
        )
    weight = getattr(head, "weight", None)
    if weight is not None and not weight.is_floating_point():
        raise InputError(
            f"the output layer of {name} is quantised",
            "layers",
            "use the model before it was quantised, or one whose output layer was left out",
        )
    if any(hasattr(head, part) for part in ("base_layer", "modules_to_save")):
        tied = bool(getattr(model.config.get_text_config(), "tie_word_embeddings", False))
        raise InputError(
            f"an adapter changes the output layer of {name}"
            + (", which is tied to its input embedding" if tied else ""),
            "layers",
            "untie it (tie_word_embeddings: false), merge the adapter and save the whole model"
            if tied
            else "merge the adapter and save the whole model",
        )


def check_tied_output(model: Any, name: str = "the model") -> None:
    """Raise `InputError` if the output layer differs from the embedding that the configuration ties it to.

    This happens when an adapter is merged into a tied output layer. Programs disagree on which one to read.
    """
    config = model.config.get_text_config()
    head, embedding = model.get_output_embeddings(), model.get_input_embeddings()
    if not getattr(config, "tie_word_embeddings", False) or head is None or embedding is None:
        return
    out, tied = head.weight, embedding.weight
    if out is not tied and (out.shape != tied.shape or not bool((out == tied.to(out.device)).all())):
        raise InputError(
            f"the output layer of {name} is tied to its input embedding but differs from it",
            "layers",
            "an adapter was merged into a tied output layer: set tie_word_embeddings: false in config.json",
        )
