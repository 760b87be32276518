"""A number with its resamples: differences, shares, intervals and p values."""

import math

import numpy as np
import pytest

from fathom.config.scoring import Summary
from fathom.statistics.bootstrap import NOTHING, Resampled, draw_resamples, draw_seeds, resample_ratio


def test_two_numbers_are_subtracted_and_divided_resample_by_resample():
    one, other = Resampled.join(6.0, np.array([8.0, 9.0]), 5), Resampled.join(2.0, np.array([4.0, 0.0]))
    assert (one - other).rows.tolist() == [4, 4, 9] and (one - other).items == 5
    share = one / other
    assert (share.value, share.drawn[0]) == (3, 2) and math.isnan(share.drawn[1]), "9 of 0"


def test_an_interval_leaves_out_resamples_without_a_value_unless_they_are_half():
    some = Resampled.join(1.0, np.array([*np.arange(101.0), *[math.nan] * 100]))
    assert some.estimate(0.9) == pytest.approx((1.0, 4.0, 96.0))
    few = Resampled.join(1.0, np.array([0.0, 1.0, math.nan, math.nan])).estimate(0.9)
    assert few.value == 1 and math.isnan(few.low) and not few.apart
    assert math.isnan(Resampled.join(math.nan, np.ones(9)).estimate(0.9).low)
    assert not NOTHING.apart


@pytest.mark.parametrize(("drawn", "p"), [(np.ones(99), 0.02), (np.zeros(99), 1.0), (-np.ones(99), 0.02)])
def test_p_counts_the_other_side_and_is_never_0(drawn, p):
    assert Resampled.join(1.0, drawn).test() == pytest.approx(p)


@pytest.mark.parametrize("rounds", [39, 100, 999, 1000])
def test_p_is_small_exactly_where_the_interval_excludes_0(rounds):
    below = np.arange(min(rounds + 1, 60))
    for count in below:
        for sign in (1.0, -1.0):
            drawn = sign * np.where(np.arange(rounds) < count, -0.5, np.arange(1.0, rounds + 1))
            found = Resampled.join(sign, drawn)
            for confidence in (0.9, 0.95):
                assert found.estimate(confidence).apart == (found.test() <= 1 - confidence + 1e-9)


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
