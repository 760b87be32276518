"""A corpus takes up what it does not hold yet, and stops by itself."""

import numpy as np
import pytest

from fathom.coverage.density import find_gaps
from fathom.coverage.expanded_corpus import Expansion

_POINTS = np.linspace(0, 1, 200)
_NONE = np.full(len(_POINTS), -1)
"""Points that belong to no subset."""


def _bump(place: float, width: float = 0.02) -> np.ndarray:
    return (-((_POINTS - place) ** 2) / (2 * width**2)).astype(np.float32)


def _expand(*places: float, most: float = 0.05) -> Expansion:
    densities = np.array([_bump(place) for place in places])
    expansion = Expansion(densities, np.ones(len(places), dtype=np.int64), _NONE, most)
    while not expansion.is_finished:
        expansion.run_round()
    return expansion


def test_what_is_held_already_does_not_join():
    expansion = _expand(0.1, 0.101, 0.5, 0.102, 0.9, 0.501)
    assert expansion.joined.tolist() == [1, 0, 1, 0, 1, 0]
    assert np.isnan(expansion.correlations[0]) and 0.4 < expansion.correlations[1] < 0.7
    first, last = expansion.rounds[0].report, expansion.rounds[-1].report
    assert (first["joined"], first["left"], first["size"]) == (3, 3, 3)
    assert last["joined"] == 0 and len(expansion.rounds) == 2


def test_what_was_refused_can_join_a_corpus_that_has_grown():
    # alone, the first bump is like the second; among others its place counts for less
    expansion = _expand(0.1, 0.13, 0.3, 0.5, 0.7, 0.9, most=0.35)
    assert expansion.joined[1] == 2


def test_a_corpus_without_gaps_is_finished_though_more_could_join():
    expansion = _expand(0.3, 0.7, most=1.0)
    assert not expansion.gaps.any()
    assert expansion.joined.tolist() == [1, 1] and len(expansion.rounds) == 1
    assert expansion.rounds[0].report["coverage"] == 1


def test_gaps_are_those_of_the_densities():
    expansion = _expand(0.1, 0.11, 0.6, 0.9, most=-1.0)
    assert expansion.joined.tolist() == [1, 0, 0, 0]
    every = np.logaddexp.reduce([_bump(place) for place in (0.1, 0.11, 0.6, 0.9)]) - np.log(4)
    assert (expansion.gaps == find_gaps(every, _bump(0.1))).all()
    assert 0 < expansion.gaps.mean() < 1


def test_a_subset_is_not_compared_at_points_of_its_own():
    densities = np.array([_bump(0.3), _bump(0.31)])
    own = np.where(np.abs(_POINTS - 0.9) < 0.01, 1, -1)
    densities[1, own == 1] = 2.0  # a peak at its own points
    joined = []
    for owners in (_NONE, own, np.ones(len(_POINTS))):
        expansion = Expansion(densities, np.ones(2, dtype=np.int64), owners, 0.7)
        found = expansion.run_round().subsets
        joined.append(found["joined"][1])
    assert joined == [True, False, False]
    assert np.isnan(found["correlation"][1])  # all points are its own


def test_rounds_can_be_repeated_from_their_tables_but_only_in_order():
    done = _expand(0.1, 0.13, 0.3, 0.5, 0.7, 0.9, most=0.35)
    places = np.array([_bump(place) for place in (0.1, 0.13, 0.3, 0.5, 0.7, 0.9)])
    again = Expansion(places, np.ones(6, dtype=np.int64), _NONE, 0.35)
    with pytest.raises(ValueError, match="does not follow"):
        again.repeat(done.rounds[1].subsets)
    for each in done.rounds:
        again.repeat(each.subsets)
    assert again.is_finished and again.of_corpus.tobytes() == done.of_corpus.tobytes()
    assert [each.report for each in again.rounds] == [each.report for each in done.rounds]
