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
from tests.scoring.sentences import cut_many_sentences
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
               "--threads", "1", "--parallel", "2", "--ctx-size", "128", "--no-webui"]  # fmt: skip
    with run_server(command, port, folder.with_name("log")) as url:
        yield f"{url}#tiny", folder


@pytest.fixture(scope="module")
def pairs(served: tuple[str, Path]) -> pl.DataFrame:
    if "FATHOM_LLAMACPP" in os.environ:
        return cut_many_sentences("tf", [2, 4]).gather_every(4)  # an answer has the whole vocabulary
    texts = ("the policy of the", "a model learns 12 states", "reward and values", "the states of a policy")
    rows = [
        (f"{keyword}{number}", keyword, " ".join(words[: number + 1]), f" {words[number + 1]}")
        for keyword, words in ((f"k{place}", text.split()) for place, text in enumerate(texts))
        for number in range(len(words) - 1)
    ]
    return pl.DataFrame(rows, ["pair_id", "keyword", "prompt", "target"], orient="row")


def test_ranks_and_bits_of_llamacpp_are_those_of_the_weights(served, pairs):
    address, folder = served
    opened = ServedModel(point_to_server(address, folder, SETTINGS), SETTINGS)
    (found,), _ = score_served(opened, [pairs])
    (plain,) = score_benchmarks(*load_model(folder), [pairs], Scoring(device="cpu"))
    same = (found["rank"] == plain["rank"]).mean()
    apart = np.abs(found["log_probability"] - plain["log_probability"]).max()
    bits = np.abs(found["bits"] - plain["bits"]).max()
    print(f"{len(found)} pairs, ranks equal: {same:.1%}, log-probabilities differ by up to {apart:.1e}, "
          f"bits (mean {plain['bits'].mean():.3f}) by up to {bits:.1e}; {opened.statement.text}")  # fmt: skip
    assert found["pair_id"].equals(plain["pair_id"]) and found["tokens"].equals(plain["tokens"])
    assert same > 0.97 and apart < 1e-3 and bits < 1e-3
    assert ((found["rank"] - plain["rank"]).abs() <= 2).all()


def test_texts_are_refused(served):
    address, folder = served
    opened = ServedModel(point_to_server(address, folder, SETTINGS), SETTINGS)
    texts = pl.DataFrame({"doc_id": ["a"], "text": ["the policy of the model"]})
    with refuses("none of its own tokens"):
        measure_text(opened, texts, Perplexity(window=20, stride=10))
