"""Targets that a model predicts better: gains, scores, groups, their nearness to a phrase, and intervals."""

import math

import numpy as np
import polars as pl
import pytest
from perf.calibration.of_changes import simulate_gains
from scipy.stats import ttest_ind

from fathom.config.scoring import Summary, Targets
from fathom.errors import InputError
from fathom.statistics.bootstrap import draw_resamples, find_interval
from fathom.studies.target_changes import (
    compare_similarities,
    contrast_groups,
    join_pairs,
    list_extremes,
    score_targets,
)

SUMMARY = Summary(rounds=200)


def make_scores(ranks, probabilities) -> pl.DataFrame:
    names = [f"p{number}" for number in range(len(ranks))]
    return pl.DataFrame({"pair_id": names, "rank": ranks, "probability": probabilities})


def make_gains(gain: float, keywords: int = 12, targets: int = 16) -> tuple[pl.DataFrame, dict[str, float]]:
    """Return pairs of all keywords and targets; the gain is larger where the similarity is."""
    random = np.random.default_rng(0)
    near = {f"t{number:02d}": number / targets for number in range(targets)}
    rows = [
        {"keyword": f"k{keyword}", "target": target,
         "probability_gain": gain * cosine + random.normal(0, 0.3),
         "rank_gain": 100 * (gain * cosine + random.normal(0, 0.3))}
        for keyword in range(keywords)
        for target, cosine in near.items()
    ]  # fmt: skip
    return pl.DataFrame(rows), near


def test_the_score_is_that_of_the_formula():
    pairs = pl.DataFrame(
        {"pair_id": ["p0", "p1", "p2", "p3"], "keyword": ["a", "a", "b", "b"],
         "target": [" x", " y", " x", " z"]},
    )  # fmt: skip
    model = make_scores([10.0, 50.0, 20.0, 30.0], [0.5, 0.1, 0.3, 0.2])
    other = make_scores([40.0, 20.0, 30.0, 30.0], [0.1, 0.2, 0.3, 0.2])
    gains = join_pairs(model, other, pairs, "here")
    found = score_targets(gains, {"x": 0.9, "y": 0.1, "z": 0.5}, Targets(share=0.34))
    assert found["target"].to_list() == ["x", "z", "y"] and found["pairs"].to_list() == [2, 1, 1]
    probability, rank = np.array([0.2, 0.0, -0.1]), np.array([20.0, 0.0, -30.0])
    expected = (probability / probability.std() + rank / rank.std()) / 2 * np.log([3, 2, 2])
    assert found["score"].to_list() == pytest.approx(expected.tolist())
    assert found["similarity"].to_list() == [0.9, 0.5, 0.1]
    assert found["group"].to_list() == ["top", "middle", "bottom"]
    assert list(list_extremes(found, 5)) == [(1, "x", "y")]


def test_extremes_are_counted_from_either_end():
    targets = pl.DataFrame({"target": [*"abcdefg"]})
    assert list(list_extremes(targets, 2)) == [(1, "a", "g"), (2, "b", "f")]
    assert list(list_extremes(targets, 3)) == list(list_extremes(targets, 9))
    assert list(list_extremes(targets, 9))[-1] == (3, "c", "e")


def test_equal_scores_are_ordered_by_name_and_equal_similarities_have_no_effect_size():
    pairs, similarities = make_gains(0.0, targets=60)
    same = pairs.with_columns(probability_gain=pl.lit(0.1), rank_gain=pl.lit(3.0))
    found = score_targets(same, similarities, Targets())
    assert found["target"].to_list() == sorted(similarities)
    assert found["score"].to_list() == pytest.approx([(0.1 + 3) / 2 * math.log(1 + 12)] * 60)
    pairs, similarities = make_gains(1.0)
    value, *_ = contrast_groups(pairs, dict.fromkeys(similarities, 0.5), Targets(), SUMMARY)
    assert value[:3] == (0.5, 0.5, 0.0) and math.isnan(value.d)


def test_a_model_that_gained_on_near_targets_is_told_from_one_that_did_not():
    gained, similarities = make_gains(1.0)
    value, low, high = contrast_groups(gained, similarities, Targets(), SUMMARY)
    targets = score_targets(gained, similarities, Targets())
    top, bottom = (targets.filter(group=name)["similarity"].to_numpy() for name in ("top", "bottom"))
    assert value.difference == pytest.approx(top.mean() - bottom.mean())
    assert value.d == pytest.approx(value.difference / math.sqrt((top.var(ddof=1) + bottom.var(ddof=1)) / 2))
    assert 0 < low.d <= high.d and low.difference > 0.2
    assert compare_similarities(targets) == pytest.approx(tuple(ttest_ind(top, bottom)))
    unchanged, _ = make_gains(0.0)
    _, low, high = contrast_groups(unchanged, similarities, Targets(), SUMMARY)
    assert low.difference < 0 < high.difference


def test_the_interval_draws_keywords():
    """What one keyword alone says is not certain, however many targets it has."""
    gained, similarities = make_gains(1.0, keywords=1, targets=40)
    others, _ = make_gains(0.0, keywords=5, targets=40)
    pairs = pl.concat([gained, others.with_columns(pl.col("keyword").str.replace("k", "other"))])
    _, low, high = contrast_groups(pairs, similarities, Targets(), SUMMARY)
    whole, _ = make_gains(1.0, keywords=6, targets=40)
    _, whole_low, whole_high = contrast_groups(whole, similarities, Targets(), SUMMARY)
    assert high.difference - low.difference > 1.5 * (whole_high.difference - whole_low.difference)


@pytest.mark.parametrize("design", ["similarities", "signs"])
def test_where_similarity_says_nothing_few_intervals_leave_out_0(design):
    """At most five of 100 are expected; the bootstrap over keywords alone gives 10 and 13."""
    random, found = np.random.default_rng(1), 0
    for seed in range(100):
        pairs, near = simulate_gains(random, 40, design)
        _, low, high = contrast_groups(pairs, near, Targets(), Summary(rounds=60, seed=seed))
        found += low.difference > 0 or high.difference < 0
    assert found <= 7


def test_the_interval_is_the_wider_one_of_resamples_that_are_built():
    pairs, similarities = make_gains(0.3, keywords=5, targets=20)
    summary, names = Summary(rounds=30), list(similarities)

    def contrast(parts: list[pl.DataFrame], near: dict[str, float]) -> tuple[float, ...]:
        targets = score_targets(pl.concat(parts), near, Targets())
        top, bottom = (targets.filter(group=name)["similarity"].mean() for name in ("top", "bottom"))
        return top, bottom, top - bottom

    by_keyword = [
        contrast([pairs.filter(keyword=f"k{place}") for place, count in enumerate(counts)
                  for _ in range(count)], similarities)
        for counts in draw_resamples(5, summary)
    ]  # fmt: skip
    by_target = []
    for counts in draw_resamples(20, summary):
        copies = [(name, f"{name}.{copy}") for name, count in zip(names, counts, strict=True)
                  for copy in range(count)]  # fmt: skip
        parts = [pairs.filter(target=name).with_columns(target=pl.lit(copy)) for name, copy in copies]
        by_target.append(contrast(parts, {copy: similarities[name] for name, copy in copies}))
    ends = np.array(
        [find_interval(np.array(rows), 0.95, n - 1) for rows, n in ((by_target, 20), (by_keyword, 5))]
    )
    wider = ends[np.argmax(ends[:, 1] - ends[:, 0], axis=0), :, np.arange(3)].T
    _, low, high = contrast_groups(pairs, similarities, Targets(), summary)
    assert low[:3] == pytest.approx(tuple(wider[0])) and high[:3] == pytest.approx(tuple(wider[1]))


@pytest.mark.parametrize(("keywords", "share", "known"), [(3, 0.1, True), (4, 0.06, False)])
def test_an_interval_takes_enough_targets_in_most_resamples(keywords, share, known):
    """Of three keywords with ten targets each, two are enough for groups of two; of four, all are needed."""
    random = np.random.default_rng(0)
    rows = [
        {"keyword": f"k{number // 10}", "target": f"t{number}", "probability_gain": random.normal(),
         "rank_gain": random.normal()}
        for number in range(10 * keywords)
    ]  # fmt: skip
    similarities = {row["target"]: random.random() for row in rows}
    value, *ends = contrast_groups(pl.DataFrame(rows), similarities, Targets(share=share), SUMMARY)
    assert math.isfinite(value.d)
    assert [math.isfinite(end.d) for end in ends] == [known, known]


def test_too_few_targets_have_no_contrast():
    pairs, similarities = make_gains(1.0, targets=6)
    value, low, high = contrast_groups(pairs, similarities, Targets(), SUMMARY)
    assert all(math.isnan(number) for each in (value, low, high) for number in each)
    assert all(
        math.isnan(number) for number in compare_similarities(score_targets(pairs, similarities, Targets()))
    )


def test_scores_of_other_pairs_and_equal_models_are_refused():
    pairs = pl.DataFrame({"pair_id": ["p0", "p1"], "keyword": ["a", "b"], "target": [" x", " y"]})
    scores = make_scores([1.0, 2.0], [0.5, 0.4])
    with pytest.raises(InputError, match="no score differs"):
        join_pairs(scores, scores, pairs, "here")
    with pytest.raises(InputError, match="other pairs"):
        join_pairs(scores, make_scores([1.0], [0.5]), pairs, "here")
