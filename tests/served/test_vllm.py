"""A real vLLM on this machine's processor: its ranks and bits are those of the weights.

With FATHOM_SERVER=ADDRESS#NAME and FATHOM_SERVER_MODEL=FOLDER a server that runs already is asked instead.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.scoring.sentences import cut_many_sentences
from tests.scoring.word_pairs import ENTRIES, WORDS, make_known_pairs
from tests.served.processes import PATIENCE, find_port, run_server
from tests.tiny import make_word_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, set_seed

from fathom.config.scoring import Scoring
from fathom.config.served import Served
from fathom.models.folders import save_model
from fathom.models.loading import load_model
from fathom.models.served import ServedModel, point_to_server
from fathom.models.served_answers import Way
from fathom.scoring.ranks import score_benchmarks
from fathom.scoring.served_ranks import score_served

pytestmark = pytest.mark.served
VLLM = Path(__file__).resolve().parents[2] / "build" / "vllm" / "bin" / "vllm"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Return the address of a model behind vLLM, and its folder."""
    if "FATHOM_SERVER" in os.environ:
        yield os.environ["FATHOM_SERVER"], Path(os.environ["FATHOM_SERVER_MODEL"])
        return
    if not VLLM.is_file():
        pytest.skip("vLLM is not installed: tests/served/install.sh")
    folder = tmp_path_factory.mktemp("served") / "tiny"
    set_seed(0)
    config = LlamaConfig(vocab_size=ENTRIES, max_position_embeddings=64, hidden_size=64, num_hidden_layers=2,
                         num_attention_heads=2, intermediate_size=128, initializer_range=0.5)  # fmt: skip
    save_model(folder, LlamaForCausalLM(config), make_word_tokenizer(WORDS))
    port = find_port()
    command = [VLLM, "serve", folder, "--served-model-name", "tiny", "--dtype", "float32", "--enforce-eager",
               "--max-logprobs", "-1", "--host", "127.0.0.1", "--port", port]  # fmt: skip
    quiet = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    with run_server(command, port, folder.with_name("log"), quiet) as url:
        yield f"{url}#tiny", folder


@pytest.fixture(scope="module")
def pairs(served: tuple[str, Path]) -> pl.DataFrame:
    """Return pairs that a tiny model knows something of, with more targets than one request names."""
    if "FATHOM_SERVER" in os.environ:
        return cut_many_sentences("tf", [2, 4])
    return make_known_pairs(*load_model(served[1]))


def test_ranks_of_vllm_are_those_of_the_weights(served, pairs):
    address, folder = served
    settings = Served(timeout=PATIENCE)  # vLLM compiles before its first answer
    opened = ServedModel(point_to_server(address, folder, settings), settings)
    (found,), _ = score_served(opened, [pairs])
    model, tokenizer = load_model(folder)
    plain = score_benchmarks(model, tokenizer, [pairs], Scoring(device="cpu"))[0]
    same = (found["rank"] == plain["rank"]).mean()
    apart = np.abs(found["log_probability"] - plain["log_probability"]).max()
    print(f"{len(found)} pairs, ranks equal: {same:.1%}, log-probabilities differ by up to {apart:.1e}")
    assert found["pair_id"].equals(plain["pair_id"]) and found["tokens"].equals(plain["tokens"])
    assert same > 0.97 and apart < 1e-3
    assert ((found["rank"] - plain["rank"]).abs() <= 2).all()


@pytest.mark.parametrize("way", [Way.NAMED, Way.ALL])
def test_bits_of_vllm_are_those_of_the_weights(served, pairs, monkeypatch, way):
    address, folder = served
    settings = Served(timeout=PATIENCE)
    opened = ServedModel(point_to_server(address, folder, settings), settings)
    assert opened.following[0] == Way.NAMED
    monkeypatch.setitem(vars(opened), "following", (way, ""))
    (found,), _ = score_served(opened, [pairs])
    (plain,) = score_benchmarks(*load_model(folder), [pairs], Scoring(device="cpu"))
    apart = np.abs(found["bits"] - plain["bits"]).max()
    print(f"mean {plain['bits'].mean():.3f} bits, which differ by up to {apart:.1e}")
    assert apart < 1e-3


def test_the_most_likely_tokens_of_vllm_agree_with_its_ranks(served, pairs):
    if "FATHOM_SERVER" not in os.environ:
        pytest.skip("needs a real model, FATHOM_SERVER: tokens of made-up words lose their blanks as text")
    address, folder = served
    settings = Served(timeout=PATIENCE, top_k=20)
    exact = ServedModel(point_to_server(address, folder, settings), settings)
    (ranks,), _ = score_served(exact, [pairs])
    text = ServedModel(point_to_server(address, None, settings), settings)
    (found,), (report,) = score_served(text, [pairs])
    both = found.join(ranks, on="pair_id", suffix="_exact").filter(found["rank"].is_finite())
    assert len(both) > 0 and report["above_limit"] == found["rank"].is_infinite().sum()
    assert ((both["rank"] - both["rank_exact"]).abs() <= 1).all()
