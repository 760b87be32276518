"""Keywords grouped into sub-fields, and what models are strong in."""

import numpy as np
import pytest
from tests.explorer.runs import SETTINGS

from fathom.config.scoring import Summary
from fathom.explorer.subfields import Keywords, group_keywords, measure_strengths, sum_keywords


def test_keywords_are_grouped_by_meaning():
    random = np.random.default_rng(1)
    centres = np.eye(4)
    vectors = np.repeat(centres, 4, axis=0) + random.normal(0, 0.02, (16, 4))
    names = [f"{'abcd'[number // 4]}{number % 4}" for number in range(16)]
    labels, codes = group_keywords(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), names)
    assert len(labels) == 4
    assert [set(codes[start : start + 4].tolist()) for start in range(0, 16, 4)] == [{0}, {1}, {2}, {3}]
    assert all(
        {name[0] for name in label.split(", ")} == {"abcd"[place]} for place, label in enumerate(labels)
    )


def test_a_planted_strength_is_found_and_others_are_not():
    random = np.random.default_rng(2)
    keywords, each = 60, 20
    codes = [number % 3 for number in range(keywords)]
    means = (
        random.normal(3, 0.5, (keywords, 1))
        + np.array([[0.0, 1.0, 2.0]])
        + random.normal(0, 0.2, (keywords, 3))
    )
    means[np.array(codes) == 1, 0] -= np.log(2)  # the first model is twice as good there
    summed = Keywords([str(number) for number in range(keywords)], np.full(keywords, each), means * each)
    found = measure_strengths(summed, codes, SETTINGS)
    # the residual of a two-way table: two thirds of it stay with the model, two thirds of that with the group
    assert found.factor[1, 0] == pytest.approx(2 ** (4 / 9), rel=0.1)
    assert found.low[1, 0] > 1 and found.factor[0, 0] < 1
    assert ((found.low < found.factor) & (found.factor < found.high)).all()
    assert found.apart[1, 0]
    assert not measure_strengths(summed, codes, SETTINGS, benchmarks=1000).apart.any()


def test_nothing_is_called_strong_or_weak_where_models_are_equal():
    """Of 50 pages two or three are expected; by the intervals of single cells it is each of them."""
    random, named, alone = np.random.default_rng(0), 0, 0
    for seed in range(50):
        logs = random.normal(5, 1, (50, 1)) + random.normal(0, 0.7, (50, 7))
        summed = Keywords([str(number) for number in range(50)], np.ones(50, dtype=np.int64), logs)
        found = measure_strengths(
            summed, [number % 7 for number in range(50)], Summary(rounds=100, seed=seed)
        )
        named += bool(found.apart.any())
        alone += bool(((found.low > 1) | (found.high < 1)).any())
    assert named <= 5 and alone > 40


def test_a_sum_over_keywords_leaves_out_what_does_not_count(run):
    summed = sum_keywords(run.benchmarks[0])
    assert summed.pairs.sum() == 119 and summed.logs.shape == (12, 3)
