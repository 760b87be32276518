"""Which differences count: the published unpaired test, and the paired one."""

import numpy as np
import pytest
from scipy.stats import trim_mean, ttest_rel

from fathom.statistics.significance import (
    ExampleScores,
    average_examples,
    compare_paired,
    compare_unpaired,
    order_pairs,
)


def make_examples(values, keywords=None, weights=None, trim=None) -> ExampleScores:
    count = len(values)
    return ExampleScores(
        values, np.ones(count) if weights is None else weights, keywords or [""] * count, trim
    )


def test_a_difference_counts_from_1_96_standard_errors_on():
    scores = np.array([[0.50], [0.50 + 1.97 * 0.01 * np.sqrt(2)], [0.50 + 1.95 * 0.01 * np.sqrt(2)]])
    errors = np.full((3, 1), 0.01)
    assert compare_unpaired(scores, errors, 0.05)[0].tolist() == [-1, 0, 0]
    assert order_pairs(scores)[0].tolist() == [-1, -1, 1]


def test_without_a_score_or_its_error_nothing_is_tested_and_an_error_of_zero_is_exact():
    scores = np.array([[0.0], [0.1], [0.0]])
    assert np.isnan(compare_unpaired(scores, np.array([[0.1], [np.nan], [0.1]]), 0.05)[0]).tolist() == [
        True, False, True]  # fmt: skip
    assert compare_unpaired(scores, np.zeros((3, 1)), 0.05)[0].tolist() == [-1, 0, 1]
    assert np.isnan(order_pairs(np.array([[1.0], [np.nan], [2.0]]))[0]).tolist() == [True, False, True]


def test_the_paired_test_is_scipys():
    random = np.random.default_rng(1)
    examples = (random.random((80, 1)) + random.normal(0, 0.3, (80, 6)) + np.arange(6) * 0.05 > 0.5) * 1.0
    found = compare_paired(make_examples(examples), 0.05)
    for sign, (a, b) in zip(found, zip(*np.triu_indices(6, 1), strict=True), strict=True):
        test = ttest_rel(examples[:, a], examples[:, b])
        assert sign == (np.sign(test.statistic) if test.pvalue < 0.05 else 0)
    assert {-1.0, 0.0} <= set(found.tolist())


def test_the_paired_test_sees_what_the_unpaired_one_cannot():
    """Half of the examples are too hard for both: the model that solves ten more of 200 is better."""
    first = np.repeat([1.0, 0.0], [110, 90])
    second = np.repeat([1.0, 0.0], [100, 100])
    examples = np.stack([first, second], axis=1)
    errors = examples.std(axis=0, ddof=1) / np.sqrt(200)
    assert compare_unpaired(examples.mean(axis=0)[:, None], errors[:, None], 0.05).tolist() == [[0]]
    assert compare_paired(make_examples(examples), 0.05).tolist() == [1]


@pytest.mark.parametrize(("shift", "sign"), [(0.0, 0), (0.25, -1)])
def test_a_difference_that_never_varies_is_certain(shift, sign):
    first = np.linspace(0.1, 0.9, 30)
    assert compare_paired(make_examples(np.stack([first, first + shift], axis=1)), 0.05).tolist() == [sign]


def test_the_test_is_of_the_trimmed_mean():
    """One model is better nearly everywhere; on a few examples its rank is enormous."""
    random = np.random.default_rng(2)
    first = random.integers(50, 100, 200).astype(float)
    second = first - 10
    second[:15] = 50_000.0
    values = np.stack([first, second], axis=1)
    assert ttest_rel(first, second).statistic < 0, "by the mean the second model has the higher rank"
    assert trim_mean(second, 0.2) < trim_mean(first, 0.2), "by the score it has the lower one"
    assert compare_paired(make_examples(values, trim=0.2), 0.05).tolist() == [1]
    assert compare_paired(make_examples(values, trim=0.05), 0.05).tolist() == [0], "a smaller share is cut"


def test_examples_of_one_keyword_are_one_observation():
    """Five keywords of 40 examples each are five observations, not 200."""
    random = np.random.default_rng(3)
    difference = np.repeat([0.3, 0.3, 0.3, -0.3, -0.2], 40)
    values = np.stack([difference, np.zeros(200)], axis=1) + random.normal(0, 0.01, (200, 1))
    keywords = [f"k{place}" for place in np.repeat(np.arange(5), 40)]
    assert compare_paired(make_examples(values), 0.05).tolist() == [1]
    assert compare_paired(make_examples(values, keywords), 0.05).tolist() == [0]


def test_texts_weigh_as_much_as_they_are_long():
    """On many short texts the first model has fewer bits a byte, on the few long ones the second one."""
    random = np.random.default_rng(4)
    weights = np.repeat([100.0, 10_000.0], [150, 50])
    difference = np.repeat([0.5, -0.5], [150, 50]) + random.normal(0, 0.05, 200)
    values = np.stack([1 + difference, np.ones(200)], axis=1)
    assert compare_paired(make_examples(values), 0.05).tolist() == [1]
    for unit in (1, 20_000):
        assert compare_paired(make_examples(values, weights=weights / unit), 0.05).tolist() == [-1]


@pytest.mark.parametrize("keywords", [None, [f"k{place}" for place in range(20) for _ in range(3)]])
@pytest.mark.parametrize("trim", [None, 0.2])
def test_a_model_that_lacks_an_example_is_untested_and_the_others_are_not(keywords, trim):
    values = np.random.default_rng(8).normal([0, 3, 0], size=(60, 3))
    values[7, 2] = np.nan
    found = compare_paired(make_examples(values, keywords, trim=trim), 0.05)
    assert np.array_equal(found, [-1, np.nan, np.nan], equal_nan=True)


def test_a_resampled_trimmed_mean_is_scipys():
    random = np.random.default_rng(5)
    values, counts = random.normal(size=37), random.integers(0, 4, (20, 37)).astype(float)
    found = average_examples(values, make_examples(values, trim=0.3), counts)
    expected = [trim_mean(np.repeat(values, row.astype(int)), 0.3) for row in counts]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_stacked_scores_are_compared_one_by_one():
    random = np.random.default_rng(6)
    scores, errors = random.normal(size=(2, 4, 3, 5)), random.random((4, 3, 5))
    for place in range(4):
        assert np.array_equal(order_pairs(scores[0])[place], order_pairs(scores[0, place]))
        assert np.array_equal(
            compare_unpaired(scores[0], errors, 0.05)[place],
            compare_unpaired(scores[0, place], errors[place], 0.05),
        )


@pytest.mark.parametrize("wanted", [3.5, 6.0, 60.0])
def test_of_few_examples_a_t_test_decides(wanted):
    """Of three, all on one side, a bootstrap is sure of any difference; t needs 4.3 standard errors."""
    shape = np.array([-1.0, -0.5, 1.5])
    error = shape.std(ddof=1) / np.sqrt(3)
    first = shape + wanted * error
    values = np.stack([first, np.zeros(3), np.full(3, 2.0)], axis=1)
    found = compare_paired(make_examples(values), 0.05)
    expected = [np.sign(test.statistic) if test.pvalue < 0.05 else 0
                for test in (ttest_rel(first, values[:, place]) for place in (1, 2))]  # fmt: skip
    assert found.tolist() == [*expected, -1]


def test_rounding_makes_no_difference_and_hides_none():
    first = 1e6 * np.linspace(0.1, 0.9, 30)
    rounded = np.stack([first * 0.1 + first * 0.2, first * 0.3], axis=1)
    assert (rounded[:, 0] != rounded[:, 1]).any()
    for trim in (None, 0.2):
        for order in (1, -1):
            assert compare_paired(make_examples(rounded[:, ::order], trim=trim), 0.05).tolist() == [0]
        fixed = np.tile([3e5, np.nextafter(3e5, 4e5)], (30, 1))
        assert compare_paired(make_examples(fixed, trim=trim), 0.05).tolist() == [0]
    for shift in np.linspace(0.1, 0.9, 60):
        values = np.stack([first / 1e6, first / 1e6 + shift], axis=1)
        assert compare_paired(make_examples(values), 0.05).tolist() == [-1]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_paired_bootstrap_is_two_sided(sign):
    random = np.random.default_rng(7)
    difference = random.normal(size=60)
    difference += 1.8 * difference.std() / np.sqrt(60) - difference.mean()
    means = random.choice(difference, (20_000, 60)).mean(axis=1)
    p = 2 * (means <= 0).mean()
    values = np.stack([sign * difference, np.zeros(60)], axis=1)
    examples = make_examples(values, [f"k{place}" for place in range(60)])
    assert compare_paired(examples, 1.3 * p).tolist() == [sign]
    assert compare_paired(examples, p / 1.3).tolist() == [0]


def test_a_resampled_weighted_mean_is_numpys():
    random = np.random.default_rng(8)
    values, weights = random.normal(size=37), random.random(37)
    counts = random.integers(0, 4, (20, 37)).astype(float)
    found = average_examples(values, make_examples(values, weights=weights), counts)
    expected = [np.average(values, weights=row * weights) for row in counts]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
