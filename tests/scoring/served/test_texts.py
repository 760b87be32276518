"""Bits of text by a server: the same as with the weights; what it cannot give is said."""

import polars as pl
import pytest
from tests.refusals import refuses
from tests.scoring.served.stub_server import NAME

from fathom.config.scoring import Perplexity, Scoring
from fathom.config.served import Served
from fathom.models.fetching import find_pointer
from fathom.models.open_model import OpenModel
from fathom.models.served import ServedModel, point_to_server
from fathom.scoring.text_bits import measure_text

TEXTS = pl.DataFrame(
    {"doc_id": ["long", "short"], "text": ["the agent learns a policy " * 20, "a reward of the state"]}
)
WINDOWS = Perplexity(window=38, stride=10)
SERVED = Served(timeout=30.0, retries=0, top_k=2)


def open_served(stub, folder) -> ServedModel:
    return ServedModel(point_to_server(f"{stub.url}#{NAME}", folder, SERVED), SERVED)


@pytest.mark.parametrize("vllm", [True, False])
def test_bits_of_a_server_are_those_of_the_weights(stub, folder, vllm):
    stub.vllm = vllm
    found = measure_text(open_served(stub, folder), TEXTS, WINDOWS)
    here = measure_text(OpenModel(find_pointer(folder), Scoring(device="cpu")), TEXTS, WINDOWS)
    for one, other in zip(found.bits, here.bits, strict=True):
        assert one == pytest.approx(other, abs=1e-4, nan_ok=True)
    assert found.tokens == here.tokens
    assert max(len(body["prompt"]) for body in stub.asked) <= 39  # and one token is generated
    assert {"prompt_logprobs" in body for body in stub.asked} == {vllm}


@pytest.mark.parametrize("vllm", [True, False])
def test_a_server_without_log_probabilities_of_the_prompt_is_refused(stub, folder, vllm):
    stub.vllm = vllm

    def drop(path, answer):
        for choice in answer.get("choices", []):
            choice.pop("logprobs", None)
            choice.pop("prompt_logprobs", None)
        return answer

    stub.change = drop
    with refuses("log-probabilities", "document 'long'", stub.url):
        measure_text(open_served(stub, folder), TEXTS, WINDOWS)
