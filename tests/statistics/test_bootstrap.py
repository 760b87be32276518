"""A number with its resamples: differences, shares, intervals and p values."""

import math

import numpy as np
import pytest
from scipy.stats import kstest, t

from fathom.config.scoring import Summary
from fathom.statistics.bootstrap import (
    NOTHING,
    Resampled,
    draw_enough,
    draw_resamples,
    draw_seed_errors,
    draw_seeds,
    find_band,
    find_interval,
    resample_ratio,
)


def test_two_numbers_are_subtracted_and_divided_resample_by_resample():
    one, other = Resampled.join(6.0, np.array([8.0, 9.0]), 5), Resampled.join(2.0, np.array([4.0, 0.0]))
    assert (one - other).rows.tolist() == [4, 4, 9] and (one - other).items == 5
    share = one / other
    assert (share.value, share.drawn[0]) == (3, 2) and math.isnan(share.drawn[1]), "9 of 0"


def test_what_comes_of_two_numbers_has_the_fewest_freedoms_and_the_seeds_of_both():
    one, other = Resampled(np.ones(3), freedom=9.0, seeds=3), Resampled(np.ones(3), freedom=5.0, seeds=0)
    for found in (one - other, other - one, one / other, other / one):
        assert (found.freedom, found.seeds) == (5.0, 3)


def test_a_resample_at_the_threshold_counts_against_both_sides():
    drawn = np.where(np.arange(99) < 4, 2.0, 3.0)
    above, below = Resampled.join(3.0, drawn), Resampled.join(-3.0, -drawn)
    assert above.test(2.0) == below.test(-2.0) == pytest.approx(0.1)


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


def test_a_number_at_the_threshold_is_no_difference_and_one_that_is_undefined_has_no_p():
    assert Resampled.join(0.0, -np.ones(99)).test() == Resampled.join(0.0, np.ones(99)).test() == 1
    assert math.isnan(Resampled.join(math.nan, np.ones(99)).test())
    assert math.isnan(Resampled.join(math.nan, np.ones(99)).test_far())


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("freedom", "seeds", "tails"), [(30.0, 0, 30), (30.0, 5, 4), (math.inf, 2, 1)])
def test_far_beyond_the_resamples_p_is_students_t(sign, freedom, seeds, tails):
    """Half of the resamples spread twice as far above the number as below it."""
    spread = np.random.default_rng(4).normal(size=999)
    drawn = np.append(0.0, np.where(spread > 0, 2 * spread, spread))
    for shift in (0.5, 3.0, 9.0):
        found = Resampled(sign * (drawn + shift), freedom=freedom, seeds=seeds)
        value, low, high = found.estimate(0.95)
        reach = value - low if sign > 0 else high - value
        expected = 2 * t.sf(t.isf(0.025, tails) * shift / reach, tails) if found.test() <= 0.05 else 1.0
        assert found.test_far() == pytest.approx(min(found.test(), expected))
        moved = Resampled(found.rows + 7, freedom=freedom, seeds=seeds)
        assert moved.test_far(7.0) == pytest.approx(found.test_far())
    assert Resampled.join(2.0, np.full(99, 2.0)).test_far() == Resampled.join(2.0, np.full(99, 2.0)).test()


@pytest.mark.parametrize("tests", [1, 4, 31])
def test_enough_resamples_tell_the_clearest_of_many_tests(tests):
    settings = draw_enough(Summary(rounds=40), tests)
    told = [
        Resampled.join(1.0, np.ones(rounds), 60, 29).test() <= 0.05 / tests
        for rounds in (settings.rounds, settings.rounds // 2)
    ]
    assert told == [True, False]
    assert draw_enough(Summary(rounds=9000), tests).rounds == 9000


def test_many_intervals_at_once_are_undefined_each_alone():
    drawn = np.stack([np.arange(100.0), np.full(100, np.nan), -np.arange(100.0)], axis=1)
    low, high = find_interval(drawn, 0.9, math.inf)
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [False, True, False]
    assert (low[0], high[0]) == (4, 95)


@pytest.mark.parametrize("rounds", [39, 40, 41, 79, 999])
@pytest.mark.parametrize("freedom", [math.inf, 60.0])
def test_both_ends_of_an_interval_are_as_far_out(rounds, freedom):
    low, high = find_interval(
        np.random.default_rng(0).permutation(float(rounds) - np.arange(rounds)), 0.95, freedom
    )
    assert low + high == rounds + 1
    if math.isinf(freedom):
        assert low == max(1, math.floor(0.025 * (rounds + 1) + 1e-9))


def test_a_band_holds_all_numbers_together():
    random = np.random.default_rng(5)
    rows, errors = random.normal(size=(201, 3)), random.uniform(0.5, 2, (201, 3))
    reach = np.quantile(
        [max(abs(row - rows[0]) / error) for row, error in zip(rows[1:], errors[1:], strict=True)], 0.9
    )
    low, high = find_band(rows, errors, 0.9)
    assert low == pytest.approx(rows[0] - reach * errors[0]) and high == pytest.approx(
        rows[0] + reach * errors[0]
    )
    # one that never varies but for rounding, one that is undefined in a resample, one without an error in one
    fixed, undefined, exact = np.full(201, 0.5), rows[:, 0].copy(), rows[:, 0]
    fixed[3] += 1e-15
    undefined[7] = -np.inf
    without = np.ones(201)
    without[7] = 0
    more = (
        np.column_stack([rows, fixed, undefined, exact]),
        np.column_stack([errors, *[errors[:, 0]] * 2, without]),
    )
    wide_low, wide_high = find_band(*more, 0.9)
    assert wide_low[:3].tolist() == low.tolist() and wide_high[:3].tolist() == high.tolist()
    assert (wide_low[3], wide_high[3]) == (0.5, 0.5) and np.isnan([wide_low[4:], wide_high[4:]]).all()
    alone_low, alone_high = find_band(fixed[:, None], errors[:, :1], 0.9)
    assert alone_low.tolist() == alone_high.tolist() == [0.5]


@pytest.mark.parametrize("count", [2, 5])
def test_weights_of_seeds_make_students_t(count):
    weights = draw_seed_errors(count, Summary(rounds=4000))
    assert weights.shape == (4001, count) and not weights[0].any()
    assert weights.sum(axis=1) == pytest.approx(0, abs=1e-9)
    values = np.arange(count) ** 2.0
    errors = weights[1:] @ values / (values.std(ddof=1) / math.sqrt(count))
    assert kstest(errors, t(count - 1).cdf).pvalue > 0.01


def test_a_ratio_of_small_sums_is_one_and_of_one_item_has_a_degree_of_freedom():
    counts = np.array([[1, 1], [2, 0], [0, 2]])
    found = resample_ratio(np.array([0.1, 0.0]), np.array([0.4, 0.0]), counts)
    assert found.rows[:3] == pytest.approx([0.25, 0.25, 0.25]) and math.isnan(found.rows[3])
    assert found.freedom == 1
