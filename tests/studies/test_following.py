"""Metrics over a training: values, intervals over keywords and seeds, and what is refused."""

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import t
from tests.programs import run_program
from tests.refusals import refuses
from tests.scores import tabulate_scores
from tests.tables import read_delimited

from fathom.config.models import Point
from fathom.config.scoring import Summary
from fathom.io.contracts.scoring import ATTRIBUTE_RATES, PERPLEXITY, SCORES
from fathom.io.contracts.studies import CHECKPOINTS, FOLLOWING
from fathom.io.tables import read_table, write_table
from fathom.models.loading import Pointer
from fathom.statistics.aggregates import STATISTICS
from fathom.statistics.bootstrap import Resampled, find_interval
from fathom.statistics.summaries import summarize_values
from fathom.studies.following import (
    DRAWN,
    add_noise,
    average_seeds,
    follow_tracks,
    list_checkpoints,
    measure_noise,
    measure_pairs,
    measure_rates,
    measure_texts,
    take_stand_ins,
)

SETTINGS = Summary(rounds=200)
KEYWORDS = [f"k{number % 8}" for number in range(40)]


def make_scores(seed: int, factor: float = 1.0) -> pl.DataFrame:
    """Return 40 pairs of 8 keywords under contract SCORES."""
    random = np.random.default_rng(seed)
    ranks = np.exp(random.normal(3, 1, 40)) * factor + 1
    return tabulate_scores([f"p{number:02d}" for number in range(40)], KEYWORDS, ranks)


def make_points(seed: str, *models: str) -> list[Point]:
    return [Point(model=model, seed=seed, stage=min(place, 1), step=10 * place, tokens=100 * place)
            for place, model in enumerate(models)]  # fmt: skip


def select(rows, **wanted):
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


@pytest.fixture(scope="module")
def measured():
    scores = {("near", "tf", name): make_scores(number, 1 / number) for number, name in enumerate("abc", 1)}
    return measure_pairs(scores, SETTINGS, DRAWN)


def test_one_seed_has_the_numbers_of_the_summary(measured):
    rows = follow_tracks({"t": make_points("0", "a", "b")}, measured, SETTINGS)
    (row,) = select(rows, model="b", metric="rank", aggregate="trimmed_mean")
    scores = make_scores(2, 1 / 2)
    expected = summarize_values(scores["rank"].to_numpy(), KEYWORDS, SETTINGS)["trimmed_mean"]
    assert (row["value"], row["ci_low"], row["ci_high"]) == pytest.approx(expected)
    assert (row["step"], row["tokens"], row["seed"], row["items"]) == (10, 100, "0", 40)
    (row,) = select(rows, model="b", metric="rank", aggregate="geometric_mean")
    assert row["value"] == pytest.approx(np.exp(np.log(scores["rank"].to_numpy()).mean()))
    (row,) = select(rows, model="b", metric="log_probability")
    assert row["value"] == pytest.approx(scores["log_probability"].mean())
    assert {row["aggregate"] for row in select(rows, metric="probability")} == {*STATISTICS}
    (row,) = select(rows, model="b", metric="probability", aggregate="median")
    assert row["value"] == pytest.approx(scores["probability"].median())
    assert {row["seed"] for row in rows} == {"0"}


def test_several_seeds_have_a_mean_whose_interval_counts_them_too(measured):
    tracks = {"t": [*make_points("0", "a", "b"), *make_points("1", "a", "c")]}
    rows = select(follow_tracks(tracks, measured, SETTINGS), metric="rank", aggregate="trimmed_mean")
    first, second = (select(rows, model=name, seed=seed)[0] for name, seed in (("b", "0"), ("c", "1")))
    (mean,) = select(rows, seed="all", step=10)
    assert mean["value"] == pytest.approx((first["value"] + second["value"]) / 2)
    # the seeds differ more than keywords do: the interval reaches both
    assert mean["ci_low"] < min(first["value"], second["value"])
    assert mean["ci_high"] > max(first["value"], second["value"])
    base, alone = select(rows, seed="all", step=0)[0], select(rows, seed="0", step=0)[0]
    assert all(base[key] == alone[key] for key in ("value", "ci_low", "ci_high"))


def test_seeds_are_drawn_with_the_same_keywords():
    drawn = np.arange(2000.0)
    series = {"b": Resampled.join(99.0, drawn, 5), "c": Resampled.join(101.0, drawn, 5)}
    tracks = {"t": [*make_points("0", "b"), *make_points("1", "c")]}
    rows = follow_tracks(tracks, {("d", "tf", "rank", "mean"): series}, Summary(rounds=2000))
    (mean,) = select(rows, seed="all")
    expected = (100.0, *find_interval(drawn, 0.95, math.inf))
    assert (mean["value"], mean["ci_low"], mean["ci_high"]) == pytest.approx(expected)


def test_few_seeds_have_the_errors_of_students_t():
    """Bootstrapped seeds are too sure: of five, normal and equal, 15 % of means leave out the truth."""
    settings, inside = Summary(rounds=400), 0
    for number in range(200):
        values = 100 + np.random.default_rng(number).normal(size=5)
        series = [Resampled.join(value, np.full(400, value)) for value in values]
        found = average_seeds(series, settings)
        low, high = t.interval(0.95, 4, values.mean(), values.std(ddof=1) / math.sqrt(5))
        estimate = found.estimate(0.95)
        assert found.value == pytest.approx(values.mean()) and found.seeds == 5
        assert estimate.high - estimate.low == pytest.approx(high - low, rel=0.35)
        inside += estimate.low <= 100 <= estimate.high
    assert 183 <= inside <= 197


def test_what_keywords_explain_is_no_error_of_seeds():
    random = np.random.default_rng(0)
    drawn = 100 + random.normal(size=(5, 400))
    alike = [Resampled.join(100 + own, row) for own, row in zip(random.normal(0, 0.3, 5), drawn, strict=True)]
    found = average_seeds(alike, Summary(rounds=400))
    assert np.array_equal(found.drawn, np.mean([each.drawn for each in alike], axis=0))


def test_a_model_that_was_not_measured_is_named(measured):
    with refuses("z "):
        follow_tracks({"t": make_points("0", "a", "z")}, measured, SETTINGS)


def test_text_and_keywords_are_followed_too():
    texts = pl.DataFrame({"doc_id": ["x", "y"], "tokens": [10, 30], "bytes": [40, 100], "nats": [20.0, 90.0],
                          "tokens_left_out": [0, 0], "bytes_left_out": [0, 0],
                          "tokens_overlap": [0, 0], "bytes_overlap": [0, 0],
                          "nats_overlap": [0.0] * 2})  # fmt: skip
    found = measure_texts({("near", "a"): texts}, SETTINGS)
    assert found["near", "text", "perplexity", "mean"]["a"].value == pytest.approx(np.exp(110 / 40))
    assert found["near", "text", "bits_per_byte", "mean"]["a"].items == 2
    empty = texts.with_columns(tokens=pl.lit(0), bytes=pl.lit(0), nats=pl.lit(0.0))
    assert measure_texts({("near", "a"): empty}, SETTINGS) == {}
    rates = pl.DataFrame({"keyword": ["k", "l"], "rate": [0.2, 0.4], "hits": [1, 2], "list_length": [5, 5]})
    found = measure_rates({("near", "a"): rates}, SETTINGS)
    assert found["near", "keywords", "attribute_rate", "mean"]["a"].value == pytest.approx(0.3)


def test_a_stand_in_has_its_own_tokens_and_is_measured_once():
    points = [Point(model=name, tokens=tokens) for name, tokens in (("a", 1), ("b", 2), ("c", 3), ("d", 4))]
    pointers = {
        "a": Pointer("a", Path(), stand_in="b", stand_in_tokens=2),  # b is followed itself
        "b": Pointer("b", Path()),
        "c": Pointer("c", Path(), stand_in="e", stand_in_tokens=5),
        "d": Pointer("d", Path(), stand_in="e", stand_in_tokens=5),
    }
    found = take_stand_ins({"t": points}, pointers)["t"]
    assert [(point.model, point.stand_in, point.tokens) for point in found] == [("b", "", 2), ("c", "e", 5)]


@pytest.mark.parametrize(("revision", "stage", "step"), [
    ("stage1-step150-tokens1B", 1, 150), ("stage2-ingredient3-step11931-tokens50B", 2, 11931),
    ("step1000", 0, 1000), ("7df9a82518afdecae4e8c026b27adccc8c1f0032", 0, 0), ("", 0, 0),
])  # fmt: skip
def test_stage_and_step_of_others_checkpoints_are_those_of_their_revisions(revision, stage, step):
    others = [Point(model="x", tokens=9, revision=revision, stand_in="y")]
    own = [Point(model="a+b", seed="0", stage=1, domain="b", step=20, tokens=8)]
    assert list_checkpoints({"t": others, "a+b": own}) == [
        ("t", "x", "y", revision, stage, "", step, 9), ("a+b", "a+b", "", "", 1, "b", 20, 8),
    ]  # fmt: skip
    assert len(CHECKPOINTS.names) == 8


def test_the_base_of_several_seeds_is_listed_once():
    seeds = [
        point
        for seed, end in (("0", "a+b"), ("1", "a+b@seed1"))
        for point in (Point(model="a", seed=seed), Point(model=end, seed=seed, stage=1, domain="b", step=20))
    ]
    assert [row[1] for row in list_checkpoints({"a+b": seeds})] == ["a", "a+b", "a+b@seed1"]


def test_the_program_writes_the_table(tmp_path):
    options = []
    for number, name in enumerate(("a", "a+x@step5", "a+x"), 1):
        write_table(tmp_path / f"{name}.parquet", make_scores(number), SCORES)
        options += ["--scores", f"near/tf/{name}={tmp_path / name}.parquet"]
    rates = pl.DataFrame({"keyword": ["k"], "rate": [0.5], "hits": [1], "list_length": [2]},
                         schema_overrides={"hits": pl.Int32, "list_length": pl.Int32})  # fmt: skip
    texts = pl.DataFrame({"doc_id": ["x"], "tokens": [10], "bytes": [40], "nats": [20.0],
                          "tokens_left_out": [0], "bytes_left_out": [0],
                          "tokens_overlap": [0], "bytes_overlap": [0], "nats_overlap": [0.0]})  # fmt: skip
    for name in ("a", "a+x@step5", "a+x"):
        write_table(tmp_path / f"{name}.rates", rates, ATTRIBUTE_RATES)
        write_table(tmp_path / f"{name}.texts", texts, PERPLEXITY)
        options += ["--attribute-rates", f"near/{name}={tmp_path / name}.rates"]
        options += ["--perplexity", f"near/{name}={tmp_path / name}.texts"]
    points = [point.model_dump() for point in make_points("0", "a", "a+x@step5", "a+x")]
    values = json.dumps({"summary": {"rounds": 50}, "tracks": {"a+x": points}})
    files = ("--checkpoints", tmp_path / "c.csv", "--table")
    run_program("follow_models", *options, "--settings", values, *files, tmp_path / "f.parquet")
    points = [list(row.values()) for row in read_delimited(tmp_path / "c.csv", ",", CHECKPOINTS.names)]
    models = [("a", "0", "0", "0"), ("a+x@step5", "1", "10", "100"), ("a+x", "1", "20", "200")]
    assert points == [["a+x", model, "", "", stage, "", *seen] for model, stage, *seen in models]
    table = read_table(tmp_path / "f.parquet", FOLLOWING)
    assert table["model"].unique().sort().to_list() == ["a", "a+x", "a+x@step5"]
    metrics = {"bits", "rank", "probability", "log_probability", "rival_rank", "perplexity", "bits_per_byte",
               "attribute_rate"}  # fmt: skip
    assert set(table["metric"]) == metrics and set(table["track"]) == {"a+x"}
    write_table(tmp_path / "bad.parquet", make_scores(9)[:30], SCORES)
    wrong = [*options, "--scores", f"near/tf/b={tmp_path / 'bad.parquet'}"]
    with refuses("were scored on different pairs"):
        run_program("follow_models", *wrong, "--settings", values, *files, tmp_path / "g.parquet")
    assert not (tmp_path / "g.parquet").exists()


def test_the_noise_of_a_step_is_what_a_straight_line_leaves():
    times, random = np.arange(5.0) * 25, np.random.default_rng(0)
    assert measure_noise(times, 3 + 0.1 * times) == pytest.approx(0, abs=1e-9)
    found = [measure_noise(times, 0.1 * times + random.normal(0, 2, 5)) for _ in range(4000)]
    assert np.mean(found) == pytest.approx(2, rel=0.03)
    assert math.isnan(measure_noise(times[:2], np.zeros(2))) and math.isnan(
        measure_noise(np.zeros(5), np.arange(5.0))
    )


def test_noise_is_that_of_a_stage_and_of_each_seed():
    values = [0.0, 10, 20, 30, 40, 39, 38, 37.5, 36]  # the trend turns where the second stage begins
    same = {"track": "t", "domain": "d", "variant": "tf", "metric": "rank", "aggregate": "mean", "tokens": 0}
    rows = [{**same, "seed": seed, "stage": min(2, (place + 3) // 4), "step": place,
             "value": value * (seed == "0")}
            for place, value in enumerate(values) for seed in ("0", "1")]  # fmt: skip
    first, second = (select(add_noise(rows), seed=seed) for seed in ("0", "1"))
    noise = [row["noise"] for row in first]
    assert np.isnan(noise[:2]).all() and noise[4] == pytest.approx(0, abs=1e-9)
    assert math.isnan(noise[5]) and noise[6] == pytest.approx(0, abs=1e-9) and 0.1 < noise[8] < 1
    assert first[8]["signal_to_noise"] == pytest.approx(36 / noise[8])
    assert {row["noise"] for row in second[2:5]} == {0.0} and math.isnan(second[4]["signal_to_noise"])
