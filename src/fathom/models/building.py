"""Small models to train from scratch, untrained."""

import math
from typing import Any

from fathom.config.models import Training
from fathom.errors import InputError


def build_model(settings: Training, tokenizer: Any) -> Any:
    """Return an untrained GPT-2 or Llama model, initialised from the seed.

    Raises
    ------
    InputError
        If `width` is not an even multiple of `heads`.
    """
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    if settings.width % settings.heads or settings.width // settings.heads % 2:
        raise InputError(
            f"width = {settings.width} is not an even multiple of heads = {settings.heads}", "models.train"
        )
    shared = {
        "vocab_size": len(tokenizer),
        "max_position_embeddings": settings.context,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "num_hidden_layers": settings.layers,
        "hidden_size": settings.width,
        "num_attention_heads": settings.heads,
        "tie_word_embeddings": True,
        "dtype": "float32",
    }
    torch.manual_seed(settings.seed)
    if settings.architecture == "llama":
        inner = math.ceil(settings.width * 8 / 3 / 16) * 16
        return LlamaForCausalLM(LlamaConfig(intermediate_size=inner, **shared))
    # a fused implementation of GPT-2's activation, gelu_new
    return GPT2LMHeadModel(GPT2Config(activation_function="gelu_pytorch_tanh", **shared))
