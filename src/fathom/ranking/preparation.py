"""How much preparation is enough: agreement after fewer training examples and fewer epochs."""

from collections.abc import Mapping
from typing import Any

from fathom.config.ranking import RankingSettings
from fathom.config.tuning import WHOLE, Preparation, TrainBeforeTest
from fathom.ranking.benchmark_agreement import measure_tau_matrices, summarize_benchmarks
from fathom.ranking.resampled_scores import PLAIN, ResampledScores
from fathom.ranking.table import Benchmark, Model, ScoreTable, check_size
from fathom.statistics.metrics import METRICS

DIRECT = "direct"
"""Name of no preparation at all."""

Reports = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""Reports of tunings by preparation, model and task."""


class PreparationSettings(RankingSettings):
    """Settings of the comparison of preparations."""

    train_before_test: TrainBeforeTest


def compare_preparations(reports: Reports, settings: PreparationSettings) -> list[tuple[Any, ...]]:
    """Return the rows of preparation.csv: mean tau of two benchmarks after each preparation.

    Returns
    -------
    list of tuples
        Under PREPARATION: mean tau, its change from no preparation, and what it lacks of the whole
        preparation's, with intervals over models from the same resamples.
    """
    resampled = ResampledScores(_make_table(reports, settings.train_before_test), settings)
    statistics = summarize_benchmarks(measure_tau_matrices(resampled), resampled)
    means = {each.condition: each for each in statistics if each.name == f"mean_{PLAIN}"}
    section = settings.train_before_test
    known = {each.name: each for each in section.preparations} | {
        DIRECT: Preparation(examples=None), WHOLE: Preparation(epochs=section.lora.epochs)}  # fmt: skip
    rows = []
    for name, mean in means.items():
        examples = 0 if name == DIRECT else known[name].examples or ""
        epochs = 0 if name == DIRECT else known[name].epochs or section.lora.epochs
        parts = (mean, mean.change_from(means[DIRECT]), means[WHOLE].change_from(mean))
        numbers = [
            (*resampled.format(part.values, part.least, part.most), part.count_pairs()) for part in parts
        ]
        rows.append((name, examples, epochs, *(text for each in numbers for text in each)))
    return rows


def _make_table(reports: Reports, section: TrainBeforeTest) -> ScoreTable:
    """Return direct scores, and those after each preparation, as conditions of a table."""
    import numpy as np

    models = list(dict.fromkeys(model for _, model, _ in reports))
    preparations = [*(each.name for each in section.preparations), WHOLE]
    scores = [[[reports[WHOLE, model, task]["direct"] for task in section.tasks] for model in models]]
    scores += [
        [[reports[name, model, task]["chosen"] for task in section.tasks] for model in models]
        for name in preparations
    ]
    benchmarks = [
        Benchmark(name, name, task.category, task.kind == "text", METRICS[task.scored_by].low_is_best)
        for name, task in section.tasks.items()
    ]
    pairs = len(models) * (len(models) - 1) // 2
    table = ScoreTable(
        (DIRECT, *preparations),
        tuple(Model(name, name) for name in models),
        tuple(benchmarks),
        np.array(scores, dtype=np.float64),
        np.full(np.shape(scores), np.nan),
        np.full((len(scores), len(benchmarks), pairs), np.nan),
    )
    check_size(table, "train_before_test")
    return table
