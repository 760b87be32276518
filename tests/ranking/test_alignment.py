"""The greedy alignment keeps every significant difference and lets all others go."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from fathom.config.ranking import RankingSettings
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.ranking.alignment import (
    align_conditions,
    align_rankings,
    bound_places,
    find_circle,
    share_crossings,
    spread_signs,
)
from fathom.ranking.benchmark_agreement import measure_tau_matrices
from fathom.ranking.resampled_scores import ResampledScores
from fathom.ranking.table import Benchmark, Model, ScoreTable
from fathom.statistics.significance import compare_unpaired, order_pairs

SCORES = st.integers(2, 12).flatmap(
    lambda models: st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=models, max_size=models
    )
)


def align(scores: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return places [2, models] and which models are better than which."""
    signs = compare_unpaired(scores, np.full(scores.shape, error), 0.05)
    better = np.array([spread_signs(each, len(scores)) for each in signs])
    return align_rankings(better, rankdata(-scores.T, axis=1)), better


@settings(max_examples=200)
@given(SCORES, st.floats(0, 6))
def test_no_model_stands_above_one_that_is_significantly_better(rows, error):
    scores = np.array(rows, float)
    places, better = align(scores, error)
    for side in (0, 1):
        assert sorted(places[side]) == list(range(1, len(scores) + 1))
        above, below = np.nonzero(better[side])
        assert (places[side][above] < places[side][below]).all()
        best, worst = bound_places(better[side])
        assert (best <= places[side]).all() and (places[side] <= worst).all()


def align_plainly(scores: np.ndarray, better: np.ndarray) -> list[list[int]]:
    """Return places by the published algorithm, one pair of models at a time."""
    count = len(scores)
    ranks = rankdata(-scores.T, axis=1)
    orders: list[list[int]] = [[], []]
    for _ in range(count):
        places = [{model: place for place, model in enumerate(order, 1)} for order in orders]
        free = [
            [m for m in range(count) if m not in order and not set(np.flatnonzero(above[:, m])) - set(order)]
            for order, above in zip(orders, better, strict=True)
        ]
        _, a, b = min(
            ((places[1].get(a, count + 1) + places[0].get(b, count + 1), a != b, ranks[1, a] + ranks[0, b]),
             a,
             b)
            for a in free[0]
            for b in free[1]
        )  # fmt: skip
        orders[0].append(a)
        orders[1].append(b)
    return [[order.index(model) + 1 for model in range(count)] for order in orders]


@settings(max_examples=150)
@given(SCORES, st.floats(0, 6))
def test_it_is_the_published_algorithm(rows, error):
    scores = np.array(rows, float)
    places, better = align(scores, error)
    assert places.tolist() == align_plainly(scores, better)


def test_models_that_are_not_apart_stand_alike_and_where_all_are_the_plain_rankings_stay():
    scores = np.array([[1.0, 9], [5, 5], [9, 1], [3, 3]])
    places, _ = align(scores, 100.0)
    assert places[0].tolist() == places[1].tolist()
    scores = np.array([[1.0, 9], [5, 5], [9, 1], [3, 2]])
    places, _ = align(scores, 1e-6)
    assert places.tolist() == rankdata(-scores.T, axis=1).astype(int).tolist()


def test_only_the_significant_change_is_left():
    """The last model is far ahead on one benchmark and far behind on the other; the rest is noise."""
    scores = np.array([[5.0, 6], [6, 5], [5.5, 5.6], [50, 0]])
    places, _ = align(scores, 2.0)
    assert places[:, 3].tolist() == [1, 4]
    assert (places[0, :3] - 1).tolist() == places[1, :3].tolist()
    assert share_crossings(places, np.arange(4)) == 0.5


def test_copies_of_a_model_are_not_compared():
    places = np.array([[1, 2, 3], [2, 1, 3]])
    assert share_crossings(places, np.array([0, 0, 1])) == 0
    assert share_crossings(places, np.array([0, 1, 2])) == 1 / 3
    assert np.isnan(share_crossings(places, np.array([4, 4, 4])))


def test_signs_become_a_matrix():
    better = spread_signs(order_pairs(np.array([[3.0], [1], [np.nan]]))[0], 3)
    assert better.tolist() == [[False, True, False], [False] * 3, [False] * 3]


def test_models_of_a_circle_are_found_and_no_others():
    better = np.zeros((6, 6), dtype=bool)
    for above, below in ((0, 1), (1, 2), (2, 3), (3, 1), (3, 4)):  # 0 > (1 > 2 > 3 > 1) > 4, and 5 alone
        better[above, below] = True
    assert find_circle(better).tolist() == [1, 2, 3]
    better[3, 1] = False
    assert find_circle(better).tolist() == []


def test_a_table_whose_paired_tests_go_in_a_circle_is_refused():
    signs = [1, -1, 0, 1, 0, 0]  # of ab, ac, ad, bc, bd, cd: a > b > c > a
    names = [Model(name, name) for name in "abcd"]
    table = ScoreTable(
        ("direct",), tuple(names), (Benchmark("law", "Law"), Benchmark("art", "Art")),
        np.array([[[4.0, 4], [3, 3], [2, 2], [1, 1]]]), np.full((1, 4, 2), np.nan),
        np.array([[signs, [0] * 6]], dtype=float),
    )  # fmt: skip
    resampled = ResampledScores(table, RankingSettings(summary=Summary(rounds=20)))
    with pytest.raises(InputError, match=r"law, direct: each of these .* another of them: a, b, c"):
        align_conditions(measure_tau_matrices(resampled), resampled)
