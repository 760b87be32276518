"""Low-rank adapters [LoRA] by the PEFT library, with target modules named [TrainBeforeTest, App. A.3]."""

from typing import Any

from fathom.config.tuning import Lora
from fathom.errors import InputError

_SEPARATE = (("q_proj", "k_proj", "v_proj", "o_proj"), ("gate_proj", "up_proj", "down_proj"))
ADAPTED_MODULES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "gpt2": (("attn.c_attn", "attn.c_proj"), ("mlp.c_fc", "mlp.c_proj")),
    "gpt_neox": (("query_key_value", "attention.dense"), ("dense_h_to_4h", "dense_4h_to_h")),
    "phi3": (("qkv_proj", "o_proj"), ("gate_up_proj", "down_proj")),
    **dict.fromkeys(
        ("llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "olmo", "olmo2", "cohere",
         "granite"),
        _SEPARATE,
    ),
}  # fmt: skip
"""Matrices of attention and of the MLP, by the model type of a configuration."""


def add_adapter(model: Any, settings: Lora, name: str = "the model") -> None:
    """Put an untrained adapter into a model, in place: its output stays the same; only the adapter learns.

    Parameters
    ----------
    model : transformers causal language model
    settings : Lora
        Uses `targets`, `rank`, `alpha`, `dropout`, `seed`.
    name : str
        Of the model, for the message.

    Raises
    ------
    InputError
        If it is not known which matrices of the model an adapter belongs to.
    """
    import torch
    from peft import LoraConfig, inject_adapter_in_model

    kind = model.config.get_text_config().model_type
    modules = find_modules(kind, settings, name)
    torch.manual_seed(settings.seed)
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=modules,
        fan_in_fan_out=kind == "gpt2",
        bias="none",
    )
    inject_adapter_in_model(config, model)
    for weight in list_weights(model).values():
        weight.data = weight.data.float()


def find_modules(kind: str, settings: Lora, name: str) -> list[str]:
    """Return the endings of the names of the modules that an adapter is added to.

    Parameters
    ----------
    kind : str
        Model type of a configuration, such as gpt2.
    settings : Lora
        Uses `targets`.
    name : str
        Of the model, for the message.

    Raises
    ------
    InputError
        If no modules are known for this type.
    """
    from peft.utils.constants import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING

    if settings.targets == "peft":
        if kind not in TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING:
            raise InputError(
                f"{name} is of type {kind!r}, for which PEFT has no default target modules",
                "train_before_test.lora.targets",
                "all or attention, for all models of the study",
            )
        return list(TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING[kind])
    if kind not in ADAPTED_MODULES:
        raise InputError(
            f"{name} is of type {kind!r}, and it is not known which of its matrices take an adapter",
            "train_before_test",
            f"known types: {', '.join(sorted(ADAPTED_MODULES))}; "
            "add it to ADAPTED_MODULES in fathom/models/lora.py",
        )
    attention, mlp = ADAPTED_MODULES[kind]
    return [*attention, *(mlp if settings.targets == "all" else ())]


def list_weights(model: Any) -> dict[str, Any]:
    """Return the adapter's parameters by name; they are the only ones that learn."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def copy_weights(model: Any) -> dict[str, Any]:
    """Return a copy of the adapter's weights on the CPU."""
    return {name: weight.detach().cpu().clone() for name, weight in list_weights(model).items()}


def restore_weights(model: Any, weights: dict[str, Any]) -> None:
    """Write weights of :func:`copy_weights` into a model's adapter."""
    import torch

    with torch.no_grad():
        for name, weight in list_weights(model).items():
            weight.copy_(weights[name])


def merge_adapter(model: Any) -> None:
    """Add the adapter's product to the weights that it belongs to, in place; it is gone afterwards."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, BaseTunerLayer):
                child.merge(safe_merge=True)
                setattr(parent, name, child.get_base_layer())
