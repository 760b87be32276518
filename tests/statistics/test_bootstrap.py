"""A number with its resamples: differences, shares, intervals and p values."""

import math

import numpy as np
import pytest
from scipy.stats import t

from fathom.config.scoring import Summary
from fathom.statistics.bootstrap import (
    NOTHING,
    Resampled,
    draw_resamples,
    draw_seeds,
    find_interval,
    resample_ratio,
)


def test_two_numbers_are_subtracted_and_divided_resample_by_resample():
    one, other = Resampled.join(6.0, np.array([8.0, 9.0]), 5), Resampled.join(2.0, np.array([4.0, 0.0]))
    assert (one - other).rows.tolist() == [4, 4, 9] and (one - other).items == 5
    share = one / other
    assert (share.value, share.drawn[0]) == (3, 2) and math.isnan(share.drawn[1]), "9 of 0"


def test_an_interval_leaves_out_resamples_without_a_value_unless_they_are_half():
    some = Resampled.join(50.0, np.array([*np.arange(101.0), *[math.nan] * 100]))
    assert some.estimate(0.9) == pytest.approx((50.0, 4.0, 96.0))
    few = Resampled.join(1.0, np.array([0.0, 1.0, math.nan, math.nan])).estimate(0.9)
    assert few.value == 1 and math.isnan(few.low) and not few.apart
    assert math.isnan(Resampled.join(math.nan, np.ones(9)).estimate(0.9).low)
    assert not NOTHING.apart


@pytest.mark.parametrize(("drawn", "p"), [(np.ones(99), 0.02), (np.zeros(99), 1.0), (-np.ones(99), 0.02)])
def test_p_counts_the_other_side_and_is_never_0(drawn, p):
    assert Resampled.join(float(drawn[0]), drawn).test() == pytest.approx(p)


@pytest.mark.parametrize("rounds", [39, 100, 999, 1000])
@pytest.mark.parametrize("freedom", [math.inf, 49, 19, 4, 1])
def test_p_is_small_exactly_where_the_interval_excludes_0(rounds, freedom):
    below = np.arange(min(rounds + 1, 60))
    for count in below:
        for sign in (1.0, -1.0):
            drawn = sign * np.where(np.arange(rounds) < count, -0.5, np.arange(1.0, rounds + 1))
            found = Resampled.join(sign, drawn, freedom=freedom)
            for confidence in (0.9, 0.95):
                assert found.estimate(confidence).apart == (found.test() <= 1 - confidence + 1e-9)


def test_intervals_of_few_clusters_reach_as_far_as_students_t():
    random = np.random.default_rng(0)
    for count in (10, 20, 50):
        sample = random.normal(size=count)
        drawn = random.normal(sample.mean(), sample.std() / math.sqrt(count), 400_000)  # as of many resamples
        low, high = find_interval(drawn, 0.95, count - 1)
        exact = t.interval(0.95, count - 1, sample.mean(), sample.std(ddof=1) / math.sqrt(count))
        assert (low, high) == pytest.approx(exact, abs=0.02 * (high - low))
        plain = find_interval(drawn, 0.95, math.inf)
        assert low < plain[0] and plain[1] < high


@pytest.mark.parametrize(("rounds", "clusters"), [(1000, 6), (200, 8), (100, 12)])
def test_few_resamples_cannot_tell_ends_far_out(rounds, clusters):
    drawn = np.arange(float(rounds))
    low, high = find_interval(drawn, 0.95, clusters - 1)
    assert (low, high) == find_interval(drawn, 0.95, 1) and low <= 1 and high >= rounds - 2
    assert find_interval(drawn, 0.95, 10 * clusters)[0] > low
    assert find_interval(drawn[:39], 0.95, 1) == (0, 38)


def test_a_number_keeps_the_fewest_clusters_of_what_it_is_computed_from():
    rows = np.arange(5.0)
    few, many = Resampled(rows, freedom=9), Resampled(rows, freedom=29)
    assert (few - many).freedom == (many - few).freedom == (many / few).freedom == 9
    counts = draw_resamples(4, Summary(rounds=9))
    assert resample_ratio(np.ones(4), np.array([1.0, 0.0, 1.0, 1.0]), counts).freedom == 2


def test_an_interval_never_leaves_out_its_number():
    far = Resampled.join(5.0, np.arange(100.0) / 100)
    assert far.estimate(0.95).high == 5 and far.estimate(0.95).low < 0.1
    many = Resampled(np.stack([far.rows, 1 - far.rows], axis=1))
    low, high = many.find_ends(0.95)
    assert (low <= many.rows[0]).all() and (many.rows[0] <= high).all() and high[0] == 5 and low[1] == -4
    other = Resampled.join(-5.0, 1 + np.arange(100.0))
    assert other.estimate(0.95).low == -5 and not other.estimate(0.95).apart and other.test() == 1


def test_p_and_interval_leave_out_the_same_resamples():
    drawn = np.concatenate([np.full(100, np.nan), [-1.0, -1.0, -1.0], np.arange(1.0, 118.0)])
    found = Resampled.join(1.0, drawn)
    assert found.test() == pytest.approx(8 / 121) and not found.estimate(0.95).apart


def test_a_ratio_is_that_of_sums():
    counts = draw_resamples(3, Summary(rounds=50))
    above, below = np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, 3.0])
    found = resample_ratio(above, below, counts)
    assert found.value == 3 / 5 and found.items == 3
    for row, value in zip(counts, found.drawn, strict=True):
        whole = np.repeat(below, row).sum()
        assert value == pytest.approx(np.repeat(above, row).sum() / whole) if whole else math.isnan(value)


def test_all_seeds_come_first_then_those_of_each_resample():
    found = draw_seeds(4, Summary(rounds=30))
    assert found[0].tolist() == [0, 1, 2, 3] and found.shape == (31, 4)
    assert np.array_equal(found, draw_seeds(4, Summary(rounds=30)))
