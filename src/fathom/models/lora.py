"""Low-rank adapters [LoRA] by the PEFT library, on all linear layers [TrainBeforeTest, App. A.3]."""

from collections.abc import Sequence
from typing import Any

from fathom.config.adapter import Adapter
from fathom.errors import InputError
from fathom.jobs.program import log
from fathom.models.text_model import find_blocks, find_frozen, find_text_model

_WORTH_SAYING = 0.05  # share of weights without an adapter from which on it is said
TRAINED = "trained"
"""Name of the adapter that is trained, beside others that the model has already."""


def add_adapter(model: Any, settings: Adapter, name: str = "the model", frozen: Sequence[int] = ()) -> None:
    """Insert an untrained adapter into a model, in place; adapters that are there already stay, and frozen.

    The model's output stays the same. Only the adapter's weights are trainable.

    Parameters
    ----------
    model : transformers causal language model
    settings : Adapter
        But for `dtype`, the model's own.
    name : str
        Name of the model for messages.
    frozen : sequence of int
        Blocks that get no adapter, counted from 0.

    Raises
    ------
    InputError
        If the model has no modules to adapt, or no such blocks.
    """
    import torch
    from peft import LoraConfig, inject_adapter_in_model
    from transformers.pytorch_utils import Conv1D

    left = {id(part) for block in find_frozen(model, frozen, name) for part in block.modules()}
    modules = find_modules(model, settings.modules, name)
    modules = [each for each in modules if id(model.get_submodule(each)) not in left]
    log.info("adapters of %s: %s", name, describe_modules(model, modules))
    torch.manual_seed(settings.seed)
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=modules,
        fan_in_fan_out=any(isinstance(get_plain(model.get_submodule(each)), Conv1D) for each in modules),
        bias="none",
    )
    inject_adapter_in_model(config, model, TRAINED)
    for layer in list_adapted(model).values():
        layer.set_adapter([*layer.lora_A])  # all add to the output, and all would be trained
        for part in (layer.lora_A, layer.lora_B):
            for other in part.keys() - {TRAINED}:
                part[other].requires_grad_(False)
    for weight in list_weights(model).values():
        weight.data = weight.data.float()


def find_modules(model: Any, chosen: str, name: str) -> list[str]:
    """Return the names of the modules that an adapter changes.

    All of them are linear layers in the blocks of the text model, found by their type. Experts whose weights
    are stacked in one parameter are no linear layers and stay as they are.

    Parameters
    ----------
    model : transformers causal language model
    chosen : {"all", "attention", "peft"}
        See :class:`fathom.config.models.Adapter`.
    name : str
        Name of the model for messages.

    Raises
    ------
    InputError
        If there are none, or PEFT has no default for this model type.
    """
    from peft.utils.constants import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as DEFAULTS

    kind = model.config.get_text_config().model_type
    if chosen == "peft":
        if kind not in DEFAULTS:
            raise InputError(
                f"PEFT has no default modules for model type {kind!r} of {name}",
                "lora.modules",
                "all or attention, for all models of the run",
            )
        endings = tuple(f".{ending}" for ending in DEFAULTS[kind])
        inside = {id(part) for part in find_text_model(model).modules()}
        found = [each for each, part in model.named_modules() if id(part) in inside]
        found = [each for each in found if f".{each}".endswith(endings)]
    else:
        found = _list_matrices(model, chosen == "attention", name)
    if not found:
        raise InputError(
            f"model type {kind!r} of {name} has no linear layers for adapters",
            f"lora.modules: {chosen}",
            "choose other modules, or train all weights",
        )
    return found


def _list_matrices(model: Any, only_attention: bool, name: str) -> list[str]:
    """Return the names of the linear layers in the blocks, or of those in attention."""
    import torch
    from transformers.pytorch_utils import Conv1D

    names = {id(part): path for path, part in model.named_modules()}
    within = {id(part) for layer in list_adapted(model).values() for part in list(layer.modules())[1:]}
    found = dict[str, None]()  # blocks may share modules
    for block in find_blocks(model, name):
        attention = {
            id(part)
            for path, whole in block.named_modules()
            if "attention" in type(whole).__name__.lower() or "attn" in path.rpartition(".")[2]
            for part in whole.modules()
        }
        # the fast kernels of Mamba read some weights past their modules
        past = {
            id(part)
            for mixer in block.modules()
            if hasattr(mixer, "conv1d") and hasattr(mixer, "A_log") and hasattr(mixer, "D")
            for part in (getattr(mixer, "out_proj", None), getattr(mixer, "dt_proj", None))
        }
        for part in block.modules():
            wanted = isinstance(get_plain(part), torch.nn.Linear | Conv1D) and id(part) not in past | within
            if wanted and (id(part) in attention or not only_attention) and _is_product(part):
                found[names[id(part)]] = None
    return list(found)


def _is_product(layer: Any) -> bool:
    """Say whether a linear layer gives a product alone: some routers give more."""
    import torch

    plain = get_plain(layer)
    if not type(plain).__module__.startswith("transformers.models."):
        return True
    with torch.no_grad():
        some = torch.ones(1, plain.in_features, dtype=plain.weight.dtype, device=plain.weight.device)
        found, expected = plain(some), torch.nn.functional.linear(some, plain.weight, plain.bias)
    if not isinstance(found, torch.Tensor) or found.shape != expected.shape:
        return False
    return found.is_meta or torch.allclose(found, expected, rtol=1e-3, atol=1e-5, equal_nan=True)


def describe_modules(model: Any, modules: Sequence[str]) -> str:
    """Return in words which modules have an adapter, and which share of the blocks' weights has none."""
    adapted = {id(weight) for each in modules for weight in model.get_submodule(each).parameters()}
    sizes = {
        (".".join(path.split(".")[-2:]), id(weight)): weight.numel()
        for block in find_blocks(model)
        for path, weight in block.named_parameters()
    }
    left = {key: size for key, size in sizes.items() if key[1] not in adapted}
    text = f"{len(modules)} matrices ({', '.join(sorted({each.rpartition('.')[2] for each in modules}))})"
    share = sum(left.values()) / sum(sizes.values())
    if share > _WORTH_SAYING:
        largest = max(left.values())
        names = sorted({name for (name, _), size in left.items() if size > largest / 10})
        text += f"; {share:.0%} of the blocks' weights have none, most of all {', '.join(names)}"
    return text


def list_weights(model: Any) -> dict[str, Any]:
    """Return the adapter's parameters by name, the only trainable ones."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def copy_weights(model: Any) -> dict[str, Any]:
    """Return a copy of the adapter's weights on the CPU."""
    return {name: weight.detach().cpu().clone() for name, weight in list_weights(model).items()}


def restore_weights(model: Any, weights: dict[str, Any]) -> None:
    """Load weights from :func:`copy_weights` into a model's adapter."""
    import torch

    with torch.no_grad():
        for name, weight in list_weights(model).items():
            weight.copy_(weights[name])


def get_plain(module: Any) -> Any:
    """Return the model's own layer inside one of PEFT, or the module itself."""
    from peft.tuners.lora import LoraLayer

    return module.get_base_layer() if isinstance(module, LoraLayer) else module


def list_adapted(model: Any) -> dict[str, Any]:
    """Return PEFT's layers of a model by the names of the modules that they change."""
    from peft.tuners.lora import LoraLayer

    return {name: layer for name, layer in model.named_modules() if isinstance(layer, LoraLayer)}


def cast_weights(model: Any, dtype: Any) -> None:
    """Cast a model's own weights to a data type, in place; adapters, and frequencies of rotation, stay."""
    for name, weight in model.named_parameters():
        if "lora_" not in name:
            weight.data = weight.data.to(dtype)
