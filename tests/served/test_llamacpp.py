"""A real llama-server on this machine's processor: its ranks and bits are those of the weights.

With FATHOM_LLAMACPP=ADDRESS#NAME and FATHOM_SERVER_MODEL=FOLDER a server that runs already is asked instead.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.models.gguf_model import make_llama, write_gguf
from tests.refusals import refuses
from tests.served.processes import PATIENCE, find_port, run_server

from fathom.config.scoring import Perplexity, Scoring
from fathom.config.served import Served
from fathom.models.folders import save_model
from fathom.models.loading import load_model
from fathom.models.served import ServedModel, point_to_server
from fathom.scoring.ranks import score_benchmarks
from fathom.scoring.served_ranks import score_served
from fathom.scoring.text_bits import measure_text

pytestmark = pytest.mark.served
SERVER = Path(__file__).resolve().parents[2] / "build" / "llama" / "bin" / "llama-server"
SETTINGS = Served(timeout=PATIENCE)
TEXTS = ("the policy of the agent learns a reward", "a model of the state predicts the next one",
         "heat flows from a hot body to a cold one", "the cell divides into two equal halves",
         "prices rise when demand exceeds supply", "light of a distant star bends near the sun")  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Return the address of a model behind llama.cpp, and the folder of its weights."""
    if "FATHOM_LLAMACPP" in os.environ:
        yield os.environ["FATHOM_LLAMACPP"], Path(os.environ["FATHOM_SERVER_MODEL"])
        return
    if not SERVER.is_file():
        pytest.skip("llama-server is not built: tests/served/install_llamacpp.sh")
    folder = tmp_path_factory.mktemp("served") / "tiny"
    model, tokenizer = make_llama()
    save_model(folder, model, tokenizer)
    file = write_gguf(folder.with_name("tiny.gguf"), model, tokenizer)
    port = find_port()
    command = [SERVER, "--model", file, "--alias", "tiny", "--host", "127.0.0.1", "--port", port,
               "--threads", "1", "--parallel", "2", "--ctx-size", "128", "--no-webui",
               "--cache-type-k", "f32", "--cache-type-v", "f32", "--flash-attn", "off"]  # fmt: skip
    with run_server(command, port, folder.with_name("log")) as url:
        yield f"{url}#tiny", folder


@pytest.fixture(scope="module")
def pairs() -> pl.DataFrame:
    """Return the last words of the beginnings of some sentences, each a keyword of its own."""
    rows = [
        (f"{number}-{place}", f"k{number}", " ".join(words[:place]), f" {words[place]}")
        for number, words in enumerate(text.split() for text in TEXTS)
        for place in range(3, len(words))
    ]
    return pl.DataFrame(rows, ["pair_id", "keyword", "prompt", "target"], orient="row")


def test_ranks_and_bits_of_llamacpp_are_those_of_the_weights(served, pairs):
    address, folder = served
    opened = ServedModel(point_to_server(address, folder, SETTINGS), SETTINGS)
    (found,), _ = score_served(opened, [pairs])
    (plain,) = score_benchmarks(*load_model(folder), [pairs], Scoring(device="cpu"))
    same = (found["rank"] == plain["rank"]).mean()
    apart = np.abs(found["log_probability"] - plain["log_probability"]).max()
    bits, mean = np.abs(found["bits"] - plain["bits"]).max(), plain["bits"].mean()
    largest = (found["rank"] - plain["rank"]).abs().max()
    print(f"{len(found)} pairs, ranks equal: {same:.1%}, others by up to {largest}, "
          f"log-probabilities differ by up to {apart:.1e}, bits (mean {mean:.3f}) by up to {bits:.1e}; "
          f"{opened.statement.text}")  # fmt: skip
    assert found["pair_id"].equals(plain["pair_id"]) and found["tokens"].equals(plain["tokens"])
    assert same > 0.9 and apart < 1e-3 and bits < 1e-3
    assert ((found["rank"] - plain["rank"]).abs() <= 2).all()
    assert ((found["rival_rank"] - plain["rival_rank"]).abs() <= 1).all()
    assert plain["rival_rank"].n_unique() > 3


def test_texts_are_refused(served):
    address, folder = served
    opened = ServedModel(point_to_server(address, folder, SETTINGS), SETTINGS)
    texts = pl.DataFrame({"doc_id": ["a"], "text": ["the policy of the model"]})
    with refuses("own tokens"):
        measure_text(opened, texts, Perplexity(window=20, stride=10))
