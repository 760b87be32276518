"""Correlations against SciPy, also those of every resample."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.statistics import CORRELATIONS, SUMMARY
from fathom.io.delimited import write_rows
from fathom.statistics.correlations import (
    ROW_STATISTICS,
    STATISTICS,
    correlate,
    correlate_series,
    read_series,
    tabulate_correlations,
)

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


def test_three_models_have_no_interval_and_two_or_a_constant_row_no_correlation():
    three = correlate_series(np.array([1.0, 2, 4]), np.array([1.0, 3, 5]), SETTINGS)
    assert all(np.isfinite(each.value) and np.isnan(each.low) and np.isnan(each.high) for each in three)
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
