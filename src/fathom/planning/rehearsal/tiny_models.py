"""Tiny random models of the families of transformers: dense, experts, recurrent, hybrid, inside wrappers."""

from collections.abc import Mapping
from typing import Any

ENTRIES, WIDTH, LAYERS, CONTEXT = 96, 32, 2, 64
SHAPE: dict[str, Any] = {
    "vocab_size": ENTRIES, "hidden_size": WIDTH, "intermediate_size": 48, "num_hidden_layers": LAYERS,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": CONTEXT,
    "bos_token_id": 1, "eos_token_id": 1, "pad_token_id": 0,
}  # fmt: skip
_IF_KNOWN: dict[str, Any] = {
    "head_dim": 8, "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "n_shared_experts": 1,
    "num_experts_per_tok": 2, "moe_intermediate_size": 24, "shared_expert_intermediate_size": 24,
    "n_group": 1, "topk_group": 1, "expert_ffn_hidden_size": 24, "ffn_hidden_size": 48, "moe_num_experts": 4,
    "q_lora_rank": 8, "kv_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8,
    "mamba_d_state": 8, "mamba_d_head": 16, "mamba_n_heads": 4, "state_size": 8, "linear_key_head_dim": 8,
    "linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 2,
}  # fmt: skip
_MORE: dict[str, dict[str, Any]] = {
    "bamba": {"mamba_n_heads": 4, "mamba_d_head": 16},
    "bert": {"is_decoder": True},
    "codegen": {"rotary_dim": 4},
    "cohere": {"logit_scale": 0.25},
    "ctrl": {"dff": 48},
    "deepseek_v2": {"first_k_dense_replace": 1, "topk_method": "greedy", "num_key_value_heads": 4},
    "deepseek_v3": {"first_k_dense_replace": 1, "num_key_value_heads": 4},
    "falcon_h1": {"mamba_d_ssm": 64, "mamba_d_head": 16, "mamba_n_heads": 4, "mamba_n_groups": 1},
    "gemma2": {"final_logit_softcapping": 3.0, "query_pre_attn_scalar": 8},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "num_layers": 2, "num_heads": 4},
    "gptj": {"rotary_dim": 4},
    "granite": {"logits_scaling": 8.0, "embedding_multiplier": 3.0},
    "granitemoehybrid": {"mamba_n_heads": 4, "mamba_d_head": 16, "layer_types": ["mamba", "attention"]},
    "hunyuan_v1_dense": {"head_dim": 8},
    "jamba": {"mamba_dt_rank": 4, "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2},
    "lfm2": {"full_attn_idxs": [1]},
    "mamba2": {"num_heads": 4, "head_dim": 16, "n_groups": 1},
    "minicpm3": {"num_key_value_heads": 4},
    "ministral": {"head_dim": 8},
    "mpt": {"d_model": WIDTH, "n_layers": LAYERS, "n_heads": 4, "max_seq_len": CONTEXT},
    "nemotron_h": {
        "layers_block_type": ["mamba", "attention"],
        "mamba_num_heads": 4,
        "mamba_head_dim": 16,
        "n_groups": 1,
    },
    "opt": {"ffn_dim": 48, "word_embed_proj_dim": WIDTH},
    "opt-350m": {"ffn_dim": 48, "word_embed_proj_dim": 16, "do_layer_norm_before": False},
    "phi": {"partial_rotary_factor": 0.5},
    "qwen3_next": {"layer_types": ["linear_attention", "full_attention"]},
    "qwen3_5_text": {"layer_types": ["linear_attention", "full_attention"]},
    "recurrent_gemma": {"lru_width": WIDTH},
    "rwkv": {"attention_hidden_size": WIDTH},
    "xlstm": {"num_heads": 4},
}
FAMILIES = [
    "gpt2", "gpt_neo", "gptj", "gpt_neox", "gpt_bigcode", "codegen", "opt", "opt-350m", "bloom", "mpt",
    "falcon", "llama", "mistral", "ministral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text",
    "vaultgemma", "olmo", "olmo2", "olmo3", "phi", "phi3", "cohere", "cohere2", "granite", "glm",
    "glm4", "smollm3", "stablelm", "starcoder2", "exaone4", "nemotron", "arcee", "apertus", "helium",
    "seed_oss", "ernie4_5", "hunyuan_v1_dense", "nanochat", "diffllama", "doge", "persimmon", "biogpt",
    "xglm", "ctrl", "openai-gpt", "bert", "modernbert-decoder", "minicpm3", "bitnet", "mixtral",
    "qwen2_moe", "qwen3_moe", "olmoe", "flex_olmo", "phimoe", "granitemoe", "gpt_oss", "deepseek_v2",
    "deepseek_v3", "ernie4_5_moe", "jetmoe", "minimax", "llama4_text", "mamba", "mamba2",
    "falcon_mamba", "rwkv", "xlstm", "recurrent_gemma", "jamba", "bamba", "falcon_h1",
    "granitemoehybrid", "nemotron_h", "qwen3_next", "qwen3_5_text", "lfm2", "hrm_text",
]  # fmt: skip
_IMAGES = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2,
    "image_size": 28, "patch_size": 14,
}  # fmt: skip
_QWEN = {"depth": 1, "hidden_size": 32, "embed_dim": 32, "num_heads": 2, "intermediate_size": 48,
         "out_hidden_size": 32, "fullatt_block_indexes": [0], "deepstack_visual_indexes": [0]}  # fmt: skip
_ROPE = {"rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4}}
WRAPPERS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "gemma3": ("", _IMAGES, {}),
    "mistral3": ("mistral", _IMAGES, {}),
    "qwen2_vl": ("", _QWEN, _ROPE),
    "qwen2_5_vl": ("", _QWEN, _ROPE),
    "qwen3_vl": ("", _QWEN, _ROPE),
    "internvl": ("qwen2", {**_IMAGES, "image_size": [28, 28], "patch_size": [14, 14]}, {}),
    "llava": ("llama", _IMAGES, {}),
    "llama4": (
        "",
        {**_IMAGES, "vision_output_dim": 32, "projector_input_dim": 32, "projector_output_dim": 32},
        {"intermediate_size_mlp": 48},
    ),
    "paligemma": ("gemma", _IMAGES, {}),
    "idefics3": ("llama", _IMAGES, {}),
    "aya_vision": ("cohere2", _IMAGES, {}),
    "mllama": ("", _IMAGES, {"cross_attention_layers": [1]}),
}
"""By model type: type of the text model ("": the wrapper's own), settings for images, more for text."""


def make_family_config(kind: str, **sizes: int) -> Any:
    """Return the configuration of a tiny model of a family.

    Parameters
    ----------
    kind : str
        One of :data:`FAMILIES`, of :data:`WRAPPERS`, or another model type of transformers.
    """
    from transformers import CONFIG_MAPPING, AutoConfig

    if kind in WRAPPERS:
        text, images, more = WRAPPERS[kind]
        plain = CONFIG_MAPPING[kind]()
        known = plain.text_config if not text else None
        text_config = _fit(text or plain.text_config.model_type, sizes, known)
        return AutoConfig.for_model(
            kind,
            text_config={**text_config, **more},
            vision_config={**images, "model_type": plain.vision_config.model_type},
        )
    name = kind.removesuffix("-350m") if kind == "opt-350m" else kind
    return AutoConfig.for_model(**{**_fit(name, sizes), **_MORE.get(kind, {})})


def _fit(kind: str, sizes: Mapping[str, int], known: Any = None) -> dict[str, Any]:
    from transformers import CONFIG_MAPPING

    known = known or CONFIG_MAPPING[kind]()
    settable = [name for name in _IF_KNOWN if not isinstance(getattr(type(known), name, None), property)]
    more = {name: _IF_KNOWN[name] for name in settable if hasattr(known, name)}
    return {"model_type": kind, **SHAPE, **more, **sizes}


def make_family(kind: str, seed: int = 0, spread: float = 0.2, **sizes: int) -> Any:
    """Return a tiny model of a family with random weights, of which none is 0."""
    import torch

    from fathom.models.text_model import choose_class

    torch.manual_seed(seed)
    config = make_family_config(kind, **sizes)
    model = choose_class(config, kind).from_config(config).float().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight), alpha=spread)
    return model
