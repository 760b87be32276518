"""How far the truth may lie from a mean that a fit is part of."""

import math

import numpy as np
import pytest
from scipy.stats import t

from fathom.config.scoring import Summary
from fathom.scoring.bits import FOLDS
from fathom.statistics.aggregates import MEAN
from fathom.statistics.metrics import BITS
from fathom.statistics.summaries import find_reach, resample_values


def _draw(random, sizes, between=1.0):
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    return between * random.normal(size=len(sizes))[clusters] + random.normal(size=len(clusters)), clusters


def _resample(values, clusters, fitted_on):
    names = [f"{code:03d}" for code in clusters]
    return resample_values(values, names, Summary(rounds=200), [MEAN.name], fitted_on)[MEAN.name]


def test_clusters_of_one_size_stretch_nothing_and_those_of_many_do():
    random = np.random.default_rng(0)
    even = find_reach(*_draw(random, [5] * 40), 0.8)
    assert even.stretch == pytest.approx(1) and even.freedom <= 39
    uneven = find_reach(*_draw(random, [60, 50, *[3] * 38]), 0.8)
    assert uneven.stretch > 1.05 and uneven.freedom < 10


def test_the_cost_of_a_fit_is_half_a_nat_by_value_that_speaks_for_itself():
    random = np.random.default_rng(1)
    alone = find_reach(random.normal(size=500), np.arange(500), 0.8)
    assert alone.cost == pytest.approx(0.5 / math.log(2) / 400, rel=0.01)
    values, clusters = _draw(random, [10] * 50, between=30.0)
    assert find_reach(values, clusters, 0.8).cost == pytest.approx(10 * alone.cost, rel=0.05)


@pytest.mark.parametrize("values", [np.ones(6), np.array([1.0, 2, 2, 1, 1, 2])])
def test_clusters_with_one_mean_have_no_reach(values):
    assert find_reach(values, np.array([0, 0, 1, 1, 2, 2]), 0.8) is None
    assert find_reach(values, np.zeros(6, int), 0.8) is None
    assert _resample(values, [0, 0, 1, 1, 2, 2], 0.8).estimate(0.95).value == values.mean()


def test_two_clusters_have_an_interval():
    value, low, high = _resample(np.array([1.0, 2.0, 4.0]), [0, 0, 1], 0.8).estimate(0.95)
    assert low <= value < high and math.isfinite(low + high)


def test_the_interval_of_a_number_is_wider_and_that_of_a_difference_is_not():
    values, clusters = _draw(np.random.default_rng(2), [40, 30, *[4] * 18])
    plain, fitted = (_resample(values, clusters, share) for share in (0.0, 0.8))
    before, after = plain.estimate(0.95), fitted.estimate(0.95)
    assert after.value == before.value and after.low < before.low and after.high > before.high
    other = _resample(values**2, clusters, 0.8)
    assert (fitted - other).estimate(0.95) == (plain - other).estimate(0.95)
    low, high = fitted.find_ends(0.95)
    assert (low, high) == (after.low, after.high)


@pytest.mark.parametrize("place", range(0, 200, 20))
def test_p_is_small_exactly_where_the_interval_excludes_a_threshold(place):
    values, clusters = _draw(np.random.default_rng(place), [40, 30, *[4] * 28])
    found = _resample(values, clusters, 0.8)
    low, high = found.estimate(0.95)[1:]
    for threshold in (low - 1e-9, low + 1e-9, high - 1e-9, high + 1e-9):
        assert (found.test(threshold) <= 0.05) == (not low <= threshold <= high)


def test_intervals_of_uneven_clusters_hold_where_plain_ones_do_not():
    random, held = np.random.default_rng(3), np.zeros(2)
    for _ in range(300):
        sizes = 1 + random.multinomial(300, random.dirichlet(np.full(20, 0.7)))
        values, clusters = _draw(random, sizes)
        reach = find_reach(values, clusters, 0.8)
        error = np.sqrt((np.bincount(clusters, values - values.mean()) ** 2).sum()) / len(values)
        for place, width in enumerate(
            (
                t.ppf(0.975, 19) * math.sqrt(20 / 19),
                t.ppf(0.975, reach.freedom) * reach.stretch * math.sqrt(20 / 19),
            )
        ):
            held[place] += abs(values.mean()) <= width * error
    assert held[0] / 300 < 0.92 < held[1] / 300


def test_bits_are_fitted_on_the_other_folds():
    assert BITS.fitted_on == 1 - 1 / FOLDS
