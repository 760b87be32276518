"""Densities of many subsets in one pass: those of each alone."""

import numpy as np
import pytest

from fathom.coverage.density import COLUMNS, TOLERANCE, measure_log_density
from fathom.coverage.expanded_corpus import measure_subsets


@pytest.mark.parametrize("threads", [1, 2])
def test_densities_of_subsets_are_those_of_each_alone(threads):
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(2 * COLUMNS + 300, 24)).astype(np.float32) * 3
    # subsets that begin and end anywhere, one longer than a tile, one of a single vector
    starts = np.array([0, 5, 6, 700, COLUMNS, COLUMNS + 9, 2 * COLUMNS + 90])
    points = vectors[::40]
    found = np.empty((len(starts), len(points)), dtype=np.float32)
    measure_subsets(points, vectors, starts, 2.0, found, threads=threads)
    for row, (start, end) in enumerate(zip(starts, [*starts[1:], len(vectors)], strict=True)):
        alone = measure_log_density(points, vectors[start:end], 2.0) + np.log(end - start)
        assert np.abs(found[row] - alone).max() < TOLERANCE
