"""A small tokenizer, small models and examples to tune with."""

from copy import deepcopy
from pathlib import Path

import polars as pl
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    Olmo2Config,
    Phi3Config,
    PreTrainedTokenizerFast,
    Qwen2Config,
)

WORDS = [
    "model", "learns", "policy", "reward", "agent", "state", "value", "deep",
    "graph", "kernel", "tensor", "loss", "sample", "noise", "prior",
]  # fmt: skip
SHAPE = {
    "vocab_size": 300, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
    "initializer_range": 0.2,
}  # fmt: skip
CONFIGURATIONS = {
    "gpt2": GPT2Config(vocab_size=300, n_positions=64, n_embd=32, n_layer=2, n_head=4, initializer_range=0.2),
    "llama": LlamaConfig(**SHAPE), "qwen2": Qwen2Config(**SHAPE), "gemma2": Gemma2Config(**SHAPE, head_dim=8),
    "olmo2": Olmo2Config(**SHAPE), "phi3": Phi3Config(**SHAPE, pad_token_id=0),
    "gpt_neox": GPTNeoXConfig(**{key: SHAPE[key] for key in SHAPE if key != "num_key_value_heads"}),
}  # fmt: skip

LORA = {"dtype": "float32", "learning_rate": 0.01, "epochs": 5, "batch": 4, "max_tokens": 64}
COMPLETION = {"kind": "completion", "domain": "x"}


def make_model(name: str):
    """Return a small model with random weights and no dropout of its own."""
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(deepcopy(CONFIGURATIONS[name])).float().eval()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return model


def make_sentence(number: int, words: int) -> str:
    return " ".join(WORDS[(number * 7 + place * (number % 5 + 1)) % len(WORDS)] for place in range(words))


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<|end|>"], show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )  # fmt: skip
    core.train_from_iterator([make_sentence(number, 12) for number in range(40)], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<|end|>", eos_token="<|end|>")


@pytest.fixture(scope="session")
def pairs() -> pl.DataFrame:
    """Return 120 pairs of 40 documents and 10 keywords, under contract PAIRS."""
    rows = []
    for number in range(120):
        words = make_sentence(number, 5 + number % 9).split()
        rows.append(
            {
                "pair_id": f"pair{number:03d}", "keyword": f"keyword {number % 10}", "variant": "tf",
                "prompt": " ".join(words[:-1]), "target": f" {words[-1]}", "doc_id": f"doc{number % 40}",
                "date": "", "cosine": 0.6, "target_in_prompt": False, "target_in_keyword": False,
            }
        )  # fmt: skip
    return pl.DataFrame(rows)


@pytest.fixture
def model_folder(tokenizer: PreTrainedTokenizerFast, tmp_path: Path) -> Path:
    make_model("gpt2").save_pretrained(tmp_path / "weights")
    tokenizer.save_pretrained(tmp_path / "weights")
    return tmp_path / "weights"
