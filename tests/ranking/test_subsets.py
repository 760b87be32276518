"""The ranking by growing subsets, held against that by all pairs."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from fathom.ranking.subsets import Curve, draw_order, find_size, follow_ranking, hold_against
from fathom.statistics.aggregates import GEOMETRIC_MEAN, TRIMMED_MEAN, measure_values

KEYWORDS = np.repeat(np.arange(12), [1, 2, 3, 5, 8, 13, 21, 1, 2, 3, 5, 8])


def test_a_stratified_part_holds_that_part_of_every_keyword() -> None:
    random = np.random.default_rng(0)
    order = draw_order(KEYWORDS, random, True)
    assert sorted(order) == list(range(len(KEYWORDS)))
    for share in (0.25, 0.5, 0.75):
        part = np.bincount(KEYWORDS[order[: round(share * len(KEYWORDS))]], minlength=12)
        assert (abs(part - share * np.bincount(KEYWORDS)) < 2).all()
    assert draw_order(KEYWORDS, random, True).tolist() != order.tolist()
    assert sorted(draw_order(KEYWORDS, random, False)) == sorted(order)


@pytest.mark.parametrize("statistic", [TRIMMED_MEAN, GEOMETRIC_MEAN])
def test_taus_are_those_of_scipy(statistic) -> None:
    random = np.random.default_rng(1)
    ranks = np.exp(random.normal(3, 1, (6, 72)) + 0.1 * np.arange(6)[:, None])
    order, sizes = random.permutation(72), [5, 30, 72]
    signs = follow_ranking(ranks, order, sizes, statistic, 0.2)
    taus, kept = hold_against(signs, signs[-1], np.array([True] * 3 + [False] * 12))
    whole = [measure_values(row, statistic, 0.2) for row in ranks]
    for size, tau, share in zip(sizes, taus, kept, strict=True):
        part = [measure_values(row[order[:size]], statistic, 0.2) for row in ranks]
        assert tau == pytest.approx(kendalltau(whole, part).statistic)
        same = [np.sign(part[0] - part[b]) == np.sign(whole[0] - whole[b]) for b in (1, 2, 3)]
        assert share == pytest.approx(np.mean(same))
    assert taus[-1] == kept[-1] == 1
    assert np.isnan(hold_against(signs, signs[-1], np.zeros(15, dtype=bool))[1]).all()


def test_a_size_counts_from_where_tau_stays_high() -> None:
    sizes = [10, 20, 30, 40]
    assert find_size(sizes, np.array([1.0, 0.9, 0.96, 1.0])) == 30
    assert find_size(sizes, np.array([0.95, 1.0, 1.0, 1.0])) == 10
    assert find_size(sizes, np.array([0.2, np.nan, 0.9, 1.0])) == 40


def test_exact_counts_resamples_with_the_order_of_all_pairs() -> None:
    curve = Curve(np.array([[0.9, 1.0], [1.0, 1.0]]), np.ones((2, 2)))
    assert curve.exact.tolist() == [0.5, 1.0]
