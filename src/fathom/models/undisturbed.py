"""Look at a model in the middle of its training, and leave everything as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fathom.errors import InputError
from fathom.models.randomness import read_random_state, restore_random_state
from fathom.numerics.full_precision import use_full_precision


def unwrap_model(model: Any) -> Any:
    """Return the causal language model inside data parallelism, `torch.compile` and PEFT.

    Raises
    ------
    InputError
        If the weights are divided among processes (FSDP, ZeRO-3).
    """
    from torch.nn.parallel import DataParallel, DistributedDataParallel

    while True:
        if isinstance(model, DataParallel | DistributedDataParallel):
            model = model.module
        elif hasattr(model, "_orig_mod"):
            model = model._orig_mod
        elif hasattr(model, "get_base_model"):  # its adapters stay inside
            model = model.get_base_model()
        else:
            break
    divided = [name for name, weight in model.named_parameters() if _is_divided(weight)]
    if divided:
        raise InputError(
            f"{len(divided)} weights are divided among processes, e.g. {divided[0]}",
            "the model in training",
            "score its saved checkpoints with fathom.score",
        )
    return model


def _is_divided(weight: Any) -> bool:
    """Return whether a process holds only a part of a weight."""
    return (
        hasattr(weight, "device_mesh") or hasattr(weight, "ds_id") or type(weight).__name__ == "FlatParameter"
    )


@contextmanager
def leave_undisturbed(model: Any) -> Iterator[None]:
    """Restore modes, buffers, random states and a replaced `forward` of a model after the `with` block.

    Inside, products have the number format of the weights and full precision: autocast is off, and so is the
    `forward` by which accelerate's mixed precision replaces the model's own.
    """
    device = model.device
    modes = [(module, module.training) for module in model.modules()]
    buffers = [
        (module, name, buffer) for module in model.modules() for name, buffer in module._buffers.items()
    ]
    random = read_random_state(device)
    # a model over several devices needs the one that moves its input
    replaced = None if hasattr(model, "_hf_hook") else vars(model).pop("forward", None)
    try:
        with use_full_precision():
            yield
    finally:
        if replaced is not None:
            model.forward = replaced
        for module, name, buffer in buffers:  # some rotary embeddings keep what a long text needed
            module._buffers[name] = buffer
        for module, mode in modes:  # `train` would change all modules below, also frozen ones
            module.training = mode
        restore_random_state(random, device)
