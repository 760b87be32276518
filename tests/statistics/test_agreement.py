"""Tau-b of many benchmarks and resamples at once is SciPy's, one at a time."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from fathom.config.scoring import Summary
from fathom.statistics.bootstrap import Resampled
from fathom.statistics.correlations import (
    average,
    draw_models,
    estimate_over_models,
    measure_tau,
    pick_pairs,
    share_improved,
    spread_left_out,
    weigh_pairs,
)
from fathom.statistics.significance import order_pairs

TABLES = st.integers(3, 9).flatmap(
    lambda models: st.lists(
        st.lists(st.one_of(st.integers(0, 4).map(float), st.just(math.nan)), min_size=3, max_size=3),
        min_size=models,
        max_size=models,
    )
)


def scipy_tau(first, second) -> float:
    known = ~np.isnan(first) & ~np.isnan(second)
    if known.sum() < 2:
        return math.nan
    return float(kendalltau(first[known], second[known]).statistic)


def whole(models: int) -> np.ndarray:
    return np.ones((1, models * (models - 1) // 2))


@settings(max_examples=150)
@given(TABLES)
def test_it_is_scipys_with_ties_and_missing_scores(rows):
    scores = np.array(rows)
    found = measure_tau(order_pairs(scores), order_pairs(scores), whole(len(scores)))[0]
    for a in range(3):
        for b in range(3):
            expected = scipy_tau(scores[:, a], scores[:, b])
            assert found[a, b] == pytest.approx(expected, nan_ok=True, abs=1e-12)


@settings(max_examples=50)
@given(TABLES, st.integers(0, 1000))
def test_a_round_is_scipys_tau_of_the_drawn_rows(rows, seed):
    scores = np.array(rows)
    counts = draw_models(np.ones(len(scores), bool), Summary(rounds=4, seed=seed))
    found = measure_tau(order_pairs(scores), order_pairs(scores), weigh_pairs(counts))
    for count, taus in zip(counts, found, strict=True):
        drawn = np.repeat(scores, count.astype(int), axis=0)
        for a, b in ((0, 1), (1, 2)):
            assert taus[a, b] == pytest.approx(scipy_tau(drawn[:, a], drawn[:, b]), nan_ok=True, abs=1e-12)


def test_the_same_order_is_one_and_the_opposite_minus_one():
    scores = np.array([[1.0, 10, 3], [2, 20, 2], [3, 30, 1]])
    assert measure_tau(order_pairs(scores), order_pairs(scores), whole(3))[0].tolist() == [
        [1, 1, -1], [1, 1, -1], [-1, -1, 1]]  # fmt: skip


def test_many_rounds_in_parts_are_the_same_as_at_once(monkeypatch):
    scores = np.random.default_rng(0).normal(size=(12, 4)).round(1)
    signs = order_pairs(scores)
    weights = weigh_pairs(draw_models(np.ones(12, bool), Summary(rounds=37)))
    at_once = measure_tau(signs, signs, weights)
    monkeypatch.setattr("fathom.statistics.correlations._CELLS", 600)
    np.testing.assert_array_equal(measure_tau(signs, signs, weights), at_once)


def test_only_chosen_models_are_drawn_and_the_first_row_is_the_table():
    chosen = np.array([True, False, True, True])
    counts = draw_models(chosen, Summary(rounds=20))
    assert counts[0].tolist() == [1, 0, 1, 1]
    assert (counts[:, 1] == 0).all() and (counts.sum(axis=1) == 3).all()


def test_the_share_that_improves_counts_strict_rises_of_known_pairs():
    before, after = np.array([[0.1, 0.2, 0.3, np.nan]]), np.array([[0.2, 0.2, 0.1, 1.0]])
    assert share_improved(before, after).tolist() == [pytest.approx(1 / 3)]


def test_means_leave_out_what_is_undefined():
    assert average(np.array([[1.0, np.nan, 3.0], [np.nan] * 3])).tolist()[0] == 2
    assert np.isnan(average(np.array([[np.nan] * 3])))[0]
    matrix = np.arange(9.0).reshape(1, 3, 3)
    assert pick_pairs(matrix).tolist() == [[1, 2, 5]]


def test_intervals_of_a_known_case_hold_the_truth_as_often_as_they_say():
    """Two independent series of 30 models: tau is 0, and intervals hold it about as promised."""
    random, held = np.random.default_rng(3), 0
    trials = 120
    for trial in range(trials):
        signs = order_pairs(random.normal(size=(30, 2)))
        weights = weigh_pairs(draw_models(np.ones(30, bool), Summary(rounds=200, seed=trial)))
        found = Resampled(measure_tau(signs[:1], signs[1:], weights)[:, 0, 0]).estimate(0.95)
        held += found.low <= 0 <= found.high
    assert 0.88 <= held / trials <= 0.995


def test_left_out_models_spread_as_the_jackknife_says():
    values = np.random.default_rng(0).normal(size=12)
    left_out = np.array([np.delete(values, place).mean() for place in range(12)])
    rows = spread_left_out(values.mean(), left_out)
    assert rows[0] == values.mean()
    assert rows[1:].std() == pytest.approx(values.std(ddof=1) / np.sqrt(12))


def test_an_interval_of_a_share_is_longer_on_the_side_of_a_half():
    rows = spread_left_out(np.array(0.9), 0.9 + np.linspace(-0.03, 0.03, 10))
    value, low, high = estimate_over_models(rows, 10, 0.95, 0.0, 1.0, odds=True)
    assert 0.5 < low < value < high < 1 and value - low > high - value
    odds = [each / (1 - each) for each in (low, value, high)]
    assert odds[1] / odds[0] == pytest.approx(odds[2] / odds[1])
    assert estimate_over_models(np.array([1.0, 1.0, 1.0]), 2, 0.95, 0.0, 1.0, odds=True) == (1, 1, 1)


def test_an_interval_over_models_holds_its_number_where_all_resamples_lie_to_one_side():
    rows = np.array([0.993, *np.linspace(0.913, 0.989, 101)])
    value, low, high = estimate_over_models(rows, 61, 0.95, 0.0, 1.0)
    assert low < value == 0.993 < high == 1.0
    assert np.isnan(estimate_over_models(np.array([1.0, 2.0, np.nan, np.nan]), 9, 0.95, -2.0, 2.0).low)
