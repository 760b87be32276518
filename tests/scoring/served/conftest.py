"""A model, a server that gives its log-probabilities, and pairs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scoring.sentences import make_tokenizer
from tests.scoring.served.scoring import PAIRS
from tests.scoring.served.stub_server import Stub, serve
from transformers import GPT2Config, GPT2LMHeadModel, set_seed

from fathom.io.files import write_json_lines
from fathom.models.folders import save_model
from fathom.models.loading import load_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a model whose predictions differ much from token to token."""
    set_seed(0)
    config = GPT2Config(vocab_size=62, n_positions=40, n_embd=16, n_layer=1, n_head=2, initializer_range=1.0)
    path = tmp_path_factory.mktemp("served") / "tiny"
    save_model(path, GPT2LMHeadModel(config), make_tokenizer())
    return path


@pytest.fixture
def stub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    with serve(Stub(*load_model(folder)), monkeypatch) as served:
        yield served


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    write_json_lines(tmp_path / "pairs.jsonl", PAIRS.iter_rows(named=True))
    return tmp_path / "pairs.jsonl"
