"""An order of texts that fills the largest gap first."""

import numpy as np
import pytest

from fathom.coverage.compact import measure_kernels, order_by_gaps
from fathom.coverage.density import measure_log_density
from fathom.errors import InputError


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    """Sixty texts on one topic, fifteen on each of two others."""
    random = np.random.default_rng(0)
    centres = 8 * np.eye(3, 6)
    return (np.repeat(centres, [60, 15, 15], axis=0) + random.normal(0, 1, (90, 6))).astype(np.float32)


def order(vectors: np.ndarray) -> np.ndarray:
    kernels = measure_kernels(vectors, 2.0)
    return order_by_gaps(np.logaddexp.reduce(kernels, axis=0), lambda number: kernels[number])


def test_kernels_are_those_of_the_density(vectors: np.ndarray) -> None:
    kernels = measure_kernels(vectors, 2.0)
    density = measure_log_density(vectors, vectors, 2.0)
    own = np.logaddexp.reduce(kernels, axis=0)
    # the density is divided by the number of texts
    np.testing.assert_allclose(own - own[0], density - density[0], atol=1e-3)


def test_each_next_text_fills_the_largest_gap(vectors: np.ndarray) -> None:
    kernels, found = measure_kernels(vectors, 2.0), order(vectors)
    assert sorted(found) == list(range(90))
    density = np.logaddexp.reduce(kernels, axis=0)
    assert found[0] == np.argmax(density)
    for size in (1, 5, 40):
        taken, left = found[:size], np.setdiff1d(np.arange(90), found[:size])
        gaps = density - np.logaddexp.reduce(kernels[taken], axis=0)
        assert gaps[found[size]] == gaps[left].max()


def test_a_small_part_holds_something_of_each_topic_in_proportion(vectors: np.ndarray) -> None:
    topics = np.repeat([0, 1, 2], [60, 15, 15])
    assert set(topics[order(vectors)[:3]]) == {0, 1, 2}
    counts = np.bincount(topics[order(vectors)[:30]])
    assert counts[0] > counts[1:].max() and counts.min() >= 4


def test_what_cannot_be_ordered_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to order"):
        order_by_gaps(np.array([]), lambda number: np.array([]))
    with pytest.raises(InputError, match="not finite"):
        order_by_gaps(np.array([0.0, np.nan]), lambda number: np.zeros(2))
