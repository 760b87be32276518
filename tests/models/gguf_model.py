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
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate": "ffn_gate_inp",
    "mlp.experts.down_proj": "ffn_down_exps", "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    "mlp.shared_expert.gate_proj": "ffn_gate_shexp", "mlp.shared_expert.up_proj": "ffn_up_shexp",
    "mlp.shared_expert.down_proj": "ffn_down_shexp",
}  # fmt: skip


def make_llama() -> tuple[Any, Any]:
    """Return a tiny Llama model with untied output layer, and its tokenizer."""
    tokenizer = make_byte_tokenizer(PROMPTS * 5, 290)
    config = make_config("llama", len(tokenizer), 64, width=64, tie_word_embeddings=False)
    return make_model(config), tokenizer


def make_experts(kind: str) -> tuple[Any, Any]:
    """Return a tiny mixture of experts of Qwen, of type `qwen2_moe` or `qwen3_moe`, and its tokenizer."""
    tokenizer = make_byte_tokenizer(PROMPTS * 5, 290)
    # norm_topk_prob as llama.cpp takes it, which writes no key for it
    more = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
            "norm_topk_prob": kind == "qwen3_moe", "tie_word_embeddings": False}  # fmt: skip
    own = {"head_dim": 16} if kind == "qwen3_moe" else {"shared_expert_intermediate_size": 96}
    return make_model(make_config(kind, len(tokenizer), 64, width=64, **more, **own)), tokenizer


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
        From :func:`make_llama` or :func:`make_experts`.
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
        whole = tensor.ndim < 2 or "ffn_gate_inp" in name
        writer.add_tensor(
            name, tensor if whole else quantize(tensor, kind), raw_dtype=None if whole else kind
        )
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
    end, kind = tokenizer.eos_token_id, config.model_type.replace("_", "")
    sizes = {
        "context_length": config.max_position_embeddings, "embedding_length": config.hidden_size,
        "block_count": config.num_hidden_layers, "feed_forward_length": config.intermediate_size,
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "rope.freq_base": float(config.rope_parameters["rope_theta"]),
    }  # fmt: skip
    if kind == "llama":
        sizes["rope.dimension_count"] = config.head_dim
    else:
        sizes |= {
            "expert_count": config.num_experts, "expert_used_count": config.num_experts_per_tok,
            "expert_feed_forward_length": config.moe_intermediate_size,
        }  # fmt: skip
    if kind == "qwen3moe":
        sizes |= {"attention.key_length": config.head_dim, "attention.value_length": config.head_dim}
    if kind == "qwen2moe":
        sizes["expert_shared_feed_forward_length"] = config.shared_expert_intermediate_size
    return {
        "general.architecture": kind, "general.type": "model", "general.name": "tiny",
        "general.license": "cc0-1.0", **{f"{kind}.{key}": value for key, value in sizes.items()},
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3 if place == end else 1 for place in range(len(tokens))],
        "tokenizer.ggml.merges": merges, "tokenizer.ggml.bos_token_id": end,
        "tokenizer.ggml.eos_token_id": end, "tokenizer.ggml.add_bos_token": False,
    }  # fmt: skip


def _name_tensors(model: Any) -> dict[str, np.ndarray]:
    """Return the weights of a model under llama.cpp's names, in its order of rows."""
    found = {}
    for name, weight in model.state_dict().items():
        module, _, last = name.rpartition(".")
        if last not in ("weight", "bias"):  # stacked experts
            module, last = name, "weight"
        block = module.split(".")[2] if module.startswith("model.layers.") else None
        plain = ".".join(module.split(".")[3:]) if block else module
        values = weight.detach().to(torch.float32).numpy()
        if model.config.model_type == "llama" and plain.endswith(("q_proj", "k_proj")):
            config = model.config
            values = permute(
                values, config.num_attention_heads if "q_" in plain else config.num_key_value_heads
            )
        start = f"blk.{block}." if block else ""
        if plain == "mlp.experts.gate_up_proj":
            gate, up = np.split(values, 2, axis=1)
            found[f"{start}ffn_gate_exps.weight"] = np.ascontiguousarray(gate)
            found[f"{start}ffn_up_exps.weight"] = np.ascontiguousarray(up)
        else:
            values = values[0] if plain == "mlp.shared_expert_gate" else values
            found[f"{start}{_NAMES[plain]}.{last}"] = values
    return found
