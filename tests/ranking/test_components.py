"""Principal components of a table and of its resamples are scikit-learn's."""

import numpy as np
import pytest
from perf.calibration.of_rankings import LOADING, draw_table
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from fathom.config.ranking import RankingSettings
from fathom.config.scoring import Summary
from fathom.ranking.components import correlate_weighted, find_components, find_spectra, summarize_components
from fathom.ranking.resampled_scores import ResampledScores, add_changes, tabulate_statistics
from fathom.statistics.correlations import draw_models


def scores(models: int = 20, benchmarks: int = 7) -> np.ndarray:
    random = np.random.default_rng(5)
    ability = random.normal(size=(models, 1))
    return 100 + 3 * ability * random.random(benchmarks) + random.normal(size=(models, benchmarks))


def test_shares_and_scores_are_scikit_learns_for_the_table_and_each_resample():
    table = scores()
    counts = draw_models(np.ones(20, bool), Summary(rounds=6))
    found = find_components(table, counts, 5)
    for row, count in enumerate(counts):
        drawn = np.repeat(table, count.astype(int), axis=0)
        scaler, expected = StandardScaler().fit(drawn), PCA(5)
        expected.fit(scaler.transform(drawn))
        np.testing.assert_allclose(found.shares[row], expected.explained_variance_ratio_, atol=1e-10)
        first = scaler.transform(table) @ expected.components_[0]
        first *= np.sign(expected.components_[0].sum())
        np.testing.assert_allclose(found.scores[row], first, atol=1e-8)


def test_rounds_in_parts_are_the_same_as_at_once(monkeypatch):
    counts = draw_models(np.ones(20, bool), Summary(rounds=30))
    at_once = find_components(scores(), counts, 5)
    monkeypatch.setattr("fathom.ranking.components._CELLS", 200)
    in_parts = find_components(scores(), counts, 5)
    np.testing.assert_allclose(in_parts.shares, at_once.shares, atol=1e-12)


def test_a_constant_column_is_left_out_and_few_benchmarks_have_fewer_components():
    table = scores()
    flat = np.insert(table, 2, 0.1 + 0.2, axis=1)
    found, expected = (find_components(some, np.ones((1, 20)), 5) for some in (flat, table))
    assert found.benchmarks.tolist() == [True, True, False, *[True] * 5]
    np.testing.assert_allclose(found.shares, expected.shares, atol=1e-12)
    nothing = find_components(np.ones((4, 3)), np.ones((2, 4)), 5)
    assert np.isnan(nothing.shares).all() and nothing.shares.shape == (2, 5)
    found = find_components(scores(benchmarks=2), np.ones((1, 20)), 5)
    assert np.isnan(found.shares[0]).tolist() == [False, False, True, True, True]
    assert found.shares[0, :2].sum() == pytest.approx(1)


def test_one_factor_is_rank_one_and_points_to_the_better_models():
    ability = np.arange(10.0)
    found = find_components(np.outer(ability, [1, 5, 0.1]) - 3, np.ones((1, 10)), 3)
    assert found.shares[0, 0] == pytest.approx(1)
    assert (np.diff(found.scores[0]) > 0).all()


def test_a_resample_of_one_model_explains_nothing():
    counts = np.zeros((1, 20))
    counts[0, 3] = 20
    assert np.isnan(find_components(scores(), counts, 5).shares).all()


def test_intervals_of_the_first_component_hold_its_share_and_its_change():
    held, truth = np.zeros(2), (1 + 5 * LOADING**2) / 6
    for trial in range(300):
        table = draw_table(np.random.default_rng([7, trial]), 10)
        resampled = ResampledScores(table, RankingSettings(summary=Summary(rounds=40, seed=trial)))
        found = summarize_components(find_spectra(resampled), resampled)
        rows = tabulate_statistics(add_changes(found, table.conditions), resampled)
        ends = {row[0]: (float(row[3]), float(row[4])) for row in rows if row[1] == "pc1_share"}
        for place, (name, value) in enumerate({"direct": truth, "tuned - direct": 0.0}.items()):
            held[place] += ends[name][0] <= value <= ends[name][1]
    assert (held >= 275).all() and (held <= 297).all(), held


def test_correlation_counts_drawn_models_only():
    first = np.array([[1.0, 2, 4, 100], [1, 2, 4, 100]])
    second = np.array([1.0, 3, 2, -5])
    counts = np.array([[1.0, 2, 1, 0], [1, 1, 0, 0]])
    found = correlate_weighted(first, second, counts)
    assert found[0] == pytest.approx(np.corrcoef([1, 2, 2, 4], [1, 3, 3, 2])[0, 1])
    assert np.isnan(found[1])
