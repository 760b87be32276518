"""Scores of items: the exact test of signs, intervals near all right, and what equal models are called."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from fathom.config.scoring import Summary
from fathom.statistics.bootstrap import Resampled
from fathom.statistics.clusters import Clusters
from fathom.statistics.comparisons import Difference, compare_models
from fathom.statistics.item_scores import compare_items, compare_signs, estimate_mean, resample_items
from fathom.statistics.metrics import METRICS, Metric

ACCURACY = METRICS["acc"]
SETTINGS = Summary(rounds=200)


def compare(one: np.ndarray, other: np.ndarray, names: list[str] | None = None) -> Difference:
    clusters = Clusters("items", names or [str(place) for place in range(len(one))])
    (found,) = compare_models(
        resample_items("task", {"one": one, "other": other}, clusters, ACCURACY, SETTINGS), SETTINGS
    )
    return found


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (4, 0), (5, 0), (9, 3), (40, 22), (300, 350)])
def test_right_or_wrong_items_are_tested_as_by_mcnemar(first: int, second: int) -> None:
    one = np.array([1.0] * first + [0.0] * second + [1.0, 0.0])
    other = np.array([0.0] * first + [1.0] * second + [1.0, 0.0])
    wanted = binomtest(first, first + second).pvalue if first + second else 1.0
    found = compare_signs(np.stack([one, other]), np.arange(len(one)))
    assert found[0, 1] == found[1, 0] == pytest.approx(wanted, abs=1e-12)


def test_clusters_change_sign_as_a_whole() -> None:
    random = np.random.default_rng(1)
    values = random.integers(0, 3, (2, 24)) / 2  # two epochs, averaged
    clusters = np.repeat(np.arange(8), 3)
    gaps = np.bincount(clusters, values[0] - values[1])
    every = [abs(np.dot(signs, gaps)) >= abs(gaps.sum()) - 1e-9 for signs in product((-1, 1), repeat=8)]
    assert compare_signs(values, clusters)[0, 1] == pytest.approx(np.mean(every))


def test_scores_without_a_step_have_the_least_p_that_their_clusters_allow() -> None:
    values = np.stack([np.array([math.pi, math.e, 1.0, 5.0]), np.zeros(4)])
    assert compare_signs(values, np.arange(4))[0, 1] == 2.0**-3


def test_four_items_on_one_side_tell_nothing() -> None:
    one, other = np.ones(100), np.ones(100)
    other[:4] = 0
    assert not compare(one, other).apart
    other[:12] = 0
    found = compare(one, other)
    assert found.apart and found.better == "one" and found.value == pytest.approx(0.12)


@pytest.mark.parametrize(("wrong", "surely"), [(5, False), (12, True)])
def test_an_interval_holds_0_where_the_exact_test_finds_nothing(wrong: int, surely: bool) -> None:
    """Of five items on one side hardly a resample has none, but McNemar's p is 1 / 16."""
    values = {"one": np.ones(100), "other": np.where(np.arange(100) < wrong, 0.0, 1.0)}
    clusters = Clusters("items", [str(place) for place in range(100)])
    resampled = resample_items("task", values, clusters, ACCURACY, SETTINGS)
    (plain,) = compare_models(resampled, SETTINGS)
    signs = compare_signs(np.stack(list(values.values())), np.arange(100))
    ((found, exact),) = compare_items(resampled, signs, SETTINGS)
    assert exact == pytest.approx(2.0 ** (1 - wrong)) and found.p >= exact
    assert plain.low > 0 and (found.low > 0) == surely == (found.p <= 0.05)
    assert (found.value, found.high) == (plain.value, plain.high)


def test_equal_models_on_few_items_are_rarely_told_apart() -> None:
    random, found = np.random.default_rng(0), 0
    for _ in range(200):
        hard = random.random(30)
        one, other = ((hard + 0.5 * random.random(30) > 0.6).astype(float) for _ in range(2))
        found += compare(one, other).apart
    assert found <= 10


def test_items_of_a_cluster_count_once() -> None:
    one, other = np.tile([1.0, 0.0], 40), np.tile([0.0, 0.0], 40)
    assert compare(one, other).apart
    assert not compare(one, other, [str(place // 20) for place in range(80)]).apart


def test_all_right_is_not_certain() -> None:
    resampled = resample_items(
        "task", {"one": np.ones(20)}, Clusters("items", [str(n) for n in range(20)]), ACCURACY, SETTINGS
    )
    value, low, high = estimate_mean(resampled.models["one"], 20, ACCURACY, 0.95)
    assert (value, high) == (1.0, 1.0) and low == pytest.approx(20 / (20 + 1.959964**2), abs=1e-6)


def test_scores_of_other_scales_keep_their_interval() -> None:
    drawn = Resampled.join(3.0, np.linspace(2, 4, 100), 50)
    assert estimate_mean(drawn, 50, Metric("score", "score", most=math.inf), 0.95) == drawn.estimate(0.95)


@pytest.mark.parametrize("metric", [Metric("score", "score", least=-1.0), Metric("score", "score", most=0.5)])
def test_scores_whose_scale_has_another_end_keep_their_interval(metric: Metric) -> None:
    drawn = Resampled.join(0.2, np.linspace(0.1, 0.3, 100), 50)
    assert estimate_mean(drawn, 50, metric, 0.95) == drawn.estimate(0.95)


@pytest.mark.parametrize(("clusters", "items", "count"), [(10, 100, 25), (10, 20, 20), (50, 100, 50)])
def test_an_interval_is_wilsons_of_items_with_its_error(clusters: int, items: int, count: int) -> None:
    """The error is that of 25 independent items; there are never fewer than clusters, nor more than items."""
    drawn = np.full(200, 0.2)
    # beyond the ends of the percentile interval
    drawn[:8] += math.sqrt(0.2 * 0.8 / 25 * (clusters - 1) / clusters) * 5 * np.tile([-1.0, 1.0], 4)
    found = estimate_mean(Resampled.join(0.2, drawn, items), clusters, ACCURACY, 0.95)
    wanted = binomtest(count // 5, count).proportion_ci(0.95, "wilson")
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


@pytest.mark.parametrize(("parts", "exact"), [(64, True), (65, False)])
def test_signs_are_counted_up_to_64_parts_of_a_point(parts: int, exact: bool) -> None:
    gaps = np.array([5, -3, 1, -4, 2]) / parts
    found = compare_signs(np.stack([gaps.clip(0), (-gaps).clip(0)]), np.arange(5))[0, 1]
    assert found == (pytest.approx(1) if exact else 2.0**-4)
