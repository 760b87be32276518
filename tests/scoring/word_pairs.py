"""Words of which no two are forms of one, and pairs whose prompts and targets are made of them."""

from pathlib import Path
from typing import Any

import polars as pl
import torch
from tests.tiny import make_config, make_model, make_word_tokenizer

from fathom.models.folders import save_model

WORDS = [f"{first}{second}{third}b" for first in "bcdfghk" for second in "aeiouy" for third in "dfgklmz"]
ENTRIES = len(WORDS) + 3


def save_word_model(folder: Path, seed: int = 0) -> Path:
    """Write a tiny model whose tokens are these words, and return its folder."""
    config = make_config("gpt2", ENTRIES, 40, width=16, heads=2, layers=1, initializer_range=1.0)
    save_model(folder, make_model(config, seed=seed), make_word_tokenizer(WORDS))
    return folder


def make_pairs(name: str, targets: list[str]) -> pl.DataFrame:
    rows = [
        {
            "pair_id": f"{name}{number}",
            "keyword": f"k{number % 3}",
            "prompt": " ".join(
                WORDS[(number * 31 + place * place) % len(WORDS)] for place in range(1 + number % 9)
            ),
            "target": f" {target}",
        }
        for number, target in enumerate(targets)
    ]
    return pl.DataFrame(rows)


def make_known_pairs(model: Any, tokenizer: Any) -> pl.DataFrame:
    """Return pairs that a model knows something of: it has their targets high up; some are two words."""
    pairs = make_pairs("p", WORDS[:240])
    targets = []
    for number, prompt in enumerate(pairs["prompt"]):
        with torch.inference_mode():
            row = model(torch.tensor([tokenizer(prompt)["input_ids"]])).logits[0, -1].clone()
            row[[0, 1, ENTRIES - 1]] = -torch.inf  # no words
        word = tokenizer.decode([row.topk(80).indices.tolist()[number % 80]]).strip()
        targets.append(f" {word} {WORDS[0]}" if number % 5 == 0 else f" {word}")
    return pairs.with_columns(pl.Series("target", targets))
