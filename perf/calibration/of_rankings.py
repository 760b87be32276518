"""Cases of rankings: tau, its change, components, perplexity, forecast."""

import math
from collections.abc import Iterator

import numpy as np
from perf.calibration.case import TEST, Case, Outcome, Shape, hold
from perf.calibration.of_statistics import Random, read

from fathom.config.ranking import Ranking, RankingSettings
from fathom.config.scoring import Summary
from fathom.io.contracts import ranking as contracts
from fathom.ranking.benchmark_agreement import (
    compare_corpora,
    forecast_change,
    measure_tau_matrices,
    summarize_benchmarks,
    tabulate_categories,
    tabulate_corpora,
    tabulate_means,
    tabulate_pairs,
)
from fathom.ranking.components import find_spectra, summarize_components, tabulate_first, tabulate_shares
from fathom.ranking.resampled_scores import ResampledScores, add_changes, tabulate_statistics
from fathom.ranking.table import Benchmark, Model, ScoreTable

BENCHMARKS = 6
PUBLISHED = 24
"""Benchmarks of the published table; it has 61 models."""
LOADING = 0.8
"""Correlation of a benchmark with what all measure: two of them correlate by its square."""
TAU = 2 / math.pi * math.asin(LOADING**2)


def draw_table(random: Random, models: int, change: float = 0.0, number: int = BENCHMARKS) -> ScoreTable:
    """Return two conditions of scores, of so many benchmarks in two categories and one corpus."""
    common = random.normal(size=(1, models, 1))
    noise = random.normal(size=(2, models, number + 1))
    loading = np.array([LOADING, LOADING + change])[:, None, None]
    scores = loading * common + np.sqrt(1 - loading**2) * noise
    benchmarks = [Benchmark(f"b{place}", f"b{place}", "one" if place % 2 else "two", metric="acc")
                  for place in range(number)]  # fmt: skip
    benchmarks.append(Benchmark("text", "text", corpus=True, metric="acc"))
    pairs = models * (models - 1) // 2
    errors = np.full(scores.shape, 0.2)
    paired = np.full((2, number + 1, pairs), np.nan)
    names = tuple(Model(f"m{place:03d}", f"m{place:03d}") for place in range(models))
    return ScoreTable(("direct", "tuned"), names, tuple(benchmarks), scores, errors, paired)


def rank(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether intervals over models hold tau over all models that there could be."""
    table = draw_table(random, shape.clusters)
    resampled = ResampledScores(table, RankingSettings(summary=settings))
    matrices = measure_tau_matrices(resampled)
    rows = tabulate_statistics(
        add_changes(summarize_benchmarks(matrices, resampled), table.conditions), resampled
    )
    for row in (dict(zip(contracts.AGREEMENT.names, each, strict=False)) for each in rows):
        if row["statistic"] == "mean_tau":
            change = row["condition"] != "direct" and row["condition"] != "tuned"
            if row["condition"] == "direct":
                yield hold("agreement.csv: mean tau", TAU, read(row["ci_low"], row["ci_high"]))
            elif change:
                ends = read(row["ci_low"], row["ci_high"])
                yield hold("agreement.csv: change of mean tau", 0.0, ends)
    row = dict(zip(contracts.PAIRWISE.names, tabulate_pairs(matrices, resampled)[0], strict=False))
    yield hold("pairwise.csv: tau", TAU, read(row["ci_low"], row["ci_high"]))
    row = dict(zip(contracts.PAIRWISE.names, tabulate_means(matrices, resampled)[0], strict=False))
    yield hold("means.csv: mean tau with all others", TAU, read(row["ci_low"], row["ci_high"]))
    row = dict(zip(contracts.CATEGORIES.names, tabulate_categories(matrices, resampled)[0], strict=False))
    yield hold("categories.csv: mean tau", TAU, read(row["ci_low"], row["ci_high"]))
    corpora = tabulate_corpora(compare_corpora(resampled), resampled)
    row = dict(zip(contracts.CORPUS_AGREEMENT.names, corpora[0], strict=False))
    yield hold("perplexity.csv: tau", TAU, read(row["ci_low"], row["ci_high"]))
    truth = (1 + (BENCHMARKS - 1) * LOADING**2) / BENCHMARKS
    spectra = find_spectra(resampled)
    row = dict(zip(contracts.COMPONENTS.names, tabulate_shares(spectra, resampled)[0], strict=False))
    yield hold("pca.csv: share of the first component", truth, read(row["ci_low"], row["ci_high"]))
    # over all models each score has mean 0 and deviation 1, and benchmarks have equal loadings
    own = table.scores[0, :, :BENCHMARKS].sum(axis=1) / math.sqrt(BENCHMARKS)
    for row in (dict(zip(contracts.FIRST_COMPONENT.names, each, strict=True))
                for each in tabulate_first(spectra, resampled)):  # fmt: skip
        if row["condition"] == "direct" and row["model"] == "m000":
            yield hold("pc1.csv: score of a model", float(own[0]), read(row["ci_low"], row["ci_high"]))


def decompose(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether intervals hold the share of the first component of as many benchmarks as are published."""
    table = draw_table(random, shape.clusters, number=PUBLISHED)
    resampled = ResampledScores(table, RankingSettings(summary=settings))
    found = summarize_components(find_spectra(resampled), resampled)
    rows = tabulate_statistics(add_changes(found, table.conditions), resampled)
    truths = {"direct": (1 + (PUBLISHED - 1) * LOADING**2) / PUBLISHED, "tuned - direct": 0.0}
    for row in (dict(zip(contracts.AGREEMENT.names, each, strict=True)) for each in rows):
        if row["statistic"] == "pc1_share" and row["condition"] in truths:
            what = f"{'share' if row['condition'] == 'direct' else 'change'} of the first component"
            yield hold(what, truths[row["condition"]], read(row["ci_low"], row["ci_high"]))


def forecast(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether samples of so many models change as forecast, and a change is found where there is none."""
    size = 10
    ranking = Ranking(forecast=[size])
    found = forecast_change(
        draw_table(random, shape.clusters), RankingSettings(summary=settings, ranking=ranking)
    )
    row = dict(zip(contracts.FORECAST.names, found[0], strict=False))
    fresh = forecast_change(draw_table(random, size), RankingSettings(summary=settings, ranking=Ranking()))
    change = read(dict(zip(contracts.FORECAST.names, fresh[0], strict=False))["change"])[0]
    yield hold(f"change of {size} other models", change, read(row["ci_low"], row["ci_high"]))
    whole = dict(zip(contracts.FORECAST.names, found[-1], strict=False))
    yield Outcome("all models, no change: significant", TEST, read(whole["significant"])[0] > 0)


_CI = "ci_low"
_MODELS = (Shape(7), Shape(20), Shape(50))
CASES = (
    Case("ranking/*.csv", tuple((contract, _CI) for contract in (
         contracts.AGREEMENT, contracts.PAIRWISE, contracts.CATEGORIES, contracts.CORPUS_AGREEMENT,
         contracts.COMPONENTS, contracts.FIRST_COMPONENT)), rank, "models", _MODELS, 0.3),
    Case("ranking/agreement.csv, 24 benchmarks", ((contracts.AGREEMENT, _CI), (contracts.COMPONENTS, _CI)),
         decompose, "models", (Shape(7), Shape(20), Shape(61))),
    Case("forecast.csv", ((contracts.FORECAST, _CI), (contracts.FORECAST, "significant")), forecast, "models",
         (Shape(20), Shape(50)), 0.1),
)  # fmt: skip
