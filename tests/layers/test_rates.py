"""Rates by layer: against a plain way, against the last-layer rate, and of a model whose answer is known."""

from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.layers.plain import ENTRIES, make_model, read_all_states
from tests.refusals import refuses
from transformers import GPT2Config, GPT2LMHeadModel

from fathom.config.layers import Layers
from fathom.io.contracts.layers import LAYER_RATES, LAYER_TOKENS
from fathom.io.tables import check_table
from fathom.layers.layer_files import (
    TokenLists,
    choose_prompts,
    collect_top_tokens,
    find_top_k,
    list_examples,
    measure_rates,
)
from fathom.scoring.attribute_rate import measure_attribute_rates

PROMPTS = {"deep nets": [5, 6], "policy": [9], "a long one": [3, 4, 5, 6, 7, 8]}
SETTINGS = Layers(k=10, list_length=20, other_k=[4, 30], other_lengths=[8, 100])


def make_lists(seed: int = 0) -> TokenLists:
    random = np.random.default_rng(seed)
    content = random.random(ENTRIES) < 0.6
    content[-3:] = False  # entries of the model that the tokenizer does not know
    known = np.flatnonzero(content)
    return TokenLists(content, {word: random.permutation(known)[:25].tolist() for word in PROMPTS})


def measure_plainly(model: Any, lists: TokenLists, word: str, layer: int, projection: str) -> np.ndarray:
    """Return the logits of one layer after a keyword, in float64."""
    state = read_all_states(model, PROMPTS[word])[layer][-1].double()
    norm = model.transformer.ln_f if model.config.model_type == "gpt2" else model.model.norm
    if projection == "normed":
        state = norm(state.float()).double()
    logits = state @ model.get_output_embeddings().weight.double().T
    cap = getattr(model.config, "final_logit_softcapping", None)
    return (logits if cap is None else cap * (logits / cap).tanh()).detach().numpy()


@pytest.mark.parametrize("kind", ["gpt2", "gemma2"])
@pytest.mark.parametrize("budget", [1, 1000])
def test_same_as_a_plain_way_with_a_full_sort(kind, budget):
    model, lists = make_model(kind), make_lists()
    tokens = collect_top_tokens(model, PROMPTS, lists, SETTINGS, budget)
    check_table(tokens.to_arrow(), LAYER_TOKENS)
    rates = measure_rates(tokens, SETTINGS)
    check_table(rates.to_arrow(), LAYER_RATES)
    # 3 keywords; layers 0 to 3, geva 0 to 2; 3 values of k; 3 lengths
    assert len(rates) == 3 * (4 + 4 + 3) * 3 * 3
    for row in rates.iter_rows(named=True):
        logits = measure_plainly(model, lists, row["keyword"], row["layer"], row["projection"])
        share = np.exp(logits - logits.max())
        share /= share.sum()
        order = np.argsort(-logits)
        own = set(lists.by_keyword[row["keyword"]][: row["list_length"]])
        pool = order[:500] if row["projection"] == "geva" else order
        best = [token for token in pool if lists.content[token]][: row["k"]]
        hits = [token for token in best if token in own]
        assert row["hits"] == len(hits)
        assert row["rate"] == pytest.approx(len(hits) / row["k"])
        assert row["inside"] == pytest.approx(share[hits].sum(), abs=1e-5)
        assert row["outside"] == pytest.approx(share[[t for t in best if t not in own]].sum(), abs=1e-5)
        near = [token for token in order[: row["k"]] if token not in own]
        assert row["outside_any"] == pytest.approx(share[near].sum(), abs=1e-5)


def test_geva_takes_content_words_among_the_500_most_likely_tokens_only():
    tokens = pl.DataFrame([
        {"keyword": "a", "layer": layer, "projection": "raw", "tokens": [1, 2, 3],
         "probabilities": [0.2, 0.1, 0.1], "ranks": [400, 500, 0], "places": [1, 0, 2], "others": [],
         "other_probabilities": [], "other_ranks": []}
        for layer in (0, 1)
    ])  # fmt: skip
    settings = Layers(k=3, other_k=[], other_lengths=[], projections=["raw", "geva"])
    rates = measure_rates(tokens, settings)
    rows = {(row["projection"], row["layer"]): row for row in rates.iter_rows(named=True)}
    assert set(rows) == {("raw", 0), ("raw", 1), ("geva", 0)}
    assert rows["raw", 0]["hits"] == 2 and rows["geva", 0]["hits"] == 1
    assert rows["geva", 0]["rate"] == pytest.approx(1 / 3)
    assert rows["geva", 0]["outside"] == pytest.approx(0.1)


def test_the_last_layer_with_the_norm_is_the_last_layer_attribute_rate():
    model, lists = make_model("gpt2"), make_lists()
    rates = measure_rates(collect_top_tokens(model, PROMPTS, lists, SETTINGS, 64), SETTINGS)
    last = rates.filter(layer=3, projection="normed", k=10, list_length=20)
    lists20 = {word: tokens[:20] for word, tokens in lists.by_keyword.items()}
    expected = measure_attribute_rates(model, PROMPTS, lists20, lists.content, 10, 64)
    assert last["hits"].to_list() == expected["hits"].to_list()
    assert last["rate"].to_list() == expected["rate"].to_list()


def plant(blocks: int, width: int, answers: dict[int, tuple[int, list[int]]]) -> Any:
    """Return a model that hands its input on, but says some tokens after a token from a known block on.

    `answers` holds, by the token that is read, the block (from 1) and the tokens.
    """
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=width, n_embd=width, n_layer=blocks, n_head=1, n_positions=8, n_inner=len(answers),
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
        for module in model.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.fill_(1.0)
        model.transformer.wte.weight.copy_(torch.eye(width))
        for unit, (token, (block, said)) in enumerate(answers.items()):
            mlp = model.transformer.h[block - 1].mlp
            mlp.c_fc.weight[token, unit] = 1.0  # fires where the state points to the token
            mlp.c_fc.bias[unit] = -1.0
            for other in said:
                mlp.c_proj.weight[unit, other] = 1.0
    return model


def test_the_rate_rises_at_the_layer_where_attributes_were_planted():
    first, second = [34, 35, 36, 37], [20, 21, 22, 23]
    model = plant(6, 40, {1: (2, first), 2: (5, second)})
    lists = TokenLists(np.arange(40) >= 10, {"early": first, "late": second, "never": [30, 31, 32, 33]})
    settings = Layers(k=4, list_length=4, other_k=[], other_lengths=[])
    prompts = {"early": [5, 1], "late": [5, 2], "never": [5, 3]}
    rates = measure_rates(collect_top_tokens(model, prompts, lists, settings, 64), settings)
    for projection in ("normed", "raw"):
        found = {
            str(word): group.sort("layer")["rate"].to_list()
            for (word,), group in rates.filter(projection=projection).group_by("keyword")
        }
        assert found["late"] == [0, 0, 0, 0, 0, 1, 1]
        assert found["never"] == [0] * 7
        assert found["early"] == [0, 0, 1, 1, 1, 1, 1]
    shares = rates.filter(keyword="early", projection="normed").sort("layer")["inside"].to_list()
    assert shares[:2] == [0, 0] and shares[2] > 0.2
    assert shares[2:] == pytest.approx([shares[2]] * 5, rel=1e-2)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(1, 40))
def test_the_largest_values_are_those_of_a_stable_sort(values, k):
    array = np.array(values, dtype=np.float32)
    assert find_top_k(array, k).tolist() == np.argsort(-array, kind="stable")[:k].tolist()


def test_examples_name_the_most_likely_tokens_of_any_kind():
    tokens = pl.DataFrame([
        {"keyword": "a", "layer": layer, "projection": "normed", "tokens": [4, 5, 6],
         "probabilities": [0.3, 0.2, 0.1], "ranks": [2, 3, 5], "places": [7, 0, 1],
         "others": [1, 9], "other_probabilities": [0.4, 0.1], "other_ranks": [1, 4]}
        for layer in (2,)
    ])  # fmt: skip
    names = ["", ",", "", "", "␣net", "␣the\\n", "␣far"]
    assert list_examples(tokens, names, 4, 10) == [("a", 1, "␣net", ", ␣the\\n <9>")]
    assert list_examples(tokens, names, 5, 5) == [("a", 1, "␣far", ", ␣net ␣the\\n <9>")]


def test_what_cannot_be_measured_is_left_out_and_named(caplog):
    owned = {"fine": list(range(10)), "short": [1, 2], "odd": list(range(10)), "empty": list(range(10))}
    prompts = {"fine": [1], "short": [1], "odd": [1] * 7, "empty": [], "silent": [1]}
    with caplog.at_level("INFO", "fathom"):
        chosen, report = choose_prompts(prompts, owned, Layers(k=5, max_keyword_tokens=6))
    assert list(chosen) == ["fine", "short"]
    assert report == {
        "without_sentences": ["silent"], "without_tokens": ["empty"], "of_too_many_tokens": ["odd"],
        "with_a_short_list": ["short"],
    }  # fmt: skip
    assert "1 of 5 keywords have no clean sentence, hence no token list: left out: 'silent'" in caplog.text
    assert "1 of 5 keywords have no token: left out: 'empty'" in caplog.text
    assert "1 of 5 keywords have more than 6 tokens: left out: 'odd'" in caplog.text
    assert "1 of 5 keywords have a token list shorter than k = 5: cannot reach 1: 'short'" in caplog.text


def test_nothing_left_to_measure_is_refused():
    with refuses("0 without sentences", "1 without tokens"):
        choose_prompts({"a": []}, {"a": [1]}, Layers())
    with refuses("k = 50", "2"):
        choose_prompts({"a": [1], "b": [2]}, {"a": [1], "b": [1, 2]}, Layers())


def test_numbers_that_are_not_finite_name_layer_model_and_keywords():
    model = make_model("gpt2")
    with torch.no_grad():
        model.transformer.h[1].mlp.c_proj.bias[0] = 3e38
        model.transformer.h[2].mlp.c_proj.bias[0] = -3e38
    with refuses("broken", "a long one", "deep nets", "policy", "2", "non-finite"):
        collect_top_tokens(model, PROMPTS, make_lists(), SETTINGS, 64, "broken")


def test_a_keyword_longer_than_the_context_is_named():
    with refuses("'k'", "33 tokens", "small", "32"):
        collect_top_tokens(make_model("gpt2"), {"k": [1] * 33}, make_lists(), SETTINGS, 64, "small")
