"""Small tokenizers, models and texts that tests of models share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed

from fathom.config.models import Training
from fathom.jobs import resume
from fathom.models import training
from fathom.models.folders import load_tokenizer, save_model
from fathom.models.sequences import train_tokenizer
from fathom.models.training import build_model

WORDS = ["the", "of", "a", "model", "learns", "policy", "reward", "agent", "state", "value", "and", "deep"]


@pytest.fixture(scope="session")
def texts() -> pl.DataFrame:
    """Return 60 documents under contract TEXTS, one in six held out."""
    rows = [
        {
            "doc_id": f"doc{number:02d}",
            "split": "adapt-valid" if number % 6 == 0 else "adapt-train",
            "text": " ".join(WORDS[(number * 7 + place * place) % len(WORDS)] for place in range(60)) + ".",
        }
        for number in range(60)
    ]
    return pl.DataFrame(rows)


@pytest.fixture(scope="session")
def settings() -> Training:
    return Training(
        domain="x", layers=1, width=16, heads=2, vocabulary=280, context=32, steps=4, batch=4, sequence=16
    )


@pytest.fixture(scope="session")
def tokenizer_folder(texts, settings, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tokenizer") / "tokenizer"
    train_tokenizer(texts, settings, folder)
    return folder


@pytest.fixture(scope="session")
def tokenizer(tokenizer_folder: Path) -> PreTrainedTokenizerFast:
    return load_tokenizer(tokenizer_folder)


@pytest.fixture
def model_folder(tokenizer: PreTrainedTokenizerFast, tmp_path: Path) -> Path:
    set_seed(0)
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=32, n_embd=16, n_layer=1, n_head=2)
    save_model(tmp_path / "weights", GPT2LMHeadModel(config), tokenizer)
    return tmp_path / "weights"


class StoppedRunError(Exception):
    """What stops a training in a test."""


@pytest.fixture
def train_until(tokenizer, texts, settings, monkeypatch) -> Callable[..., Any]:
    """Return what trains from where the last run stopped, up to a step if one is given."""
    monkeypatch.setattr(resume, "INTERVAL", 0)
    sum_losses = training.sum_losses

    def run(adaptation, kept, stop=None, full=0, factor=1.0) -> tuple[Any, dict[str, torch.Tensor]]:
        calls = [0]

        def interrupt(model: Any, batch: torch.Tensor) -> torch.Tensor:
            calls[0] += model.training
            if full and calls[0] > full and len(batch) > 2:
                raise torch.OutOfMemoryError
            if calls[0] == stop:
                raise StoppedRunError
            return sum_losses(model, batch) * factor

        monkeypatch.setattr(training, "PACKED", training.PACKED._replace(sum_losses=interrupt))
        model = build_model(settings, tokenizer)
        curve = training.train(model, tokenizer, texts, adaptation, resume=kept)
        return curve, model.state_dict()

    return run
