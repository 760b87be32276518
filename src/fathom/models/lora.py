"""Low-rank adapters [LoRA] by the PEFT library, with their modules named [TrainBeforeTest, App. A.3]."""

from typing import Any

from fathom.config.adapter import Adapter
from fathom.errors import InputError

_ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
_SEPARATE = (_ATTENTION, ("gate_proj", "up_proj", "down_proj"))
ADAPTED_MODULES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "gpt2": (("attn.c_attn", "attn.c_proj"), ("mlp.c_fc", "mlp.c_proj")),
    "gpt_neox": (("query_key_value", "attention.dense"), ("dense_h_to_4h", "dense_4h_to_h")),
    "glm": (_ATTENTION, ("gate_up_proj", "down_proj")),
    "phi3": (("qkv_proj", "o_proj"), ("gate_up_proj", "down_proj")),
    **dict.fromkeys(
        ("llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "olmo", "olmo2", "cohere",
         "granite"),
        _SEPARATE,
    ),
}  # fmt: skip
"""Modules that an adapter changes, by `model_type`: matrices of attention, and of the MLP."""


TRAINED = "trained"
"""Name of the adapter that is trained, beside others that the model has already."""


def add_adapter(model: Any, settings: Adapter, name: str = "the model") -> None:
    """Insert an untrained adapter into a model, in place; adapters that are there already stay, and frozen.

    The model's output stays the same. Only the adapter's weights are trainable.

    Parameters
    ----------
    model : transformers causal language model
    settings : Adapter
        But for `dtype`, the model's own.
    name : str
        Name of the model for messages.

    Raises
    ------
    InputError
        If the modules to adapt are not known for this model type.
    """
    import torch
    from peft import LoraConfig, inject_adapter_in_model

    kind = model.config.get_text_config().model_type
    modules = find_modules(kind, settings.modules, name)
    torch.manual_seed(settings.seed)
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=modules,
        fan_in_fan_out=kind == "gpt2",
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


def find_modules(kind: str, chosen: str, name: str) -> list[str]:
    """Return the name suffixes of the modules that an adapter changes.

    Parameters
    ----------
    kind : str
        Model type, such as gpt2.
    chosen : {"all", "attention", "peft"}
        See :class:`fathom.config.adapter.Adapter`.
    name : str
        Name of the model for messages.

    Raises
    ------
    InputError
        If no modules are known for this type.
    """
    from peft.utils.constants import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING

    if chosen == "peft":
        if kind not in TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING:
            raise InputError(
                f"PEFT has no default modules for model type {kind!r} of {name}",
                "lora.modules",
                "all or attention, for all models of the run",
            )
        return list(TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING[kind])
    if kind not in ADAPTED_MODULES:
        raise InputError(
            f"no LoRA modules are known for model type {kind!r} of {name}",
            "lora",
            f"known types: {', '.join(sorted(ADAPTED_MODULES))}; "
            "add it to ADAPTED_MODULES in fathom/models/lora.py",
        )
    attention, mlp = ADAPTED_MODULES[kind]
    return [*attention, *(mlp if chosen == "all" else ())]


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


def list_adapted(model: Any) -> dict[str, Any]:
    """Return PEFT's layers of a model by the names of the modules that they change."""
    from peft.tuners.lora import LoraLayer

    return {name: layer for name, layer in model.named_modules() if isinstance(layer, LoraLayer)}


def cast_weights(model: Any, dtype: Any) -> None:
    """Cast a model's own weights to a data type, in place; adapters, and frequencies of rotation, stay."""
    for name, weight in model.named_parameters():
        if "lora_" not in name:
            weight.data = weight.data.to(dtype)
