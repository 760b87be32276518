"""What pairs share: each shared prefix is read once, and every pair still gets its own scores."""

import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import refuses
from tests.scores import score_pairs
from tests.scoring.sentences import cut_sentences, make_tokenizer
from tests.tiny import make_config, make_model
from transformers import BertConfig, BertLMHeadModel, PreTrainedTokenizerFast

from fathom.config.scoring import Scoring
from fathom.models.tokens import EncodedPair
from fathom.scoring.ranks import score_benchmarks
from fathom.scoring.scored_sequences import plan_sequences

LONG_ROPE = {
    "rope_parameters": {
        "rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0] * 4,
        "long_factor": [1.0, 4.0, 9.0, 16.0], "original_max_position_embeddings": 4,
    },
    "original_max_position_embeddings": 4,
}  # fmt: skip
CONFIGS = {
    "gpt2": make_config("gpt2", 62, 40, initializer_range=0.2),
    "llama": make_config("llama", 62, 40, initializer_range=0.2),
    "mistral-window": make_config("mistral", 62, 40, sliding_window=5, initializer_range=0.2),
    "gemma2": make_config("gemma2", 62, 40, sliding_window=5, initializer_range=0.2),
    "phi3-longrope": make_config("phi3", 62, 40, initializer_range=0.2, **LONG_ROPE),
}


@st.composite
def encoded_pairs(draw: st.DrawFn) -> EncodedPair:
    ids = draw(st.lists(st.integers(0, 2), min_size=2, max_size=8))
    return EncodedPair(ids, draw(st.integers(1, len(ids) - 1)), False)


@given(pairs=st.lists(encoded_pairs(), max_size=30))
def test_every_pair_finds_its_tokens_and_no_pass_begins_another(pairs):
    sequences, rows = plan_sequences(pairs)
    wanted = [(found.ids, position, token) for found in sequences for position, token in found.targets]
    assert len(set(wanted)) == len(wanted)
    for pair, places in zip(pairs, rows, strict=True):
        assert len(places) == len(pair.ids) - pair.start
        for index, place in enumerate(places, start=pair.start):
            ids, position, token = wanted[place]
            assert (position, token) == (index - 1, pair.ids[index])
            assert ids[:index] == tuple(pair.ids[:index])
    inputs = {tuple(pair.ids[:-1]) for pair in pairs}
    assert {found.ids for found in sequences} == {
        ids for ids in inputs if not any(other[: len(ids)] == ids and other != ids for other in inputs)
    }
    assert [-len(found.ids) for found in sequences] == sorted(-len(found.ids) for found in sequences)
    assert plan_sequences(pairs[::-1]).sequences == sequences


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return make_tokenizer()


@pytest.mark.parametrize("name", CONFIGS)
def test_shared_passes_give_the_scores_of_each_pair_alone(name, tokenizer):
    model = make_model(CONFIGS[name])
    benchmarks = [cut_sentences("tf", [2, 5]), cut_sentences("tfidf", [3, 5, 7])]
    read: list[int] = []
    hook = model.get_input_embeddings().register_forward_hook(
        lambda module, inputs, output: read.append(inputs[0].numel())
    )
    together = score_benchmarks(model, tokenizer, benchmarks, Scoring(batch_tokens=50))
    hook.remove()
    apart = sum(len(pairs["prompt"][place].split()) for pairs in benchmarks for place in range(len(pairs)))
    assert sum(read) < apart / 2  # padding and the check before all counted
    for pairs, scores in zip(benchmarks, together, strict=True):
        assert scores["pair_id"].to_list() == pairs["pair_id"].to_list()
        some = range(0, len(pairs), 3)
        alone = pl.concat([score_pairs(model, tokenizer, pairs[place], Scoring()) for place in some])
        shared = scores[some]
        exact = ["pair_id", "keyword", "tokens", "rank", "rank_first", "rank_share", "ties", "backed_off"]
        assert shared.select(exact).equals(alone.select(exact))
        assert (shared["log_probability"] - alone["log_probability"]).abs().max() < 1e-5
        assert (shared["probability"] - alone["probability"]).abs().max() < 1e-6
        assert scores["rank"].n_unique() > 5


def test_a_model_that_looks_ahead_is_refused(tokenizer):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=62, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        initializer_range=0.2,
    )  # fmt: skip
    with refuses("bert", "causal", "Hint"):
        score_pairs(
            BertLMHeadModel(config).eval(), tokenizer, cut_sentences("tf", [3]), Scoring(), name="bert"
        )
