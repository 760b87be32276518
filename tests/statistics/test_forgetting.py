"""Keywords that are learned or forgotten: what is found, when, and what is never called so."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import digamma, polygamma
from scipy.stats import t

from fathom.statistics.forgetting import (
    ERROR,
    FIRST,
    WINDOW,
    confirm,
    look_at,
    measure_noise,
    moderate_variances,
)

KEYWORDS = np.repeat(np.arange(12), 8)


def walk(seed, looks=12, forgotten=(), learned=(), step=0.5):
    """Return scores of sentences that drift on their own; those of some keywords fall or rise together."""
    random = np.random.default_rng(seed)
    scores = np.cumsum(0.1 * random.normal(size=(looks + 1, len(KEYWORDS))), axis=0)
    times = np.minimum(np.arange(looks + 1), 6)[:, None]
    return scores + step * times * (np.isin(KEYWORDS, learned) * 1.0 - np.isin(KEYWORDS, forgotten))


def test_planted_keywords_are_found_and_no_others():
    found = look_at(walk(0, forgotten=[2, 5], learned=[7]), KEYWORDS)
    assert np.flatnonzero(found.found == -1).tolist() == [2, 5]
    assert np.flatnonzero(found.found == 1).tolist() == [7]
    assert (found.p_adjusted >= found.p).all() and (found.error > 0).all()
    assert found.change[2] == pytest.approx(-3, abs=0.5)


def test_nothing_is_said_before_the_noise_of_a_step_is_known():
    for looks in range(FIRST - 1):
        found = look_at(walk(0, forgotten=[2], step=50)[: looks + 1], KEYWORDS)
        assert not found.found.any() and np.isnan(found.p).all() and np.isnan(found.noise)


def test_the_same_p_is_worth_less_at_a_later_look():
    scores = walk(1, looks=3, forgotten=[2])
    longer = np.concatenate([scores[:1], scores])  # one look more, with the same first and last checkpoint
    early, late = look_at(scores, KEYWORDS), look_at(longer, KEYWORDS)
    factor = late.p_adjusted / late.p / (early.p_adjusted / early.p)
    open_ = (late.p_adjusted < 1) & (early.p_adjusted < 1)
    assert open_.any() and factor[open_] == pytest.approx(3 * 4 / (2 * 3))


def test_two_looks_in_a_row_confirm():
    first, second = np.array([-1, -1, 1, 0]), np.array([-1, 1, 1, -1])
    assert confirm([first]).tolist() == [0, 0, 0, 0]
    assert confirm([first, second]).tolist() == [-1, 0, 1, 0]


def test_equal_models_differ_in_nothing():
    found = look_at(np.zeros((5, len(KEYWORDS))), KEYWORDS)
    assert not found.found.any() and (found.p == 1).all() and found.noise == 0


def test_a_shift_of_one_checkpoint_is_noise():
    scores = walk(3, looks=10)
    scores[1::2] -= 1.0  # every other checkpoint is worse on all keywords
    found = look_at(scores[:10], KEYWORDS)
    assert not found.found.any() and found.noise > 0.5


def test_variances_of_few_sentences_are_shrunk_to_what_keywords_share():
    random = np.random.default_rng(0)
    keywords, sizes = np.repeat(np.arange(40), 3), np.full(40, 3)
    values = random.normal(size=120)
    apart = values - np.bincount(keywords, values)[keywords] / 3
    shrunk, freedom = moderate_variances(apart, keywords, sizes)
    own = np.bincount(keywords, apart**2) / 2
    assert shrunk.std() < 0.3 * own.std() and 0.6 < shrunk.mean() < 1.5
    assert (freedom > 10).all() and (freedom <= 80).all()
    # keywords that differ in their variance are shrunk less
    other, less = moderate_variances(apart * np.exp(2 * random.normal(size=40))[keywords], keywords, sizes)
    assert less.max() < freedom.min() and np.ptp(np.log(other)) > 3


@pytest.mark.parametrize(
    ("seed", "spread", "flat"),
    [(0, 0.0, []), (0, 0.8, []), (1, 1.5, []), (2, 3.0, []), (3, 1.0, [2, 3, 5, 6, 7])],
)
def test_variances_are_those_of_the_formula(seed, spread, flat):
    """[ModeratedT, Sec. 6.2], with the root found by bisection; variances of 0 are lifted a little."""
    random = np.random.default_rng(seed)
    keywords = np.repeat(np.arange(9), [1, 2, 3, 3, 4, 5, 6, 7, 9])
    sizes = np.bincount(keywords)
    values = random.normal(size=40) * np.exp(spread * random.normal(size=9))[keywords]
    values[np.isin(keywords, flat)] = 1.0
    apart = values - (np.bincount(keywords, values) / sizes)[keywords]
    own = sizes - 1.0
    sums = np.bincount(keywords, apart**2)
    variances, half = sums[1:] / own[1:], own[1:] / 2
    lifted = np.maximum(variances, 1e-5 * np.median(variances[variances > 0]))
    logs = np.log(lifted) - digamma(half) + np.log(half)
    beyond = logs.var(ddof=1) - polygamma(1, half).mean()
    if beyond <= 0:
        wanted, freedom = np.full(9, sums.sum() / own.sum()), np.full(9, own.sum())  # one for all
    else:
        prior = 2 * brentq(lambda x: polygamma(1, x) - beyond, 1e-4, 1e6, xtol=1e-13)
        scale = np.exp(logs.mean() + digamma(prior / 2) - np.log(prior / 2))
        wanted, freedom = (prior * scale + sums) / (prior + own), np.minimum(prior + own, own.sum())
    assert (beyond > 0) == (spread > 0)
    found = moderate_variances(apart, keywords, sizes)
    assert found[0] == pytest.approx(wanted) and found[1] == pytest.approx(freedom)


def test_one_keyword_with_several_sentences_has_its_own_variance():
    shrunk, freedom = moderate_variances(
        np.array([0, 1, -1, 3, -3.0]), np.array([0, 1, 1, 1, 1]), np.array([1, 4])
    )
    assert np.isnan([shrunk[0], freedom[0]]).all() and (shrunk[1], freedom[1]) == (pytest.approx(20 / 3), 3)


def test_the_test_of_a_keyword_is_that_of_the_formula():
    random = np.random.default_rng(4)
    keywords = np.repeat(np.arange(5), [3, 4, 5, 6, 8])
    sizes = np.bincount(keywords)
    scores = random.normal(size=(WINDOW + 5, 26)) + 0.9 * np.arange(WINDOW + 5)[:, None] * (keywords == 3)
    scores[1:3] += 50 * random.normal(size=(2, 26))  # before the window
    means = np.stack([np.bincount(keywords, row) / sizes for row in scores])
    changes = scores[-1] - scores[0]
    change = means[-1] - means[0]
    own, freedom = moderate_variances(changes - change[keywords], keywords, sizes)
    (common, worth), (rest, worth_of_rest) = measure_noise(means[-WINDOW - 2 :])
    variance = own / sizes + 2 * common + 2 * rest  # noise of both checkpoints
    joint = variance**2 / (
        (own / sizes) ** 2 / freedom + (2 * common) ** 2 / worth + (2 * rest) ** 2 / worth_of_rest
    )
    p = 2 * t.sf(np.abs(change) / np.sqrt(variance), joint)
    can_be_named = np.array([True, True, False, True, True])
    found = look_at(scores, keywords, can_be_named)
    assert found.change == pytest.approx(change) and found.error == pytest.approx(np.sqrt(variance))
    assert found.p[can_be_named] == pytest.approx(p[can_be_named]) and np.isnan(found.p[2])
    tests = WINDOW + 5 - FIRST + 1
    assert found.p_adjusted[3] == pytest.approx(4 * p[3] * tests * (tests + 1)) and p[3] == min(p)
    assert found.found.tolist() == [0, 0, 0, 1, 0] and found.p_adjusted[0] == 1
    assert found.noise == pytest.approx(np.sqrt(np.median(common + rest)))


def test_noise_is_that_of_the_formula():
    means = np.array([[0, 1, 2.0], [1, 1, 5], [0, 3, 2], [4, 2, 2], [1, 0, 7]])
    bends = means[2:] - 2 * means[1:-1] + means[:-2]
    mean = bends.mean(axis=1)
    (common, worth), (rest, worth_of_rest) = measure_noise(means)
    assert common == pytest.approx((mean**2).mean() / 6) and worth == pytest.approx(0.51 * 3)
    each = ((bends - mean[:, None]) ** 2).sum(axis=0) / 3 * 3 / 2 / 6
    assert rest == pytest.approx(np.maximum(each, each.mean())) and worth_of_rest == pytest.approx(0.51 * 6)
    assert rest.min() > each.min() and rest.max() > rest.min()
    ((alone, least),) = measure_noise(means[:3, :1])
    assert alone.tolist() == pytest.approx([4 / 6]) and least == 0.51


def test_a_keyword_with_one_sentence_has_the_common_variance():
    keywords = np.array([0, 1, 1, 2, 2, 2])
    shrunk, _ = moderate_variances(np.array([0, 1, -1, 1, 0, -1.0]), keywords, np.bincount(keywords))
    assert shrunk[0] > 0.5
    alone = look_at(np.random.default_rng(0).normal(size=(4, 3)), np.arange(3))
    assert not alone.found.any()


def test_noise_is_measured_beside_a_trend():
    random = np.random.default_rng(0)
    means = np.arange(400.0)[:, None] * random.normal(size=8) + random.normal(0, 0.2, (400, 8))
    common, own = measure_noise(means)
    assert own[0].mean() == pytest.approx(0.2**2, rel=0.2)
    assert common[0][0] == pytest.approx(0.2**2 / 8, rel=0.3)


def test_false_alarms_of_a_whole_watch_are_rare():
    alarms = 0
    for seed in range(60):
        scores = walk(seed, looks=15)
        alarms += any(look_at(scores[:end], KEYWORDS).found.any() for end in range(2, len(scores) + 1))
    assert alarms <= 60 * ERROR + 4
