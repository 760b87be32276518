"""The coverage of a finished corpus is measured where no document was compared."""

import numpy as np
import polars as pl
import pytest
from tests.coverage.conftest import SETTINGS

from fathom.coverage.expanded_corpus import HeldOut
from fathom.coverage.sets import Space, read_space


def test_sentences_that_are_held_out_are_no_points(project, slices):
    few = SETTINGS.model_copy(update={"points": 30})
    space = read_space(slices, project.index, "d", few)
    found = HeldOut(space, 3.0)
    assert found.report == {"sentences": 30, "points": 0}
    assert not set(found.rows) & set(space.points) and (np.diff(found.rows) > 0).all()


@pytest.mark.parametrize("points", [100, 155])
def test_points_are_drawn_only_when_nothing_else_is_left(project, slices, points):
    space = read_space(slices, project.index, "d", SETTINGS.model_copy(update={"points": points}))
    others = len(space.vectors) - points
    found = HeldOut(space, 3.0)
    assert found.report == {"sentences": points, "points": points - others}
    assert set(range(len(space.vectors))) - set(space.points) <= set(found.rows)


def test_coverage_is_the_share_where_the_corpus_is_as_dense():
    # two places far apart, one with three sentences; the corpus holds the other
    places = np.array([0.0, 0.1, 0.2, 50.0])
    sentences = pl.DataFrame({"doc_id": list("abcd"), "position": [0] * 4})
    space = Space(sentences, np.stack([places, 0 * places], axis=1).astype(np.float32), np.arange(4), {})
    found = HeldOut(space, 1.0)
    assert found.report == {"sentences": 4, "points": 4}
    assert found.measure_coverage(np.array([False, False, False, True])) == 0.25
    assert found.measure_coverage(np.array([True, True, True, False])) == 0.75
    assert found.measure_coverage(np.ones(4, dtype=bool)) == 1.0
