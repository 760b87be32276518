"""Benchmarks that the paper leaves out, what preparation brings, how many models a comparison needs."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import kendalltau
from tests.programs import find_program
from tests.tables import read_delimited

from fathom.config.ranking import Ranking, RankingSettings
from fathom.config.scoring import Summary
from fathom.config.tuning import Lora, Preparation, Task, TrainBeforeTest
from fathom.io.contracts.ranking import PREPARATION, SELECTION
from fathom.io.delimited import read_rows, write_rows
from fathom.io.files import write_json
from fathom.ranking import benchmark_agreement
from fathom.ranking.benchmark_agreement import (
    PreparationSettings,
    compare_preparations,
    forecast_change,
    measure_tau_matrices,
    select_benchmarks,
    summarize_benchmarks,
)
from fathom.ranking.resampled_scores import ResampledScores, add_changes
from fathom.ranking.table import Benchmark, Model, ScoreTable

BEFORE = np.arange(10.0)  # ten models, of which each is better than the one before
BENCHMARKS = {
    "good": (BEFORE, BEFORE + 1, 5000),
    "reported": (BEFORE, BEFORE + 1, None),
    "fair": (BEFORE, np.where(BEFORE < 2, BEFORE, BEFORE + 1), 1000),  # two of ten: 20 %, not more
    "stubborn": (BEFORE, np.where(BEFORE < 3, BEFORE, BEFORE + 1), 5000),
    "small": (BEFORE, BEFORE + 1, 999),
    "opposite": (-BEFORE, BEFORE, 5000),
}


def select(conditions=("direct", "tuned"), flipped=()):
    names = list(BENCHMARKS)
    scores = np.array([[BENCHMARKS[name][place] for name in names] for place in range(len(conditions))])
    signs = np.array([-1.0 if name in flipped else 1.0 for name in names])
    shape = (len(conditions), len(BEFORE), len(names))
    table = ScoreTable(
        tuple(conditions),
        tuple(Model(f"m{number}", f"m{number}") for number in range(len(BEFORE))),
        tuple(Benchmark(name, name, lower_is_better=name in flipped, training_examples=BENCHMARKS[name][2])
              for name in names),
        scores.transpose(0, 2, 1) * signs,
        np.full(shape, math.nan),
        np.full((shape[0], shape[2], len(BEFORE) * (len(BEFORE) - 1) // 2), math.nan),
    )  # fmt: skip
    resampled = ResampledScores(table, RankingSettings(summary=Summary(rounds=10)))
    rows = select_benchmarks(table, measure_tau_matrices(resampled))
    return {row[0]: dict(zip(SELECTION.names, row, strict=True)) for row in rows}, rows


def test_each_rule_leaves_out_what_breaks_it():
    found, _ = select()
    assert {name: row["left_out_for"] for name, row in found.items()} == {
        "good": "", "reported": "", "fair": "", "stubborn": "not better after tuning",
        "small": "few training examples", "opposite": "against the others",
    }  # fmt: skip
    assert found["stubborn"]["unimproved"] == 3 and found["stubborn"]["models"] == 10
    assert found["opposite"]["opposed"] == found["opposite"]["others"] == 5
    assert found["good"]["opposed"] == 1


def test_a_low_score_may_be_good():
    assert select(flipped=["good", "stubborn"])[0] == select()[0]


def test_with_one_condition_nothing_is_said_of_improvement(tmp_path):
    found, rows = select(["direct"])
    assert {row["unimproved"] for row in found.values()} == {None}
    assert found["stubborn"]["left_out_for"] == "" and found["opposite"]["left_out_for"]
    write_rows(tmp_path / "selection.csv", rows, SELECTION)
    assert [row["benchmark"] for row in read_rows(tmp_path / "selection.csv", SELECTION)] == list(BENCHMARKS)


MODELS, TASKS = 12, 4
PREPARATIONS = [{"examples": 10}, {"examples": 100}, {"epochs": 1}]
NOISE = {"direct": 1.0, "10-examples": 0.5, "100-examples": 0.15, "1-epochs": 0.4, "whole": 0.1}


def make_settings() -> PreparationSettings:
    section = TrainBeforeTest(
        tasks={f"t{place}": Task(kind="choice", domain="x") for place in range(TASKS)},
        lora=Lora(epochs=5),
        preparations=PREPARATIONS,
    )
    return PreparationSettings(train_before_test=section, summary=Summary(rounds=50))


def make_reports() -> dict[tuple[str, str, str], dict[str, float]]:
    """Return reports in which a model's score is its quality and the noise of its preparation."""
    random = np.random.default_rng(11)
    noise = random.normal(size=(MODELS, TASKS)).tolist()
    return {
        (name, f"m{model}", f"t{task}"): {"direct": model / MODELS + NOISE["direct"] * noise[model][task],
                                          "chosen": model / MODELS + NOISE[name] * noise[model][task]}
        for name in NOISE
        if name != "direct"
        for model in range(MODELS)
        for task in range(TASKS)
    }  # fmt: skip


def test_more_preparation_gives_more_agreement():
    reports = make_reports()
    rows = {row[0]: dict(zip(PREPARATION.names, row, strict=True))
            for row in compare_preparations(reports, make_settings())}  # fmt: skip
    assert list(rows) == ["direct", "10-examples", "100-examples", "1-epochs", "whole"]
    assert [(row["examples"], row["epochs"]) for row in rows.values()] == [
        (0, 0), (10, 5), (100, 5), ("", 1), ("", 5)]  # fmt: skip
    means = {name: float(row["mean_tau"]) for name, row in rows.items()}
    assert means["direct"] < means["10-examples"] < means["100-examples"] <= means["whole"]
    scores = np.array(
        [[reports["whole", f"m{m}", f"t{t}"]["chosen"] for t in range(TASKS)] for m in range(MODELS)]
    )
    expected = [kendalltau(scores[:, a], scores[:, b]).statistic for a in range(TASKS) for b in range(a)]
    assert means["whole"] == pytest.approx(np.mean(expected), rel=1e-5)
    assert float(rows["10-examples"]["change"]) == pytest.approx(
        means["10-examples"] - means["direct"], abs=1e-5
    )
    assert float(rows["10-examples"]["missing"]) == pytest.approx(
        means["whole"] - means["10-examples"], abs=1e-5
    )
    assert {float(rows["whole"][key]) for key in ("missing", "missing_low", "missing_high")} == {0.0}


def test_the_program_reads_the_reports_of_tunings(tmp_path):
    command = [sys.executable, find_program("compare_preparations"), "--table", tmp_path / "p.csv",
               "--reports"]  # fmt: skip
    for number, (places, report) in enumerate(make_reports().items()):
        write_json(tmp_path / f"{number}.json", report)
        command.append(f"{'/'.join(places)}={tmp_path / str(number)}.json")
    command += ["--settings", make_settings().model_dump_json()]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    assert len(read_delimited(tmp_path / "p.csv", ",")) == 5


def test_preparations_have_names_of_their_own():
    assert Preparation(examples=10, epochs=2).name == "10-examples-2-epochs"
    for wrong, message in (([{}], "each needs examples or epochs"),
                           ([{"epochs": 1}] * 2, "1-epochs is listed twice")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            TrainBeforeTest.model_validate(json.loads(json.dumps({"preparations": wrong})))


def make_table(noise: tuple[float, float], models: int = 24, benchmarks: int = 8) -> ScoreTable:
    """Return a table of two conditions: scores are a model's quality and noise, so much in each."""
    random = np.random.default_rng(7)
    quality = np.arange(models)[None, :, None] / models
    scores = quality + random.normal(size=(2, models, benchmarks)) * np.array(noise)[:, None, None]
    return ScoreTable(
        ("direct", "after"),
        tuple(Model(f"m{place}", f"m{place}") for place in range(models)),
        tuple(Benchmark(f"b{place}", f"b{place}") for place in range(benchmarks)),
        scores,
        np.full(scores.shape, np.nan),
        np.full((2, benchmarks, models * (models - 1) // 2), np.nan),
    )


def make_forecast_settings(*sizes: int) -> RankingSettings:
    return RankingSettings(ranking=Ranking(forecast=list(sizes)), summary=Summary(rounds=50))


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    monkeypatch.setattr(benchmark_agreement, "SUBSETS", 20)
    monkeypatch.setattr(benchmark_agreement, "ROUNDS", 60)


def test_a_planted_change_is_found_with_enough_models():
    rows = forecast_change(make_table((1.0, 0.1)), make_forecast_settings(4, 16))
    assert [(row[0], row[1], row[-2]) for row in rows] == [
        ("after - direct", 4, 20), ("after - direct", 16, 20), ("after - direct", 24, 1)]  # fmt: skip
    assert {float(row[-1]) for row in rows} == {8 * 7 / 2}
    few, many, whole = (float(row[6]) for row in rows)
    assert few < many
    assert (many, whole) == (1, 1)
    widths = [float(row[5]) for row in rows]
    assert widths == sorted(widths, reverse=True)


def test_where_nothing_changes_hardly_any_sample_finds_a_change():
    (row, whole) = forecast_change(make_table((0.5, 0.5)), make_forecast_settings(12))
    assert float(row[6]) <= 0.25
    assert float(row[3]) < 0 < float(row[4])
    assert float(whole[6]) == 0


def test_the_whole_table_has_the_change_of_the_agreement(caplog):
    table, settings = make_table((1.0, 0.3)), make_forecast_settings(30)
    with caplog.at_level("INFO", logger="fathom"):
        (row,) = forecast_change(table, settings)
    assert "the table has 24 models; no forecast for 30" in caplog.text
    resampled = ResampledScores(table, settings)
    statistics = add_changes(
        summarize_benchmarks(measure_tau_matrices(resampled), resampled), table.conditions
    )
    change = next(s.values[0] for s in statistics if (s.condition, s.name) == ("after - direct", "mean_tau"))
    assert float(row[2]) == pytest.approx(change, rel=1e-5)
    assert row == forecast_change(table, settings)[0]


def test_a_benchmark_without_a_tau_in_one_condition_changes_nothing():
    """Two equal benchmarks stay as they are; the third, opposite before, is all ties after."""
    table = make_table((0.0, 0.0), benchmarks=3)
    table.scores[0, :, 2] *= -1
    table.scores[1, :, 2] = 0.5
    resampled = ResampledScores(table, make_forecast_settings())
    found = add_changes(summarize_benchmarks(measure_tau_matrices(resampled), resampled), table.conditions)
    change = next(s for s in found if (s.condition, s.name) == ("after - direct", "mean_tau"))
    assert (change.values == 0).all() and change.count_pairs() == 1
    assert forecast_change(table, make_forecast_settings())[0][2:5] == ("0", "0", "0")
