"""Tiny random models of several architectures, and the plain ways that results are compared with."""

from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

ENTRIES, CONTEXT = 64, 32
_LLAMA = {
    "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 3, "num_attention_heads": 2,
    "num_key_value_heads": 1, "max_position_embeddings": CONTEXT,
}  # fmt: skip
_SPECIAL = {"bos_token_id": 1, "eos_token_id": 1, "pad_token_id": 0}
_GPT = {"n_embd": 16, "n_layer": 3, "n_head": 2, "n_positions": CONTEXT}
_EXPERTS = {"num_local_experts": 2, "num_experts": 2, "num_experts_per_tok": 1}
SETTINGS: dict[str, dict[str, Any]] = {
    "bloom": {"hidden_size": 16, "n_layer": 3, "n_head": 2},
    "cohere": {**_LLAMA, "logit_scale": 0.25},
    "gemma2": {**_LLAMA, "head_dim": 8, "final_logit_softcapping": 3.0},
    "gpt2": _GPT,
    "gpt_neo": {"hidden_size": 16, "num_layers": 3, "num_heads": 2, "max_position_embeddings": CONTEXT,
                "attention_types": [[["global", "local"], 1], [["global"], 1]]},
    "gpt_neox": {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 3,
                 "num_attention_heads": 2, "max_position_embeddings": CONTEXT},
    "granite": {**_LLAMA, "logits_scaling": 8.0, "embedding_multiplier": 3.0},
    "llama": _LLAMA,
    "mistral": _LLAMA,
    "mixtral": {**_LLAMA, **_EXPERTS},
    "mpt": {"d_model": 16, "n_layers": 3, "n_heads": 2, "max_seq_len": CONTEXT},
    "olmo2": _LLAMA,
    "opt": {"hidden_size": 16, "ffn_dim": 24, "num_hidden_layers": 3, "num_attention_heads": 2,
            "word_embed_proj_dim": 16, "max_position_embeddings": CONTEXT},
    "phi3": _LLAMA,
    "qwen2": _LLAMA,
    "qwen3": {**_LLAMA, "head_dim": 8},
}  # fmt: skip


def make_model(kind: str, seed: int = 0, spread: float = 0.3, **more: Any) -> Any:
    """Return a tiny model of a type with random weights, norms and biases among them."""
    torch.manual_seed(seed)
    config = AutoConfig.for_model(kind, vocab_size=ENTRIES, **{**_SPECIAL, **SETTINGS[kind], **more})
    model = AutoModelForCausalLM.from_config(config).float().eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.normal_(0.0, spread)
            if weight.ndim == 1 and name.endswith("weight") and "gemma" not in kind:
                weight.add_(1.0)
    return model


def read_all_states(model: Any, ids: list[int]) -> list[torch.Tensor]:
    """Return what goes into every block and comes out of the last, by hooks on all modules of the list."""
    seen: list[torch.Tensor] = []
    lists = [module for module in model.modules() if isinstance(module, torch.nn.ModuleList)]
    blocks = max((each for each in lists if len(each) == 3), key=lambda each: sum(1 for _ in each.modules()))

    def keep(_: Any, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen.append((inputs[0] if inputs else named["hidden_states"])[0])

    hooks = [block.register_forward_pre_hook(keep, with_kwargs=True) for block in blocks]
    hooks.append(blocks[-1].register_forward_hook(
        lambda _, __, output: seen.append((output[0] if isinstance(output, tuple) else output)[0])
    ))  # fmt: skip
    with torch.no_grad():
        model(input_ids=torch.tensor([ids]), use_cache=False)
    for hook in hooks:
        hook.remove()
    return seen
