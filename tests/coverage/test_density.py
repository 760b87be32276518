"""Densities in logarithms: those of double precision, in any number of threads, and what is refused."""

import numpy as np
import pytest
from scipy.special import logsumexp

from fathom.coverage import density
from fathom.coverage.density import (
    TOLERANCE,
    choose_bandwidth,
    correlate_densities,
    find_gaps,
    measure_log_density,
    measure_redundancy,
)
from fathom.errors import InputError

_DIMENSION = 96


def _draw(count: int, length: float = 1.0, seed: int = 0) -> np.ndarray:
    """Return vectors in a few clusters, far from the origin, of one length."""
    generator = np.random.default_rng(seed)
    clusters = generator.normal(size=(5, _DIMENSION)) + 1
    vectors = clusters[generator.integers(5, size=count)] + generator.normal(size=(count, _DIMENSION))
    return (length * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _compute_exactly(points: np.ndarray, centres: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return log-densities from differences in double precision, a point at a time."""
    squares = [np.sum((centres.astype(np.float64) - point) ** 2, axis=1)
               for point in points.astype(np.float64)]  # fmt: skip
    return logsumexp(-np.array(squares) / (2 * bandwidth**2), axis=1) - np.log(len(centres))


@pytest.mark.parametrize(
    ("length", "bandwidth"),
    [(20.0, 5.0), (1.0, 5.0), (1.0, 0.1), (20.0, 1.0), (300.0, 5.0), (1e4, 1.0), (1.0, 1e-3)],
)
def test_log_densities_are_those_of_double_precision(length, bandwidth):
    points, centres = _draw(120, length, 1), _draw(4500, length, 2)
    found = measure_log_density(points, centres, bandwidth)
    # plain densities underflow from about -745 on
    assert np.abs(found - _compute_exactly(points, centres, bandwidth)).max() < TOLERANCE
    assert np.isfinite(found).all()


def test_float32_is_used_where_it_is_close_enough_and_left_where_it_is_not(monkeypatch):
    points = _draw(300, 300.0)
    monkeypatch.setattr(density, "TOLERANCE", np.inf)
    coarse = measure_log_density(points, points, 1.0)
    assert np.abs(coarse - _compute_exactly(points, points, 1.0)).max() > TOLERANCE


def test_threads_tiles_and_files_change_no_bit_beyond_rounding(tmp_path, monkeypatch):
    monkeypatch.setattr(density, "_BLOCK", 600)  # several blocks, several tiles in each
    points, centres = _draw(1500, 20.0, 1), _draw(4500, 20.0, 2)
    np.save(tmp_path / "centres.npy", centres)
    mapped = np.load(tmp_path / "centres.npy", mmap_mode="r")
    first = measure_log_density(points, centres, 5.0)
    assert measure_log_density(points, mapped, 5.0, threads=3).tobytes() == first.tobytes()
    monkeypatch.undo()
    whole = measure_log_density(points, centres, 5.0)
    assert np.abs(whole - first).max() < TOLERANCE / 10


def test_one_centre_and_one_point():
    point, centre = np.array([[3.0, 4.0]]), np.zeros((1, 2))
    assert measure_log_density(point, centre, 1.0) == pytest.approx([-12.5])
    assert measure_log_density(centre, centre, 1.0).tolist() == [0.0]


@pytest.mark.parametrize(
    ("points", "centres", "bandwidth", "message"),
    [(np.ones((2, 3)), np.ones((2, 3)), 0.0, "the bandwidth is 0"),
     (np.ones((2, 3)), np.ones((2, 3)), -1.0, "the bandwidth is -1"),
     (np.ones((2, 3)), np.ones((2, 3)), float("nan"), "the bandwidth is nan"),
     (np.ones((0, 3)), np.ones((2, 3)), 1.0, "no embeddings"),
     (np.ones((2, 3)), np.ones((2, 4)), 1.0, "3 and of 4 dimensions"),
     (np.full((2, 3), np.nan), np.ones((2, 3)), 1.0, "not finite")],
)  # fmt: skip
def test_what_gives_no_density_is_refused(points, centres, bandwidth, message):
    with pytest.raises(InputError, match=message):
        measure_log_density(points, centres, bandwidth)


def test_scotts_rule():
    vectors = np.random.default_rng(0).normal(size=(5000, 6)) * 3
    assert choose_bandwidth(vectors) == pytest.approx(3 * 5000 ** (-1 / 10), rel=0.02)
    with pytest.raises(InputError, match="more embeddings than dimensions: 6 of 6"):
        choose_bandwidth(vectors[:6])
    with pytest.raises(InputError, match="all embeddings are the same"):
        choose_bandwidth(np.ones((50, 6), dtype=np.float32))


def test_gaps_are_where_the_space_is_denser():
    of_space, of_set = np.array([-1.0, -2.0, -3.0, -4.0]), np.array([-2.0, -2.0, -3.5, -1.0])
    assert find_gaps(of_space, of_set).tolist() == [True, False, True, False]
    assert find_gaps(of_space, of_set, 0.9).tolist() == [True, False, False, False]
    assert find_gaps(of_space, of_set, 1.0).sum() == 0
    with pytest.raises(InputError, match=r"t_d = 1.5 is not from 0 to 1"):
        find_gaps(of_space, of_set, 1.5)


def test_a_set_leaves_no_gap_in_itself_and_one_where_it_has_no_points():
    space = _draw(400, 20.0)
    whole = measure_log_density(space, space, 5.0)
    assert not find_gaps(whole, measure_log_density(space, space, 5.0)).any()
    half = space[space[:, 0] > np.median(space[:, 0])]
    gaps = find_gaps(whole, measure_log_density(space, half, 5.0))
    assert gaps[space[:, 0] < np.quantile(space[:, 0], 0.2)].mean() > 0.9


def test_correlation_is_that_of_densities_however_small():
    generator = np.random.default_rng(0)
    one, other = generator.normal(size=(2, 200))
    expected = np.corrcoef(np.exp(one), np.exp(other))[0, 1]
    assert correlate_densities(one - 2000, other - 900) == pytest.approx(expected)
    assert correlate_densities(one, one - 5) == pytest.approx(1)
    assert np.isnan(correlate_densities(one, np.zeros(200)))


def test_each_pair_counts_once_whatever_the_blocks_and_one_vector_has_none(monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(301, 8)).astype(np.float32)
    vectors[:40] += 2  # some near each other
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = (unit @ unit.T > 0.8)[np.triu_indices(301, 1)].mean()
    assert 0.01 < expected < 0.5
    assert measure_redundancy(vectors) == pytest.approx(expected)
    monkeypatch.setattr(density, "_PAIR_BLOCK", 64)
    assert measure_redundancy(vectors * 7, threads=2) == pytest.approx(expected)
    assert measure_redundancy(vectors, distance=2.1) == 1
    assert np.isnan(measure_redundancy(np.ones((1, 3))))
    with pytest.raises(InputError, match="has no direction"):
        measure_redundancy(np.zeros((2, 3)))
