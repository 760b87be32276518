"""Keywords grouped into sub-fields, and what models are strong in."""

import numpy as np
import pytest
from tests.explorer.runs import SETTINGS

from fathom.config.scoring import Summary
from fathom.explorer.subfields import (
    Keywords,
    describe_keywords,
    group_keywords,
    measure_strengths,
    sum_keywords,
)
from fathom.statistics.metrics import BITS


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
    assert found.gain[1, 0] == pytest.approx(2 ** (4 / 9), rel=0.1)
    assert found.low[1, 0] > 1 and found.gain[0, 0] < 1
    assert ((found.low < found.gain) & (found.gain < found.high)).all()
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
    assert summed.pairs.sum() == 119 and summed.losses.shape == (12, 3)


def test_knowledge_is_summed_in_bits_and_a_strength_is_a_difference():
    bits = np.tile([[3.0, 2.0, 1.0]], (40, 1))
    codes = [number % 2 for number in range(40)]
    bits[np.array(codes) == 1, 0] += 0.9
    bits += np.random.default_rng(0).normal(0, 0.05, bits.shape)
    summed = Keywords([str(number) for number in range(40)], np.full(40, 5), -bits * 5, BITS, list("abc"))
    assert summed.values == pytest.approx(bits)
    found = measure_strengths(summed, codes, SETTINGS)
    # half of it stays with the group, two thirds of that with the model
    assert found.gain[:, 0] == pytest.approx([-0.3, 0.3], abs=0.05) and found.apart[1, 0]
    assert found.value[1] == pytest.approx([3.9, 2.0, 1.0], abs=0.05)
    places = dict(zip(summed.names, codes, strict=True))
    told = describe_keywords(summed, (["one", "other"], places), SETTINGS)
    assert told["models"] == ["a", "b", "c"] and told["subfields"][1][1][0] == pytest.approx(3.9, abs=0.05)


def test_keywords_of_knowledge_are_those_of_models_that_have_bits(run):
    benchmark = run.benchmarks[0]
    known = sum_keywords(benchmark, BITS)
    values, pairs = benchmark.select_values(BITS)
    assert list(known.models) == list(values) and known.pairs.sum() == len(pairs)
    assert known.losses.sum() == pytest.approx(-sum(each.sum() for each in values.values()))
