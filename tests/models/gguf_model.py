"""Tiny GGUF files, written with the package gguf as llama.cpp converts a Llama model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import quantize
from tests.tiny import make_byte_tokenizer, make_config, make_model

PROMPTS = ["the policy of the", "a model learns 12 states", "reward  and\n\n3 values"]
_NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip


def make_llama() -> tuple[Any, Any]:
    """Return a tiny Llama model with untied output layer, and its tokenizer."""
    tokenizer = make_byte_tokenizer(PROMPTS * 5, 290)
    config = make_config("llama", len(tokenizer), 64, width=64, tie_word_embeddings=False)
    return make_model(config), tokenizer


def write_gguf(
    path: Path,
    model: Any,
    tokenizer: Any,
    kind: GGMLQuantizationType = GGMLQuantizationType.F32,
    change: Callable[[dict[str, Any], dict[str, Any]], None] = lambda values, tensors: None,
) -> Path:
    """Write a model as GGUF.

    Parameters
    ----------
    path : Path
    model, tokenizer
        From :func:`make_llama`.
    kind : GGMLQuantizationType
        Format of the matrices.
    change : callable
        Changes metadata and tensors (in float32) before they are written.
    """
    values, tensors = _describe(model.config, tokenizer), _name_tensors(model)
    change(values, tensors)
    writer = GGUFWriter(path, values.pop("general.architecture"))
    for key, value in values.items():
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, float):
            writer.add_float32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        else:
            writer.add_array(key, value)
    for name, tensor in tensors.items():
        stored = quantize(tensor, kind) if tensor.ndim == 2 else tensor
        writer.add_tensor(name, stored, raw_dtype=kind if tensor.ndim == 2 else None)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def permute(weight: np.ndarray, heads: int) -> np.ndarray:
    """Order the rows of a projection to queries or keys as llama.cpp does."""
    halves = weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(weight.shape))


def _describe(config: Any, tokenizer: Any) -> dict[str, Any]:
    """Return the metadata of a model."""
    core = json.loads(tokenizer.backend_tokenizer.to_str())
    tokens = [tokenizer.convert_ids_to_tokens(place) for place in range(len(tokenizer))]
    merges = [each if isinstance(each, str) else " ".join(each) for each in core["model"]["merges"]]
    end = tokenizer.eos_token_id
    return {
        "general.architecture": "llama", "general.type": "model", "general.name": "tiny",
        "general.license": "cc0-1.0", "llama.context_length": config.max_position_embeddings,
        "llama.embedding_length": config.hidden_size, "llama.block_count": config.num_hidden_layers,
        "llama.feed_forward_length": config.intermediate_size,
        "llama.attention.head_count": config.num_attention_heads,
        "llama.attention.head_count_kv": config.num_key_value_heads,
        "llama.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "llama.rope.dimension_count": config.head_dim,
        "llama.rope.freq_base": float(config.rope_parameters["rope_theta"]),
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3 if place == end else 1 for place in range(len(tokens))],
        "tokenizer.ggml.merges": merges, "tokenizer.ggml.bos_token_id": end,
        "tokenizer.ggml.eos_token_id": end, "tokenizer.ggml.add_bos_token": False,
    }  # fmt: skip


def _name_tensors(model: Any) -> dict[str, np.ndarray]:
    """Return the weights of a model under llama.cpp's names, in its order of rows."""
    found = {}
    for name, weight in model.state_dict().items():
        module = name.removesuffix(".weight")
        block = module.split(".")[2] if module.startswith("model.layers.") else None
        plain = ".".join(module.split(".")[3:]) if block else module
        values = weight.detach().to(torch.float32).numpy()
        if plain.endswith(("q_proj", "k_proj")):
            config = model.config
            values = permute(
                values, config.num_attention_heads if "q_" in plain else config.num_key_value_heads
            )
        found[f"blk.{block}.{_NAMES[plain]}.weight" if block else f"{_NAMES[plain]}.weight"] = values
    return found
