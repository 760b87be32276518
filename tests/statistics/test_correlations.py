"""Correlations against SciPy, also those of every resample, and tau over models."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import kendalltau

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.statistics import CORRELATIONS, SUMMARY
from fathom.io.delimited import write_rows
from fathom.statistics.bootstrap import Resampled
from fathom.statistics.correlations import (
    ROW_STATISTICS,
    STATISTICS,
    average,
    correlate,
    correlate_series,
    draw_models,
    estimate_over_models,
    measure_tau,
    pick_pairs,
    read_series,
    share_improved,
    spread_left_out,
    tabulate_correlations,
    weigh_pairs,
)
from fathom.statistics.significance import order_pairs

PLAIN = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
SETTINGS = Summary(rounds=200)


@settings(max_examples=60)
@given(
    st.integers(3, 8).flatmap(
        lambda n: st.lists(st.tuples(*[st.integers(-5, 5)] * 2), min_size=n, max_size=n)
    )
)
def test_each_row_is_that_of_scipy(points: list[tuple[int, int]]) -> None:
    first, second = np.array(points, dtype=float).T
    for name in STATISTICS:
        found = ROW_STATISTICS[name](first[None], second[None])[0]
        if np.ptp(first) == 0 or np.ptp(second) == 0:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(PLAIN[name](first, second).statistic, abs=1e-12)


def test_rows_do_not_change_each_other() -> None:
    random = np.random.default_rng(2)
    first, second = random.normal(size=(2, 5, 8)) + 10 * np.arange(5.0)[:, None]
    for name in STATISTICS:
        expected = [PLAIN[name](*row).statistic for row in zip(first, second, strict=True)]
        assert ROW_STATISTICS[name](first, second) == pytest.approx(expected, abs=1e-12)


def test_values_and_p_are_those_of_scipy_and_intervals_hold_the_value() -> None:
    random = np.random.default_rng(0)
    first = random.normal(size=12)
    second = first + random.normal(size=12)
    for found in correlate_series(first, second, SETTINGS):
        plain = PLAIN[found.statistic](first, second)
        assert found.value == pytest.approx(plain.statistic) and found.p == pytest.approx(plain.pvalue)
        assert -1 <= found.low < found.value < found.high <= 1


def test_three_models_have_no_interval_four_have_and_two_or_a_constant_row_no_correlation():
    three = correlate_series(np.array([1.0, 2, 4]), np.array([1.0, 3, 5]), SETTINGS)
    assert all(np.isfinite(each.value) and np.isnan(each.low) and np.isnan(each.high) for each in three)
    four = correlate_series(np.array([1.0, 2, 4, 3]), np.array([1.0, 3, 5, 2]), SETTINGS)
    assert all(np.isfinite((each.low, each.high)).all() for each in four)
    two = correlate_series(np.array([1.0, 2]), np.array([1.0, 3]), SETTINGS)
    flat = correlate_series(np.ones(9), np.arange(9.0), SETTINGS)
    assert all(np.isnan(each.value) and np.isnan(each.p) for each in [*two, *flat])
    flat, other = np.full((1, 7), 1e6 + 0.1), np.arange(7.0)[None]
    assert np.isnan(ROW_STATISTICS["pearson"](flat, other))
    assert np.isnan(ROW_STATISTICS["pearson"](other, flat))


def test_a_range_of_one_and_few_resamples_are_no_exception() -> None:
    first, second = np.array([0, 0.2, 0.5, 0.7, 1]), np.array([2, 2.1, 2.6, 2.4, 3])
    for found in correlate_series(first, second, Summary(rounds=20)):
        assert found.value == pytest.approx(PLAIN[found.statistic](first, second).statistic)
        assert found.low <= found.value <= found.high


def test_p_adjusted_holds_for_all_pairs_of_a_statistic():
    random, found = np.random.default_rng(0), {"p": 0, "p_adjusted": 0}
    for _ in range(20):
        series = {f"s{number}": dict(enumerate(random.normal(size=20))) for number in range(8)}
        rows = [dict(zip(CORRELATIONS.names, row, strict=True))
                for row in tabulate_correlations({"a": series}, Summary(rounds=1))]  # fmt: skip
        some = [row for row in rows if row["statistic"] == "pearson"]
        assert len(some) == 28
        for name in found:
            found[name] += any(float(row[name]) <= 0.05 for row in some)
    assert found["p"] > 10 and found["p_adjusted"] <= 3


def test_only_models_of_both_series_in_one_domain_count(caplog):
    caplog.set_level("INFO", logger="fathom")
    whole = {f"m{number}": float(number) for number in range(5)}
    some = {"m0": 3.0, "m1": 2.0, "m2": 1.0, "other": 9.0}
    rows = tabulate_correlations({"a": {"tf rank": whole, "tfidf rank": some}}, SETTINGS)
    assert [row[:4] for row in rows] == [("a", "tf rank", "tfidf rank", name) for name in STATISTICS]
    assert {row[4] for row in rows} == {"-1"} and {row[9] for row in rows} == {3}
    assert rows[0][5:7] == ("", "")
    assert "fewer than 4 models" in caplog.text
    caplog.clear()
    assert tabulate_correlations({"a": {"x": whole, "y": whole}}, SETTINGS) and not caplog.text
    values = {f"m{number}": float(number**2) for number in range(6)}
    assert tabulate_correlations({"a": {"x": values}, "b": {"y": values}}, SETTINGS) == []


def test_series_are_the_statistics_compared_and_what_a_domain_has_once(tmp_path: Path) -> None:
    rows = [("a", "tf", "m", "rank", "trimmed_mean", 3, 2, 4, 9),
            ("a", "tf", "m", "rank", "mean", 5, 2, 4, 9),
            ("a", "tf", "m", "rank", "geometric_mean", 2, 2, 4, 9),
            ("a", "tfidf", "m", "probability", "trimmed_mean", 0.5, 2, 4, 9),
            ("a", "text", "m", "perplexity", "mean", 40.5, 2, 4, 9),
            ("b", "tf", "n", "bits", "mean", 1.5, 1, 2, 9),
            ("b", "tf", "n", "rank", "trimmed_mean", 7, 2, 4, 9)]  # fmt: skip
    write_rows(tmp_path / "s.csv", rows, SUMMARY, SUMMARY.names[:-1])
    assert read_series(tmp_path / "s.csv") == {
        "a": {"tf rank": {"m": 3.0}, "tf rank (geometric mean)": {"m": 2.0}, "tfidf probability": {"m": 0.5},
              "perplexity": {"m": 40.5}},
        "b": {"tf bits": {"n": 1.5}, "tf rank": {"n": 7.0}}}  # fmt: skip
    write_rows(
        tmp_path / "s.csv",
        [("a", "tf", "m", "rank", "trimmed_mean", "", 2, 4, 9)],
        SUMMARY,
        SUMMARY.names[:-1],
    )
    with pytest.raises(InputError, match="line 2: there is no value"):
        read_series(tmp_path / "s.csv")


def test_correlation() -> None:
    first, second = [1.0, 2.0, 3.5, 4.0], [2.0, 1.0, 5.0, 4.5]
    expected = stats.pearsonr(first, second)
    assert correlate(first, second) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert correlate([1.0, 2.0], [1.0, 2.0]) is None
    assert correlate([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) is correlate([1.0, 2.0, 3.0], [1.0] * 3) is None
    assert correlate([1.0, 2.0, 3.0], [1.0, 1.0, 4.0]) == pytest.approx(stats.pearsonr([1, 2, 3], [1, 1, 4]))
    with pytest.raises(ValueError, match="values: 3 and 2"):
        correlate([1.0, 2.0, 3.0], [1.0, 2.0])


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
