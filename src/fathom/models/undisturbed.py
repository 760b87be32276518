"""Measure a model during its training, and leave everything unchanged."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fathom.errors import InputError
from fathom.models.randomness import read_random_state, restore_random_state
from fathom.numerics.precision import use_full_precision


def unwrap_model(model: Any) -> Any:
    """Return the causal language model inside data parallelism, `torch.compile` and PEFT.

    Raise `InputError` if the weights are divided among processes (FSDP, ZeRO-3).
    """
    from torch.nn.parallel import DataParallel, DistributedDataParallel

    while True:
        if isinstance(model, DataParallel | DistributedDataParallel):
            model = model.module
        elif hasattr(model, "_orig_mod"):
            model = model._orig_mod
        elif hasattr(model, "get_base_model"):  # keeps its adapters
            model = model.get_base_model()
        else:
            break
    # those of ZeRO-3 have an id, those of FSDP 2 and of tensor parallelism a mesh; FSDP 1 marks the modules
    divided = any(hasattr(each, "ds_id") or hasattr(each, "device_mesh") for each in model.parameters())
    if divided or any(hasattr(module, "_is_fsdp_managed_module") for module in model.modules()):
        what = "its weights are divided among processes (FSDP, ZeRO-3)"
        hint = "score its saved checkpoints: fathom watch FOLDER --pairs PAIRS"
        raise InputError(what, "the model in training", hint)
    return model


def follow_first(decision: bool, model: Any) -> bool:
    """Return the decision of the first process of a joint training; its own if alone.

    All processes have to ask at the same step, as one that stopped alone would leave the others waiting.
    """
    import torch
    from torch import distributed

    if not distributed.is_available() or not distributed.is_initialized():
        return decision
    shared = torch.tensor([decision], dtype=torch.uint8, device=unwrap_model(model).device)
    distributed.broadcast(shared, 0)
    return bool(shared.item())


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
        for module, name, buffer in buffers:  # some rotary embeddings keep the state of a long text
            module._buffers[name] = buffer
        for module, mode in modes:  # `train` would change all modules below, also frozen ones
            module.training = mode
        restore_random_state(random, device)
