"""Statistics against scipy's, on values and on resamples that are not built."""

import numpy as np
import pytest
from scipy.stats import gmean, trim_mean

from fathom.scoring.statistics import (
    COMPARED,
    GEOMETRIC_MEAN,
    LEADING,
    STATISTICS,
    TRIMMED_MEAN,
    Resamples,
    measure_values,
)


def test_values_in_any_order_give_scipys_numbers() -> None:
    ranks = np.random.default_rng(0).lognormal(4, 2, 501)
    assert measure_values(ranks, TRIMMED_MEAN, 0.2) == pytest.approx(trim_mean(ranks, 0.2), rel=1e-12)
    assert measure_values(ranks, GEOMETRIC_MEAN, 0.2) == pytest.approx(gmean(ranks), rel=1e-12)
    assert measure_values(np.array([7]), GEOMETRIC_MEAN, 0.2) == pytest.approx(7)


def test_a_probability_of_zero_makes_only_its_own_resamples_zero() -> None:
    values, copies = np.array([0.0, 0.25, 1.0]), np.array([[1, 1, 1], [0, 2, 1], [0, 0, 3]], np.int32)
    found = GEOMETRIC_MEAN.measure(Resamples(values, copies, 0.2))
    assert found == pytest.approx([0, 0.25 ** (2 / 3), 1])


def test_a_factor_counts_alike_at_every_rank() -> None:
    ranks = np.array([1.0, 10.0, 100.0, 1000.0])
    before = measure_values(ranks, GEOMETRIC_MEAN, 0.2)
    for place in range(4):
        halved = ranks * np.where(np.arange(4) == place, 0.5, 1.0)
        assert before / measure_values(halved, GEOMETRIC_MEAN, 0.2) == pytest.approx(2**0.25)


def test_names_are_sorted_and_the_papers_statistic_leads() -> None:
    assert list(STATISTICS) == sorted(STATISTICS)
    assert LEADING is TRIMMED_MEAN and GEOMETRIC_MEAN in COMPARED
