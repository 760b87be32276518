"""Differences between models: paired, grouped by letters, and right as often as they say."""

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.programs import STATISTICS, run_program
from tests.scores import tabulate_scores
from tests.tables import read_delimited

from fathom.config.scoring import Summary
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import COMPARISONS, CORRELATIONS, GROUPS, SUMMARY
from fathom.io.delimited import write_rows
from fathom.io.tables import write_table
from fathom.statistics.aggregates import GEOMETRIC_MEAN, LEADING, TRIMMED_MEAN, Statistic
from fathom.statistics.bootstrap import Resampled, find_interval
from fathom.statistics.comparisons import (
    Difference,
    ResampledMetric,
    compare_models,
    group_models,
    resample_scores,
    tabulate_comparisons,
)
from fathom.statistics.metrics import RANK

SETTINGS = Summary(rounds=300)


def make_scores(shift: float = 0.0, seed: int = 0, keywords: int = 20, each: int = 10) -> pl.DataFrame:
    """Return scores whose keywords differ far more than models do; `seed` is that of a model's own noise."""
    shared, own = np.random.default_rng(99), np.random.default_rng(seed)
    base = shared.normal(100, 30, keywords).repeat(each) + shared.normal(0, 5, keywords * each)
    rank = base + own.normal(0, 1, keywords * each) + shift
    numbers = range(len(rank))
    pairs, names = [f"p{number:03d}" for number in numbers], [f"k{number // each:02d}" for number in numbers]
    return tabulate_scores(pairs, names, rank)


def resample(shifts: dict[str, float], **changes: int) -> list[ResampledMetric]:
    frames = {("a", "tf", name): make_scores(shift, seed, **changes)
              for seed, (name, shift) in enumerate(shifts.items())}  # fmt: skip
    return resample_scores(frames, SETTINGS)


def pick(found: list[ResampledMetric], metric: str, statistic: Statistic = LEADING) -> ResampledMetric:
    return next(each for each in found if (each.metric.name, each.aggregate) == (metric, statistic.name))


def test_models_whose_intervals_overlap_can_be_apart() -> None:
    rank = pick(resample({"good": 0.0, "bad": 3.0}), "rank")
    ends = {name: np.quantile(each.drawn, [0.025, 0.975]) for name, each in rank.models.items()}
    assert ends["good"][1] > ends["bad"][0], "the intervals of the models overlap"
    (found,) = compare_models(rank, SETTINGS)
    assert (found.better, found.worse, found.apart) == ("good", "bad", True)
    assert found.low < found.value < found.high and found.value == pytest.approx(3, abs=0.5)
    gap = rank.models["bad"] - rank.models["good"]
    assert found.p == gap.test() < 0.02, "no resample has the other sign"


def test_equal_models_are_not_apart() -> None:
    frame = make_scores()
    for each in resample_scores({("a", "tf", name): frame for name in "yx"}, SETTINGS):
        (found,) = compare_models(each, SETTINGS)
        assert (found.better, found.value, found.low, found.high) == ("x", 0.0, 0.0, 0.0)
        assert found.p == 1.0 and not found.apart


def test_models_can_be_apart_by_one_statistic_and_not_by_the_other() -> None:
    easy = np.tile(np.arange(10) < 2, 20)  # the lowest fifth of every keyword: a trimmed mean cuts it off
    hard = np.random.default_rng(0).normal(300, 30, 200)
    frames = {("a", "tf", name): make_scores().with_columns(rank=pl.Series(np.where(easy, rank, hard)))
              for name, rank in (("good", 2.0), ("bad", 50.0))}  # fmt: skip
    found = resample_scores(frames, SETTINGS)
    (trimmed,), (geometric,) = (
        compare_models(pick(found, "rank", each), SETTINGS) for each in (TRIMMED_MEAN, GEOMETRIC_MEAN)
    )
    assert (trimmed.value, trimmed.apart) == (0, False)
    assert (geometric.better, geometric.apart) == ("good", True)
    _, groups = tabulate_comparisons(found, SETTINGS)
    assert [(row[3], row[7]) for row in groups if row[2] == "rank"] == [
        ("trimmed_mean", "a"), ("trimmed_mean", "a"), ("geometric_mean", "a"), ("geometric_mean", "b"),
    ]  # fmt: skip


def test_models_are_compared_by_the_pairs_that_all_have_a_value_of() -> None:
    missing = np.arange(200) % 5 == 0
    shifts = {"good": 0.0, "bad": 3.0, "served": 9.0}
    frames = {("a", "tf", name): make_scores(shift, round(shift)) for name, shift in shifts.items()}
    frames["a", "tf", "bad"] = frames["a", "tf", "bad"].with_columns(
        rival_rank=pl.when(pl.Series(missing)).then(float("nan")).otherwise("rival_rank")
    )
    frames["a", "tf", "served"] = frames["a", "tf", "served"].with_columns(rival_rank=float("nan"))
    found = resample_scores(frames, SETTINGS)
    assert set(pick(found, "rank").models) == {"good", "bad", "served"}
    among = pick(found, "rival_rank")
    kept = {key: frame.filter(~pl.Series(missing)) for key, frame in frames.items() if key[2] != "served"}
    alone = pick(resample_scores(kept, SETTINGS), "rank")
    assert set(among.models) == {"good", "bad"}
    assert compare_models(among, SETTINGS) == compare_models(alone, SETTINGS)
    assert among.models["bad"].items == 160


def test_a_high_probability_is_better() -> None:
    probability = pick(resample({"good": 0.0, "bad": 9.0}), "probability")
    (found,) = compare_models(probability, SETTINGS)
    assert found.better == "good" and found.low > 0
    gap = probability.models["good"] - probability.models["bad"]
    assert found.value == pytest.approx(gap.value)
    assert (found.low, found.high) == find_interval(gap.drawn, 0.95, gap.freedom)


def test_one_pair_says_nothing() -> None:
    for each in resample({"good": 0.0, "bad": 9.0}, keywords=1, each=1):
        (found,) = compare_models(each, SETTINGS)
        assert np.isnan([found.low, found.high, found.p]).all() and not found.apart
    comparisons, _ = tabulate_comparisons(resample({"m": 0.0, "n": 9.0}, keywords=1, each=1), SETTINGS)
    assert comparisons[0][7:] == ("", "", "", "", "no", 1, "pairs")


@pytest.mark.parametrize("keyword", ["", "law"])
def test_without_two_keywords_a_model_ten_times_worse_is_apart(keyword: str) -> None:
    ranks = np.exp(np.random.default_rng(0).normal(4, 1, 2000))
    pairs = [f"p{number:04d}" for number in range(2000)]
    frames = {("a", "tf", name): tabulate_scores(pairs, [keyword] * 2000, times * ranks)
              for name, times in (("good", 1), ("bad", 10))}  # fmt: skip
    comparisons, groups = tabulate_comparisons(resample_scores(frames, SETTINGS), SETTINGS)
    assert [(row[4], row[11]) for row in comparisons if row[2] == "rank"] == [("good", "yes")] * 2
    assert all(0 < float(row[7]) < float(row[6]) < float(row[8]) for row in comparisons if row[2] == "rank")
    assert [(row[4], row[7]) for row in groups] == [("good", "a"), ("bad", "b")] * 5


def test_equal_models_come_out_apart_as_rarely_as_they_should() -> None:
    random, apart = np.random.default_rng(1), 0
    for _ in range(150):
        values = 50 + random.normal(0, 20, 25).repeat(8)
        frames = {}
        for name in "ab":
            effects = random.normal(0, 2, 25).repeat(8)
            rank = values + effects + random.normal(0, 2, 200)
            frames["d", "tf", name] = pl.DataFrame(
                {"pair_id": [f"{n:03d}" for n in range(200)], "keyword": [f"{n // 8}" for n in range(200)],
                 "rank": rank, "probability": rank, "rival_rank": rank}
            )  # fmt: skip
        settings = Summary(rounds=150)
        apart += compare_models(pick(resample_scores(frames, settings), "rank"), settings)[0].apart
    assert 1 <= apart <= 18


def test_equal_models_seldom_have_several_letters() -> None:
    random, several = np.random.default_rng(2), 0
    names = [f"m{number}" for number in range(7)]
    keywords = np.repeat(np.arange(30), 1 + random.multinomial(270, random.dirichlet(np.ones(30))))
    for seed in range(100):
        logs = random.normal(5, 0.8, (7, 30))[:, keywords] + random.normal(0, 1.3, (7, 300))
        frames = {("d", "tf", name): tabulate_scores([f"{n:03d}" for n in range(300)],
                                                     [f"k{code:02d}" for code in keywords], np.exp(each))
                  for name, each in zip(names, logs, strict=True)}  # fmt: skip
        settings = Summary(rounds=100, seed=seed)
        _, groups = tabulate_comparisons(resample_scores(frames, settings), settings)
        several += not set.intersection(
            *(set(row[7]) for row in groups if row[2:4] == ("rank", LEADING.name))
        )
    assert several <= 10


def test_models_that_differ_are_apart_among_many_others() -> None:
    shifts = {f"m{number}": 3.0 if number == 6 else 0.0 for number in range(7)}
    settings = Summary(rounds=1000)
    frames = {
        ("a", "tf", name): make_scores(shift, seed) for seed, (name, shift) in enumerate(shifts.items())
    }
    rank = pick(resample_scores(frames, settings), "rank")
    apart = [found for found in compare_models(rank, settings) if found.apart]
    assert [found.worse for found in apart] == ["m6"] * 6
    assert all(found.p < found.p_adjusted <= 0.05 or found.p == found.p_adjusted for found in apart)


def _difference(better: str, worse: str, apart: bool) -> Difference:
    return Difference(better, worse, 1.0, 0.5 if apart else -0.5, 2.0, 0.01 if apart else 0.5, 9, apart=apart)


@pytest.mark.parametrize(
    ("apart", "letters"),
    [
        ("", ["a", "a", "a", "a"]),
        ("01 02 03 12 13 23", ["a", "b", "c", "d"]),
        ("02 03 13", ["a", "ab", "bc", "c"]),
        ("02", ["a", "ab", "b", "ab"]),  # 3 is near both although 0 and 2, before it, are apart
        ("01 02 03", ["a", "b", "b", "b"]),
    ],
)
def test_letters(apart: str, letters: list[str]) -> None:
    pairs = [_difference(x, y, f"{x}{y}" in apart.split()) for x, y in combinations("0123", 2)]
    assert list(group_models("0123", pairs).items()) == list(zip("0123", letters, strict=True))


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n * n - 1)))))
def test_models_share_a_letter_if_and_only_if_they_are_not_apart(drawn: tuple[int, set[int]]) -> None:
    count, marks = drawn
    order = [f"m{number}" for number in range(count)]
    pairs = [_difference(order[i], order[j], i * count + j in marks)
             for i, j in combinations(range(count), 2)]  # fmt: skip
    letters = group_models(order, pairs)
    assert list(letters) == order and "a" in letters[order[0]]
    for pair in pairs:
        assert bool(set(letters[pair.better]) & set(letters[pair.worse])) != pair.apart
    assert group_models(order, reversed(pairs)) == letters


def test_more_groups_than_letters_have_numbers() -> None:
    order = [f"m{number:02d}" for number in range(60)]
    letters = group_models(order, [_difference(x, y, True) for x, y in combinations(order, 2)])
    assert letters["m25"] == "z" and letters["m26"] == "A" and letters["m52"] == "(53)"
    assert len(set(letters.values())) == 60


def test_twenty_models_are_compared_from_one_set_of_draws() -> None:
    names = [f"m{number:02d}" for number in range(20)]
    random = np.random.default_rng(0)
    models = {name: Resampled.join(100.0 + place, random.normal(100 + place, 1, 1000), 300)
              for place, name in enumerate(names)}  # fmt: skip
    each = ResampledMetric("a", "tf", RANK, "trimmed_mean", models, np.full((20, 20), 0.01), "keywords")
    comparisons, groups = tabulate_comparisons([each], Summary())
    assert len(comparisons) == 190 and [row[4] for row in groups] == names
    assert [row[5] for row in groups] == list(range(1, 21))
    assert comparisons == tabulate_comparisons([each], Summary())[0]


def test_the_program_writes_three_tables(tmp_path: Path) -> None:
    command: list[object] = []
    for number in range(4):
        for variant in ("tf", "tfidf"):
            path = tmp_path / f"m{number}.{variant}.parquet"
            write_table(path, make_scores(3.0 * number, 10 * number + len(variant)), SCORES)
            command += ["--scores", f"a/{variant}/m{number}={path}"]
    rows = [("a", variant, f"m{number}", "rank", "trimmed_mean", number + len(variant), 0, 9, 200)
            for number in range(4) for variant in ("tf", "tfidf")]  # fmt: skip
    write_rows(tmp_path / "summary.csv", rows, SUMMARY, SUMMARY.names[:-1])
    command += ["--summary", tmp_path / "summary.csv"]
    names = ("comparisons", "groups", "correlations")
    for name in names:
        command += [f"--{name}", tmp_path / f"{name}.csv"]
    done = run_program("compare_models", *command, "--settings", '{"rounds": 50}', imports=STATISTICS)
    assert "a, tf: 6 of 6 pairs of models differ significantly by geometric mean rank" in done.stderr
    comparisons, groups, correlations = (read_delimited(tmp_path / f"{name}.csv", ",") for name in names)
    assert [list(rows[0]) for rows in (comparisons, groups, correlations)] == [
        COMPARISONS.names, GROUPS.names, CORRELATIONS.names]  # fmt: skip
    assert len(comparisons) == 2 * 7 * 6 and len(groups) == 40 and len(correlations) == 3
    assert [row["groups"] for row in groups] == [*"abcd"] * 10
    assert [row["metric"] for row in groups[::4]] == ["bits", "rank", "rank", "rival_rank", "rival_rank"] * 2
    both = ["trimmed_mean", "geometric_mean"]
    assert [row["aggregate"] for row in groups[::4]] == ["mean", *both, *both] * 2
    assert correlations[0]["models"] == "4" and float(correlations[0]["value"]) == 1
