"""The forecast: planted changes are found, more often with more models."""

import numpy as np
import pytest

from fathom.config.ranking import Ranking, RankingSettings
from fathom.config.scoring import Summary
from fathom.ranking import benchmark_agreement as forecast
from fathom.ranking.benchmark_agreement import forecast_change, measure_tau_matrices, summarize_benchmarks
from fathom.ranking.resampled_scores import ResampledScores, add_changes
from fathom.ranking.table import Benchmark, Model, ScoreTable


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


def make_settings(*sizes: int) -> RankingSettings:
    return RankingSettings(ranking=Ranking(forecast=list(sizes)), summary=Summary(rounds=50))


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    monkeypatch.setattr(forecast, "SUBSETS", 20)
    monkeypatch.setattr(forecast, "ROUNDS", 60)


def test_a_planted_change_is_found_with_enough_models():
    rows = forecast_change(make_table((1.0, 0.1)), make_settings(4, 16))
    assert [(row[0], row[1], row[-2]) for row in rows] == [
        ("after - direct", 4, 20), ("after - direct", 16, 20), ("after - direct", 24, 1)]  # fmt: skip
    assert {float(row[-1]) for row in rows} == {8 * 7 / 2}
    few, many, whole = (float(row[6]) for row in rows)
    assert few < many
    assert (many, whole) == (1, 1)
    widths = [float(row[5]) for row in rows]
    assert widths == sorted(widths, reverse=True)


def test_where_nothing_changes_hardly_any_sample_finds_a_change():
    (row, whole) = forecast_change(make_table((0.5, 0.5)), make_settings(12))
    assert float(row[6]) <= 0.25
    assert float(row[3]) < 0 < float(row[4])
    assert float(whole[6]) == 0


def test_the_whole_table_has_the_change_of_the_agreement(caplog):
    table, settings = make_table((1.0, 0.3)), make_settings(30)
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
    resampled = ResampledScores(table, make_settings())
    found = add_changes(summarize_benchmarks(measure_tau_matrices(resampled), resampled), table.conditions)
    change = next(s for s in found if (s.condition, s.name) == ("after - direct", "mean_tau"))
    assert (change.values == 0).all() and change.count_pairs() == 1
    assert forecast_change(table, make_settings())[0][2:5] == ("0", "0", "0")
