"""A small tokenizer, small models and examples to tune with."""

from pathlib import Path

import polars as pl
import pytest
import torch
from tests import tiny
from transformers import PreTrainedTokenizerFast

WORDS = [
    "model", "learns", "policy", "reward", "agent", "state", "value", "deep",
    "graph", "kernel", "tensor", "loss", "sample", "noise", "prior",
]  # fmt: skip
KINDS = ("gpt2", "llama", "qwen2", "gemma2", "olmo2", "phi3", "gpt_neox")
LORA = {"dtype": "float32", "learning_rate": 0.01, "epochs": 5, "batch": 4, "max_tokens": 64}
COMPLETION = {"kind": "completion", "domain": "x"}


def make_model(name: str):
    """Return a small model with random weights and no dropout of its own."""
    model = tiny.make_model(tiny.make_config(name, 300, 64, initializer_range=0.2))
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return model


def make_sentence(number: int, words: int) -> str:
    return " ".join(WORDS[(number * 7 + place * (number % 5 + 1)) % len(WORDS)] for place in range(words))


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    return tiny.make_byte_tokenizer((make_sentence(number, 12) for number in range(40)), 300)


@pytest.fixture(scope="session")
def pairs() -> pl.DataFrame:
    """Return 120 pairs of 40 documents and 10 keywords, under contract PAIRS."""
    rows = []
    for number in range(120):
        words = make_sentence(number, 5 + number % 9).split()
        rows.append({
            "pair_id": f"pair{number:03d}", "keyword": f"keyword {number % 10}", "variant": "tf",
            "prompt": " ".join(words[:-1]), "target": f" {words[-1]}", "doc_id": f"doc{number % 40}",
            "date": "", "cosine": 0.6, "target_in_prompt": False, "target_in_keyword": False,
            "association": 2.5,
        })  # fmt: skip
    return pl.DataFrame(rows)


@pytest.fixture
def model_folder(tokenizer: PreTrainedTokenizerFast, tmp_path: Path) -> Path:
    make_model("gpt2").save_pretrained(tmp_path / "weights")
    tokenizer.save_pretrained(tmp_path / "weights")
    return tmp_path / "weights"
