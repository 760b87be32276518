"""The configuration of a GGUF file's model, with what transformers would pass over in silence."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.models.gguf_header import Header


def _find_head(config: Any) -> int:
    found = getattr(config, "head_dim", None)
    return int(found or config.hidden_size // config.num_attention_heads)


# keys of llama.cpp that transformers does not read, and what must be the same in its configuration
_SAME: dict[str, Callable[[Any], Any]] = {
    "attention.key_length": _find_head,
    "attention.value_length": _find_head,
    "rope.dimension_count": _find_head,
    "attention.sliding_window": lambda config: config.sliding_window,
    "attention.sliding_window_pattern": lambda config: config._sliding_window_pattern,
    "attn_logit_softcapping": lambda config: config.attn_logit_softcapping,
    "final_logit_softcapping": lambda config: config.final_logit_softcapping,
    "rope.freq_base_swa": lambda config: config.rope_parameters["sliding_attention"]["rope_theta"],
    "attention.causal": lambda _: True,
    "rope.scaling.attn_factor": lambda _: 1.0,
}
_IDLE = frozenset({
    "vocab_size", "context_length", "tensor_data_layout", "rope.scaling.type", "rope.scaling.factor",
    "rope.scaling.finetuned", "rope.scaling.original_context_length",
})  # fmt: skip
"""Keys that change nothing, or are read by :func:`build_config`."""
_EXPERTS: dict[str, dict[str, str]] = {
    "qwen2moe": {
        "expert_feed_forward_length": "moe_intermediate_size",
        "expert_shared_feed_forward_length": "shared_expert_intermediate_size",
    },
    "qwen3moe": {"expert_feed_forward_length": "moe_intermediate_size"},
}
"""By architecture, widths of experts, which transformers does not read, and what it calls them."""
_ROPE_TENSOR = "rope_freqs.weight"
_WAY_OUT = "use the model before it was converted: its folder or its id on the hub"


def build_config(file: Path, header: Header, read: Callable[[str], Any]) -> Any:
    """Return the transformers configuration of a GGUF file's model; `read` gives a tensor's values by name.

    Raise `InputError` if transformers does not read the architecture, or would not calculate what the file
    asks for.
    """
    from transformers import AutoConfig
    from transformers.modeling_gguf_pytorch_utils import GGUF_SUPPORTED_ARCHITECTURES, load_gguf_checkpoint

    known = sorted({*GGUF_SUPPORTED_ARCHITECTURES, *_SPELLED} - _NO_DECODERS)
    if header.architecture not in known:
        raise InputError(
            f"transformers reads no GGUF of architecture {header.architecture!r}",
            str(file),
            f"{_WAY_OUT}; read are {', '.join(known)}",
        )
    try:
        values = load_gguf_checkpoint(str(file), return_tensors=False)["config"]
        widths, own = _EXPERTS.get(header.architecture, {}), header.get_own()
        values |= {name: own[key] for key, name in widths.items() if key in own}
        config = AutoConfig.for_model(**values)
        config.vocab_size = _find_rows(header)
        config.max_position_embeddings = header.get_own().get(
            "context_length", config.max_position_embeddings
        )
        _check_keys(config, header)
        _set_rope(config, header, read)
    except InputError:
        raise
    except Exception as error:  # of any kind: each architecture checks its own values
        problem = error if isinstance(error, _PassedOverError) else f"{type(error).__name__}: {error}"
        raise InputError(
            f"the model's configuration cannot be read from the file: {problem}", str(file), _WAY_OUT
        ) from error
    return config


_SPELLED = {
    "qwen2moe": "qwen2_moe",
    "qwen3moe": "qwen3_moe",
    "gpt-oss": "gpt_oss",
    "minimax-m2": "minimax_m2",
}
"""Llama.cpp's names of architectures, and how transformers spells them."""
_NO_DECODERS = frozenset({"t5", "umt5", "tokenizer", *_SPELLED.values()})
"""What transformers' list names beside them."""


class _PassedOverError(ValueError):
    """What a file asks for and transformers would pass over in silence."""


def _find_rows(header: Header) -> int:
    rows = {tensor.name: tensor.shape[0] for tensor in header.tensors}
    if "token_embd.weight" not in rows:
        raise _PassedOverError("there is no input embedding (token_embd.weight)")
    return rows["token_embd.weight"]


def _check_keys(config: Any, header: Header) -> None:
    """Raise an error if a key of the architecture is neither read nor without effect."""
    from transformers.integrations.ggml import GGUF_CONFIG_MAPPING

    read = GGUF_CONFIG_MAPPING.get(_SPELLED.get(header.architecture, header.architecture), {})
    read = read | _EXPERTS.get(header.architecture, {})
    for key, value in header.get_own().items():
        if read.get(key) or key in _IDLE:
            continue
        if key not in _SAME:
            raise _PassedOverError(f"{key} = {value!r} is not read by transformers")
        used = _SAME[key](config)
        if used != value and not (isinstance(value, float) and math.isclose(used, value, rel_tol=1e-6)):
            raise _PassedOverError(f"{key} = {value!r}, and transformers would take {used!r}")


def _set_rope(config: Any, header: Header, read: Callable[[str], Any]) -> None:
    """Set the scaling of rotary positions, which transformers does not read from these files."""
    own, scaling = header.get_own(), {}
    kind = own.get("rope.scaling.type", "none")
    if kind == "linear":
        scaling = {"rope_type": "linear", "factor": own["rope.scaling.factor"]}
    elif kind != "none":
        raise _PassedOverError(f"rope.scaling.type = {kind!r} is not read by transformers")
    if any(tensor.name == _ROPE_TENSOR for tensor in header.tensors):
        scaling = _recognize_llama3(config, read(_ROPE_TENSOR))
    if scaling:
        parameters = config.rope_parameters
        # Gemma 3 scales in its layers of full attention only
        parameters.get("full_attention", parameters).update(scaling)


def _recognize_llama3(config: Any, factors: Any) -> dict[str, Any]:
    """Return Llama 3's scaling of rotary positions whose factors for each frequency are these."""
    head, theta = _find_head(config), config.rope_parameters["rope_theta"]
    factor, low, high, old = float(max(factors)), 1.0, 4.0, 8192
    expected = []
    for place in range(0, head, 2):
        turns = old / (2 * math.pi * theta ** (place / head))  # within the context before it was extended
        share = min(1.0, max(0.0, (turns - low) / (high - low)))
        expected.append(1 / ((1 - share) / factor + share))
    if len(expected) != len(factors) or not all(map(_is_near, expected, factors)):
        raise _PassedOverError(f"{_ROPE_TENSOR} scales rotary positions in a way that is not Llama 3's")
    scaling = {"factor": factor, "low_freq_factor": low, "high_freq_factor": high}
    return {"rope_type": "llama3", **scaling, "original_max_position_embeddings": old}


def _is_near(expected: float, found: float) -> bool:
    return math.isclose(expected, float(found), rel_tol=1e-4)
