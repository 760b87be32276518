"""Bits per byte of models on few files: Student's t over files, by ratios of sums."""

import math

import numpy as np
import pytest
from scipy import stats

from fathom.statistics.comparisons import compare_bits_per_byte

SIZES = np.full(6, 100)
FIRST = np.array([150.0, 161.0, 148.0, 155.0, 170.0, 141.0])
SECOND = FIRST + np.array([3.0, 5.0, 1.0, 4.0, 2.0, 6.0])
NAMES = [f"{number}.txt" for number in range(6)]


def test_files_of_one_length_have_the_t_interval_and_test_of_their_means():
    found = compare_bits_per_byte({"b": SECOND, "a": FIRST}, SIZES, NAMES, 0.95)
    expected = stats.ttest_1samp(FIRST / 100, 0).confidence_interval()
    assert found.models["a"] == pytest.approx((1.541666667, expected.low, expected.high))
    paired = stats.ttest_rel(SECOND / 100, FIRST / 100)
    (one,) = found.differences
    assert (one.better, one.worse, one.pairs, found.order) == ("a", "b", 6, ["a", "b"])
    assert (one.low, one.high) == pytest.approx((paired.confidence_interval().low,
                                                 paired.confidence_interval().high))  # fmt: skip
    assert one.p == pytest.approx(paired.pvalue) and one.apart and found.letters == {"a": "a", "b": "b"}


@pytest.mark.parametrize("seed", range(5))
def test_of_two_models_letters_and_the_interval_say_the_same(seed):
    random = np.random.default_rng(seed)
    sizes = np.exp(random.normal(6, 1, 5)).astype(np.int64)
    bits = {name: sizes * random.normal(mean, 0.1, 5) for name, mean in (("a", 1.5), ("b", 1.7))}
    found = compare_bits_per_byte(bits, sizes, NAMES[:5], 0.95)
    (one,) = found.differences
    assert one.apart == (one.low > 0) == (one.p <= 0.05) == (len(set(found.letters.values())) == 2)


def test_a_long_file_leaves_fewer_degrees_of_freedom():
    bits, sizes = FIRST.copy(), SIZES.copy()
    equal = compare_bits_per_byte({"a": bits}, sizes, NAMES, 0.95).models["a"]
    bits[0], sizes[0] = 20 * bits[0], 20 * sizes[0]
    long = compare_bits_per_byte({"a": bits}, sizes, NAMES, 0.95).models["a"]
    assert long.high - long.low > 2 * (equal.high - equal.low)
    assert long.low >= 0


def test_what_is_the_same_in_all_files_has_an_interval_of_no_width():
    found = compare_bits_per_byte({"a": 1.5 * SIZES, "b": 1.75 * SIZES, "c": 1.5 * SIZES}, SIZES, NAMES, 0.95)
    assert found.models["b"] == (1.75, 1.75, 1.75)
    assert {(each.worse, each.value, each.apart) for each in found.differences if each.better == "a"} == {
        ("b", 0.25, True),
        ("c", 0.0, False),
    }


def test_a_single_document_has_no_interval_and_says_nothing_of_models():
    bits = {"a": FIRST[:1], "b": SECOND[:1]}
    found = compare_bits_per_byte(bits, SIZES[:1], NAMES[:1], 0.95)
    (one,) = found.differences
    assert math.isnan(found.models["a"].low) and math.isnan(one.p) and not one.apart
    assert set(found.letters.values()) == {"a"}


def test_sections_of_a_file_count_together_unless_there_is_no_other():
    bits = {"a": np.repeat(FIRST, 2) / 2}
    halves = np.repeat(SIZES, 2) // 2
    by_file = compare_bits_per_byte(bits, halves, np.repeat(NAMES, 2).tolist(), 0.95)
    assert by_file.models == compare_bits_per_byte({"a": FIRST}, SIZES, NAMES, 0.95).models
    assert (by_file.clusters, compare_bits_per_byte(bits, halves, ["x"] * 12, 0.95).clusters) == (6, 12)
