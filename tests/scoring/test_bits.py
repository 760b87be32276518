"""Knowledge in bits: zero, ceiling, and what changes nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scoring.word_pairs import WORDS, make_pairs

from fathom.config.scoring import Scoring
from fathom.scoring.bits import FOLDS, SHARPNESSES, Rivals, choose_fold, measure_bits
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
