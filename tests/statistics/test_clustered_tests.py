"""Tests of every two models: known cases, and jackknives that leave out keyword after keyword."""

import numpy as np
import pytest
from scipy import stats

from fathom.statistics.aggregates import COMPARED, GEOMETRIC_MEAN, MEAN, MEDIAN, TRIMMED_MEAN, measure_values
from fathom.statistics.bootstrap import Resampled
from fathom.statistics.clustered_tests import (
    adjust_holm,
    bound_mean,
    compare_clustered,
    correct_family,
    count_freedom,
    measure_influence,
)

RANDOM = np.random.default_rng(0)
VALUES = np.exp(RANDOM.normal(5, 1, (3, 200)))
CLUSTERS = np.repeat(np.arange(20), 10)


def test_a_pair_a_keyword_is_nearly_the_paired_t_test() -> None:
    found = compare_clustered(VALUES, np.arange(200), GEOMETRIC_MEAN, 0.2)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        p = stats.ttest_rel(*np.log(VALUES[[a, b]])).pvalue
        assert found[a, b] == found[b, a] == pytest.approx(p, rel=0.02)
    assert found.diagonal().tolist() == [1, 1, 1]


def test_it_is_the_jackknife_that_leaves_out_keywords() -> None:
    sizes = np.arange(1, 21)
    clusters = np.repeat(np.arange(20), sizes)
    values = np.exp(np.random.default_rng(1).normal(5, 1, (2, len(clusters))))
    logs = np.log(values[0] / values[1])
    left_out = np.array([logs[clusters != code].mean() for code in range(20)])
    error = np.sqrt(19 / 20 * ((left_out - logs.mean()) ** 2).sum())
    expected = 2 * stats.t.sf(abs(logs.mean()) / error, count_freedom(sizes))
    assert compare_clustered(values, clusters, GEOMETRIC_MEAN, 0.2)[0, 1] == pytest.approx(expected)


@pytest.mark.parametrize("statistic", COMPARED)
def test_influence_is_how_far_one_more_value_moves_a_statistic(statistic) -> None:
    found, influence = measure_influence(VALUES, statistic, 0.2)
    measured = [measure_values(row, statistic, 0.2) for row in VALUES]
    assert found == pytest.approx(np.log(measured))
    assert influence.mean(axis=1) == pytest.approx(0, abs=1e-9)
    errors = influence.std(axis=1) / np.sqrt(200)
    drawn = np.random.default_rng(2).integers(200, size=(2000, 200))
    moved = [measure_values(VALUES[0, each], statistic, 0.2) for each in drawn]
    spread = np.std(np.log(moved))
    assert errors[0] == pytest.approx(spread, rel=0.1)


def test_clusters_of_unequal_size_are_worth_fewer() -> None:
    assert count_freedom(np.full(20, 7)) == pytest.approx(19)
    assert count_freedom(np.array([100, *[1] * 19])) == pytest.approx(1, abs=0.3)
    assert count_freedom(np.array([100, *[1] * 19])) < count_freedom(np.arange(1, 21)) < 19


def test_what_cannot_be_tested_has_no_p() -> None:
    assert np.isnan(compare_clustered(VALUES, np.zeros(200, dtype=int), TRIMMED_MEAN, 0.2)).all()
    zero = VALUES.copy()
    zero[0, 0] = 0.0
    found = compare_clustered(zero, CLUSTERS, GEOMETRIC_MEAN, 0.2)
    assert np.isnan(found[0]).all() and np.isfinite(found[1:, 1:]).all()
    with pytest.raises(ValueError, match="median"):
        measure_influence(VALUES, MEDIAN, 0.2)


def test_models_that_differ_by_the_same_on_all_pairs_differ_surely() -> None:
    values = np.stack([VALUES[0], VALUES[0], 2 * VALUES[0]])
    found = compare_clustered(values, CLUSTERS, GEOMETRIC_MEAN, 0.2)
    assert (found[0, 1], found[0, 2]) == (1, 0)


def test_holm_multiplies_the_smallest_by_all_and_keeps_the_order() -> None:
    found = adjust_holm(np.array([0.04, 0.01, np.nan, 0.03, 0.5]))
    assert found == pytest.approx([0.09, 0.04, np.nan, 0.09, 0.5], nan_ok=True)
    assert adjust_holm(np.array([0.6, 0.7])).tolist() == [1, 1]
    assert adjust_holm(np.array([])).tolist() == []


def test_means_are_tested_as_they_are() -> None:
    found = compare_clustered(VALUES, np.arange(200), MEAN, 0.2)
    assert found[0, 1] == pytest.approx(stats.ttest_rel(*VALUES[:2]).pvalue, rel=0.02)
    means, influence = measure_influence(VALUES, MEAN, 0.2)
    assert means == pytest.approx(VALUES.mean(axis=1))
    assert influence.mean(axis=1) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("statistic", COMPARED)
def test_values_below_1_are_tested_as_those_above(statistic) -> None:
    found = compare_clustered(VALUES, CLUSTERS, statistic, 0.2)
    assert compare_clustered(VALUES / 1e6, CLUSTERS, statistic, 0.2) == pytest.approx(found)


def test_values_that_do_not_vary_differ_surely_or_not_at_all() -> None:
    values = np.outer([2.0, 2.0, 3.0], np.ones(200))
    found = compare_clustered(values, CLUSTERS, TRIMMED_MEAN, 0.2)
    assert (found[0, 1], found[0, 2]) == (1, 0)


def test_rounding_of_large_values_is_no_variance() -> None:
    large = 1e9 * RANDOM.random(200)
    assert compare_clustered(np.stack([large, large + 0.1]), CLUSTERS, MEAN, 0.2)[0, 1] == 0


def test_a_trimmed_mean_of_0_has_no_p() -> None:
    zero = VALUES.copy()
    zero[0] = 0.0
    assert np.isnan(compare_clustered(zero, CLUSTERS, TRIMMED_MEAN, 0.2)[0]).all()


def test_degrees_of_freedom_lie_between_those_of_independent_and_of_alike_items() -> None:
    # Satterthwaite's: 20^2 / 90 - 1 for independent items; 90^2 / 2274 - 1 for alike ones
    expected = np.sqrt((400 / 90 - 1) * (8100 / 2274 - 1))
    assert count_freedom(np.array([2, 3, 4, 5, 6])) == pytest.approx(expected)


def test_a_family_has_p_of_each_test_alone_and_of_all_together() -> None:
    rows = np.random.default_rng(3).normal(2.6, 1, 400)
    clear, weak = (Resampled(np.append(shift, rows + shift), freedom=30) for shift in (3.0, -1.5))
    tests = [(clear, 0.0), (None, 0.0), (weak, 0.5)]
    (alone, together), nothing, (weak_alone, weak_together) = correct_family(tests)
    assert np.isnan(nothing).all()
    assert (alone, weak_alone) == (clear.test(), weak.test(0.5))
    assert together == max(alone, 2 * clear.test_far()) and weak_together >= weak_alone


def test_the_interval_of_a_mean_ends_where_the_test_rejects():
    differences = VALUES[1] - VALUES[0]
    for bound in bound_mean(differences, CLUSTERS, 0.9):
        models = np.stack([np.zeros(200), differences - bound])
        assert compare_clustered(models, CLUSTERS, MEAN, 0.2)[0, 1] == pytest.approx(0.1)
    assert np.isnan(bound_mean(differences, np.zeros(200, dtype=int), 0.9)).all()
