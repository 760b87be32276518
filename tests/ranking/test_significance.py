"""Which differences count: the published unpaired test, and the paired one."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from fathom.ranking.significance import compare_paired, compare_unpaired, order_pairs


def test_a_difference_counts_from_1_96_standard_errors_on():
    scores = np.array([[0.50], [0.50 + 1.97 * 0.01 * np.sqrt(2)], [0.50 + 1.95 * 0.01 * np.sqrt(2)]])
    errors = np.full((3, 1), 0.01)
    assert compare_unpaired(scores, errors, 0.05)[0].tolist() == [-1, 0, 0]
    assert order_pairs(scores)[0].tolist() == [-1, -1, 1]


def test_without_an_error_nothing_is_tested_and_an_error_of_zero_is_exact():
    scores = np.array([[0.0], [0.1], [0.0]])
    assert np.isnan(compare_unpaired(scores, np.array([[0.1], [np.nan], [0.1]]), 0.05)[0]).tolist() == [
        True, False, True]  # fmt: skip
    assert compare_unpaired(scores, np.zeros((3, 1)), 0.05)[0].tolist() == [-1, 0, 1]


def test_a_missing_score_is_neither_tie_nor_difference():
    assert np.isnan(order_pairs(np.array([[1.0], [np.nan], [2.0]]))[0]).tolist() == [True, False, True]


def test_the_paired_test_is_scipys():
    random = np.random.default_rng(1)
    examples = (random.random((80, 1)) + random.normal(0, 0.3, (80, 6)) + np.arange(6) * 0.05 > 0.5) * 1.0
    found = compare_paired(examples, 0.05)
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
    assert compare_paired(examples, 0.05).tolist() == [1]


@pytest.mark.parametrize(("shift", "sign"), [(0.0, 0), (0.25, -1)])
def test_a_difference_that_never_varies_is_certain(shift, sign):
    first = np.linspace(0.1, 0.9, 30)
    assert compare_paired(np.stack([first, first + shift], axis=1), 0.05).tolist() == [sign]
