"""The share of pairs that say the same."""

import numpy as np
import pytest

from fathom.coverage import density as redundancy
from fathom.coverage.density import measure_redundancy
from fathom.errors import InputError


def test_each_pair_counts_once_whatever_the_blocks_and_one_vector_has_none(monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(301, 8)).astype(np.float32)
    vectors[:40] += 2  # some near each other
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = (unit @ unit.T > 0.8)[np.triu_indices(301, 1)].mean()
    assert 0.01 < expected < 0.5
    assert measure_redundancy(vectors) == pytest.approx(expected)
    monkeypatch.setattr(redundancy, "_BLOCK", 64)
    assert measure_redundancy(vectors * 7, threads=2) == pytest.approx(expected)
    assert measure_redundancy(vectors, distance=2.1) == 1
    assert np.isnan(measure_redundancy(np.ones((1, 3))))
    with pytest.raises(InputError, match="has no direction"):
        measure_redundancy(np.zeros((2, 3)))
