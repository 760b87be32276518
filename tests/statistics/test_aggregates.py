"""Statistics against scipy's, on values and on resamples that are not built."""

import math

import numpy as np
import pytest
from scipy.stats import gmean, trim_mean

from fathom.statistics.aggregates import (
    COMPARED,
    GEOMETRIC_MEAN,
    LEADING,
    STATISTICS,
    TRIMMED_MEAN,
    Resamples,
    measure_resamples,
    measure_values,
)
from fathom.statistics.bootstrap import find_interval


def test_values_in_any_order_give_scipys_numbers() -> None:
    ranks = np.random.default_rng(0).lognormal(4, 2, 501)
    assert measure_values(ranks, TRIMMED_MEAN, 0.2) == pytest.approx(trim_mean(ranks, 0.2), rel=1e-12)
    assert measure_values(ranks, GEOMETRIC_MEAN, 0.2) == pytest.approx(gmean(ranks), rel=1e-12)
    assert measure_values(np.array([7]), GEOMETRIC_MEAN, 0.2) == pytest.approx(7)


def test_resamples_give_the_numbers_of_their_repeated_values() -> None:
    random = np.random.default_rng(1)
    values = np.sort(random.lognormal(4, 2, 12))
    # of 1 to some 40 values, odd and even, with values that do not occur
    copies = np.stack([random.multinomial(size, np.full(12, 1 / 12)) for size in range(1, 41)]).astype(
        np.int32
    )
    peers = {"mean": np.mean, "median": np.median, "trimmed_mean": lambda repeated: trim_mean(repeated, 0.2),
             "geometric_mean": gmean}  # fmt: skip
    found = measure_resamples(Resamples(values, copies, 0.2), STATISTICS)
    assert set(found) == set(peers)
    for name, peer in peers.items():
        expected = [peer(np.repeat(values, row)) for row in copies]
        assert found[name] == pytest.approx(expected, rel=1e-12), name


def test_an_interval_holds_its_share_of_the_resamples() -> None:
    drawn = np.stack([np.arange(101.0), 1000 - np.arange(101.0)], axis=1)
    for confidence, ends in ((0.95, (1.0, 99.0)), (0.5, (24.0, 76.0))):
        low, high = find_interval(drawn, confidence, math.inf)
        assert low == pytest.approx([ends[0], 1000 - ends[1]])
        assert high == pytest.approx([ends[1], 1000 - ends[0]])


def test_a_probability_of_zero_makes_only_its_own_resamples_zero() -> None:
    values, copies = np.array([0.0, 0.25, 1.0]), np.array([[1, 1, 1], [0, 2, 1], [0, 0, 3]], np.int32)
    found = GEOMETRIC_MEAN.measure(Resamples(values, copies, 0.2))
    assert found == pytest.approx([0, 0.25 ** (2 / 3), 1])


def test_names_are_sorted_and_the_papers_statistic_leads() -> None:
    assert list(STATISTICS) == sorted(STATISTICS)
    assert LEADING is TRIMMED_MEAN and GEOMETRIC_MEAN in COMPARED
