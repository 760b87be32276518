"""Knowledge in bits: zero, ceiling, and what changes nothing."""

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.scoring.word_pairs import WORDS, make_pairs
from tests.tiny import KnownModel
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from fathom.config.scoring import Scoring
from fathom.scoring.bits import (
    FOLDS,
    SHARPNESSES,
    Rivals,
    choose_fold,
    choose_rivals,
    find_known,
    measure_bits,
)
from fathom.scoring.ranks import score_benchmarks

CANDIDATES = [f" {word}" for word in WORDS[::7][:32]]
RIVALS = Rivals(CANDIDATES, [*range(len(CANDIDATES))])


def draw_prompts(seed: int, known: float, pairs: int = 400, keywords: int = 40):
    """Return targets, keywords and log-probabilities of a model that knows so much of each target."""
    random = np.random.default_rng(seed)
    places = random.integers(len(CANDIDATES), size=pairs)
    names = [f"keyword {place % keywords}" for place in range(pairs)]
    others = random.normal(-8, 1, (pairs, len(CANDIDATES))).astype(np.float32)
    others[np.arange(pairs), places] += known
    return places, names, others


def measure(places, names, others, rivals=RIVALS):
    own = others[np.arange(len(places)), places].astype(float)
    return measure_bits(rivals, [rivals.words[place] for place in places], names, own, others)


def test_prompts_that_tell_nothing_give_no_bits_and_a_model_that_is_sure_reaches_the_ceiling():
    nothing = [measure(*draw_prompts(seed, 0.0)) for seed in range(20)]
    assert abs(np.mean([each.bits.mean() for each in nothing])) < 0.02
    sure = measure(*draw_prompts(0, 60.0))
    assert sure.ceiling == pytest.approx(np.full(400, np.log2(len(CANDIDATES))))
    assert sure.bits == pytest.approx(sure.ceiling, abs=1e-6)


def test_bits_are_the_information_that_a_model_has_whatever_it_is_sure_of():
    # Gaussian favours of equal deviation: the softmax at sharpness `known` is the exact posterior
    places, names, others = draw_prompts(1, 2.0, pairs=4000)
    found = measure(places, names, others)
    favour = 2.0 * (others - -8.0)
    exact = favour[np.arange(4000), places] - np.log(np.exp(favour).sum(axis=1))
    wanted = np.log2(len(CANDIDATES)) + exact.mean() / np.log(2)
    assert found.bits.mean() == pytest.approx(wanted, abs=0.05)
    # one that says the same with half or four times the confidence knows as much
    for times in (0.5, 4.0):
        assert measure(places, names, times * others).bits.mean() == pytest.approx(wanted, abs=0.05)


@given(st.integers(0, 10**6), st.floats(-30, 30))
def test_what_is_the_same_for_every_prompt_changes_nothing(seed, shift):
    places, names, others = draw_prompts(seed % 50, 1.5, pairs=60, keywords=12)
    moved = others + (shift * np.random.default_rng(seed).normal(size=len(CANDIDATES))).astype(np.float32)
    assert measure(places, names, moved).bits == pytest.approx(measure(places, names, others).bits, abs=1e-2)


def test_a_bit_is_that_of_a_plain_loop():
    places, names, others = draw_prompts(3, 1.5, pairs=50, keywords=9)
    found = measure(places, names, others)
    for row, (place, name) in enumerate(zip(places, names, strict=True)):
        elsewhere = [other for other in range(50) if names[other] != name]
        usual = others[elsewhere].astype(float).mean(axis=0)
        favour = found.sharpness[choose_fold(name)] * (others[row] - usual)
        share = np.exp(favour[place]) / np.exp(favour).sum()
        assert found.bits[row] == pytest.approx(5 + np.log2(share), abs=1e-4)


def test_the_sharpness_of_a_fold_is_the_best_of_all_on_other_keywords():
    places, names, others = draw_prompts(4, 1.0, pairs=80)
    found = measure(places, names, others)
    folds = np.array([choose_fold(name) for name in names])
    for fold in set(folds.tolist()):
        fits = {}
        for sharpness in SHARPNESSES:
            values = []
            for row in np.flatnonzero(folds != fold):
                elsewhere = [other for other in range(80) if names[other] != names[row]]
                favour = sharpness * (others[row] - others[elsewhere].astype(float).mean(axis=0))
                values.append(favour[places[row]] - np.log(np.exp(favour).sum()))
            fits[sharpness] = np.mean(values)
        assert fits[found.sharpness[fold]] == pytest.approx(max(fits.values()), abs=1e-9)


def test_keywords_whose_names_share_a_fold_have_bits():
    names = [name for name in map(str, range(100)) if choose_fold(name) == 2]
    for number in (2, 7):  # fewer and more than folds
        places, _, others = draw_prompts(5, 4.0, pairs=70)
        keywords = [names[row % number] for row in range(70)]
        found = measure(places, keywords, others)
        assert find_known([CANDIDATES[place] for place in places], keywords).all()
        assert 2 < found.bits.mean() < found.ceiling.mean()
        fitted = dict(zip(sorted(set(keywords)), found.sharpness, strict=False))
        for row in range(number):
            elsewhere = [other for other in range(70) if keywords[other] != keywords[row]]
            favour = others[row] - others[elsewhere].astype(float).mean(axis=0)
            share = np.exp(fitted[keywords[row]] * favour)
            assert found.bits[row] == pytest.approx(5 + np.log2(share[places[row]] / share.sum()), abs=1e-4)


def test_of_two_keywords_in_a_fold_each_is_fitted_on_the_other():
    first, second = [name for name in map(str, range(100)) if choose_fold(name) == 2][:2]
    places, _, others = draw_prompts(6, 4.0, pairs=60)
    keywords = [first if row < 30 else second for row in range(60)]
    others[30:] = others[30:, ::-1]  # what a model says of the second keyword is wrong
    sharpness = dict(zip(sorted([first, second]), measure(places, keywords, others).sharpness, strict=False))
    assert sharpness[first] < 0.1
    assert sharpness[second] > 1


def test_another_keyword_leaves_the_fold_of_all_others_and_order_changes_nothing():
    assert {choose_fold(f"keyword {number}") for number in range(60)} == set(range(FOLDS))
    places, names, others = draw_prompts(5, 1.0, pairs=60)
    turned = np.random.default_rng(0).permutation(60)
    first, second = (
        measure(places, names, others),
        measure(places[turned], [names[place] for place in turned], others[turned]),
    )
    assert first.sharpness == second.sharpness
    assert second.bits == pytest.approx(first.bits[turned], abs=1e-9)


def test_forms_of_the_target_are_no_candidates_and_without_others_there_are_no_bits():
    words = [" network", " networks", " tree", " walk"]
    others = np.array([[-1, 5, -4, -4], [-3, -5, -2, -3], [0, 0, 0, 0]], np.float32)
    rivals = Rivals(words, [*range(4)])
    found = measure(np.array([0, 2, 3]), ["keyword 0", "keyword 1", "keyword 2"], others, rivals)
    assert found.ceiling == pytest.approx(np.log2([3, 4, 4]))
    alone = measure(np.array([0, 2, 3]), ["keyword 0"] * 3, others, rivals)  # nothing to compare prompts with
    assert np.isnan(alone.bits).all() and np.isnan(alone.ceiling).all()
    forms = measure(np.array([0, 1, 0]), ["a", "b", "c"], others[:, :2], Rivals(words[:2], [0, 1]))
    assert np.isnan(forms.bits).all()


def test_bits_are_scored_beside_ranks_and_do_not_depend_on_what_is_read_together(word_tokenizer, word_model):
    pairs = make_pairs("p", [WORDS[number * 7 % 11] for number in range(20)])
    others = make_pairs("q", WORDS[50:60])
    (found, _) = score_benchmarks(word_model, word_tokenizer, [pairs, others], Scoring(batch_tokens=64))
    (alone,) = score_benchmarks(word_model, word_tokenizer, [pairs], Scoring(batch_tokens=64))
    assert alone["bits"].equals(found["bits"]) and found["bits"].is_finite().all()
    assert (found["bits"] <= found["ceiling"]).all()


def make_phrase_tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer whose tokens may hold several words: "a wolf" is one, "the wolf" two."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    texts = ["a wolf", "a bird", "a tree", "the", " wolf", " bird", " tree", " stone", " house"]
    core.train_from_iterator(
        [text for text in texts for _ in range(9)],
        trainers.BpeTrainer(vocab_size=200, special_tokens=["<s>"], show_progress=False),
    )
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>")


def test_a_target_in_one_token_with_its_prompt_has_no_bits_and_says_nothing_of_others():
    tokenizer = make_phrase_tokenizer()
    words = [" wolf", " bird", " tree", " stone", " house"]
    assert [tokenizer.convert_ids_to_tokens(token) for token in choose_rivals(tokenizer, words).tokens] == [
        word.replace(" ", "\u2581") for word in sorted(words)
    ]
    pairs = pl.DataFrame(
        [
            {"pair_id": f"{start}{word}", "keyword": f"{place % 4}", "prompt": start, "target": word}
            for start in ("the", "a")
            for place, word in enumerate(words)
        ]
    )
    # whatever the prompt: this model knows nothing, and likes tokens that begin with one
    tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    table = torch.tensor(
        [place / 99 + 4.0 * token.startswith("a\u2581") for place, token in enumerate(tokens)]
    )
    (scores,) = score_benchmarks(KnownModel(table), tokenizer, [pairs], Scoring(device="cpu"))
    assert scores["backed_off"].to_list() == [False] * 5 + [True] * 5
    unknown = scores["backed_off"].to_list()
    assert scores["bits"].is_nan().to_list() == scores["rival_rank"].is_nan().to_list() == unknown
    assert scores.filter(~pl.Series(unknown))["bits"].to_list() == pytest.approx([0.0] * 5, abs=1e-5)
