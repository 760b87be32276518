"""Agreement of benchmarks: in pairs, each with the others, by category, and with perplexity.

Also selects benchmarks to compare: with enough training data, better after tuning, not against all others.
Source: [TrainBeforeTest, Secs. 3.1 to 3.3, Apps. A.1, C.2].
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathom.config.ranking import RankingSettings
from fathom.config.tuning import WHOLE, Preparation, TrainBeforeTest
from fathom.jobs.program import log, show_progress
from fathom.ranking.resampled_scores import (
    ALL,
    KINDS,
    PLAIN,
    ResampledScores,
    Statistic,
    name_change,
    name_transfer,
)
from fathom.ranking.table import FEWEST_MODELS, Benchmark, Model, ScoreTable, check_size
from fathom.statistics.bootstrap import Estimate
from fathom.statistics.correlations import (
    average,
    draw_models,
    estimate_over_models,
    measure_tau,
    pick_pairs,
    share_improved,
    weigh_pairs,
)
from fathom.statistics.metrics import METRICS
from fathom.statistics.significance import order_pairs
from fathom.statistics.summaries import format_number

Array = NDArray[np.float64]


OTHERS = "others"
Row = tuple[Any, ...]


@dataclass(frozen=True)
class TauMatrices:
    """Tau of all pairs of benchmarks, corpora included, in one condition under one test.

    `values` have shape (1 + n_rounds, n_benchmarks, n_benchmarks), the table itself first.
    """

    condition: str
    statistic: str
    values: Array


def measure_tau_matrices(resampled: ResampledScores) -> list[TauMatrices]:
    """Return tau of all pairs of benchmarks, in each condition, under each test that the table allows."""
    weights = resampled.weigh_pairs()
    return [
        TauMatrices(condition, name, measure_tau(signs[place], signs[place], weights))
        for name, signs in resampled.signs.items()
        for place, condition in enumerate(resampled.table.conditions)
    ]


def tabulate_pairs(matrices: list[TauMatrices], resampled: ResampledScores) -> list[Row]:
    """Return the rows of pairwise.csv: all pairs of benchmarks."""
    table, rows = resampled.table, []
    for matrix in matrices:
        known = ~np.isnan(table.scores[table.conditions.index(matrix.condition)])
        for first, second in combinations(range(len(table.benchmarks)), 2):
            values = matrix.values[:, first, second]
            if np.isnan(values[0]) and matrix.statistic != PLAIN:
                continue  # a corpus has no standard errors
            names = (table.benchmarks[first].name, table.benchmarks[second].name)
            models = int((known[:, first] & known[:, second]).sum())
            rows.append((matrix.condition, matrix.statistic, *names, *resampled.format(values), models))
    return rows


def tabulate_means(matrices: list[TauMatrices], resampled: ResampledScores) -> list[Row]:
    """Return the rows of means.csv: each benchmark's mean tau with all others; log those below 0."""
    table, rows = resampled.table, []
    downstream = table.downstream
    for matrix in matrices:
        against = []
        for column in downstream:
            others = [other for other in downstream if other != column]
            values = average(matrix.values[:, column][:, others])
            signs = resampled.signs[matrix.statistic][table.conditions.index(matrix.condition), column]
            if np.isnan(signs).all() and matrix.statistic != PLAIN:
                continue  # no difference was tested
            known = len(table.models)
            name = table.benchmarks[column].name
            rows.append((matrix.condition, matrix.statistic, name, OTHERS, *resampled.format(values), known))
            against += [name] if values[0] < 0 else []
        if against and matrix.statistic == PLAIN:
            log.info(
                "%s: %s rank models against the other benchmarks: is a low score good there? "
                "(ranking.benchmarks.%s.lower_is_better)",
                matrix.condition, ", ".join(against), against[0],
            )  # fmt: skip
    return rows


def tabulate_categories(matrices: list[TauMatrices], resampled: ResampledScores) -> list[Row]:
    """Return the rows of categories.csv: mean tau over benchmark pairs, for each pair of categories."""
    rows: list[Row] = []
    members: dict[str, list[int]] = {}
    for column in resampled.table.downstream:
        if category := resampled.table.benchmarks[column].category:
            members.setdefault(category, []).append(column)
    for matrix in matrices:
        for first, second in combinations_with_replacement(members, 2):
            across = product(members[first], members[second])
            pairs = list(combinations(members[first], 2) if first == second else across)
            if pairs:
                names = (matrix.condition, matrix.statistic, first, second)
                values = average(matrix.values[:, [a for a, _ in pairs], [b for _, b in pairs]])
                rows.append((*names, *resampled.format(values), len(pairs)))
    return rows


def summarize_benchmarks(matrices: list[TauMatrices], resampled: ResampledScores) -> list[Statistic]:
    """Return mean tau, within and between categories, and the share of benchmark pairs that improve."""
    found: list[Statistic] = []
    downstream = resampled.table.downstream
    over_pairs = {}
    for matrix in matrices:
        pairs = pick_pairs(matrix.values[:, downstream][:, :, downstream])
        over_pairs[matrix.condition, matrix.statistic] = pairs
        found.append(Statistic.average(matrix.condition, f"mean_{matrix.statistic}", pairs))
        found.extend(_split_by_category(matrix, pairs, resampled))
    first, *others = resampled.table.conditions
    for other in others:
        for name in resampled.signs:
            parts = over_pairs[other, name] - over_pairs[first, name]
            values = share_improved(over_pairs[first, name], over_pairs[other, name])
            values[1:] = np.nan  # no interval holds: the share of few models is far below that of many
            found.append(Statistic(name_change(first, other), f"share_improved_{name}", values, parts, 0.0))
    return found


def _split_by_category(matrix: TauMatrices, pairs: Array, resampled: ResampledScores) -> Iterator[Statistic]:
    """Yield mean tau within and between categories, if there are pairs of both kinds."""
    names = [resampled.table.benchmarks[column].category for column in resampled.table.downstream]
    same = np.array([a == b != "" for a, b in combinations(names, 2)])
    different = np.array([a != b and "" not in (a, b) for a, b in combinations(names, 2)])
    if same.any() and different.any():
        for which, chosen in (("within", same), ("between", different)):
            name = f"mean_{matrix.statistic}_{which}_categories"
            yield Statistic.average(matrix.condition, name, pairs[:, chosen])


FEWEST_EXAMPLES = 1000
"""Fewest training examples of a benchmark."""
MOST_UNIMPROVED = 0.2
"""Largest share of models that are not better after tuning."""
MOST_OPPOSED = 0.5
"""Largest share of other benchmarks with opposite rankings before tuning.

The paper gives no share: it leaves out one benchmark, which was against 23 of 24.
"""


def select_benchmarks(table: ScoreTable, matrices: list[TauMatrices]) -> list[tuple[Any, ...]]:
    """Judge each downstream benchmark by the rules of the paper; log those that it would leave out.

    `table`: its first condition is before tuning, its last one after; with one alone nothing has improved.
    Returned: rows under contract SELECTION.
    """
    (tau,) = (each.values[0] for each in matrices
              if each.statistic == PLAIN and each.condition == table.conditions[0])  # fmt: skip
    scores, rows = table.oriented(), []
    for column in table.downstream:
        benchmark = table.benchmarks[column]
        scored = ~np.isnan(scores[:, :, column]).any(axis=0)
        models, unimproved = int(scored.sum()), None
        if len(scores) > 1:
            unimproved = int((scores[-1, scored, column] <= scores[0, scored, column]).sum())
        others = [tau[column, other] for other in table.downstream if other != column]
        known = [value for value in others if not math.isnan(value)]  # NaN: it orders no models
        opposed = sum(bool(value < 0) for value in known)
        examples = benchmark.training_examples
        reasons = []
        if examples is not None and examples < FEWEST_EXAMPLES:
            reasons.append("few training examples")
        if unimproved is not None and unimproved > MOST_UNIMPROVED * models:
            reasons.append("not better after tuning")
        if opposed > MOST_OPPOSED * len(known):
            reasons.append("against the others")
        rows.append((benchmark.name, examples, models, unimproved, len(known), opposed, "; ".join(reasons)))
    left_out = [f"{row[0]} ({row[-1]})" for row in rows if row[-1]]
    if left_out:
        log.info("the paper's rules would leave out %s", ", ".join(left_out))
    return rows


@dataclass(frozen=True)
class Comparison:
    """Tau of each corpus with each benchmark, over one group of models."""

    condition: str  # a condition, or `first > later`: corpora in the first, benchmarks in the later one
    group: str
    values: Array  # (1 + n_rounds, n_corpora, n_benchmarks)
    models: int  # number of models with a score on every corpus


def compare_corpora(resampled: ResampledScores) -> list[Comparison]:
    """Return tau of corpora with benchmarks, in each condition and from the first to each later one."""
    table, corpora = resampled.table, resampled.table.corpora
    if not corpora:
        return []
    signs, found = resampled.signs[PLAIN], []
    measured = _find_measured(resampled)
    without = [model.title for model, known in zip(table.models, measured, strict=True) if not known]
    if without:
        log.info("%s models have no perplexity and are left out of its rankings: %s", len(without),
                 ", ".join(without))  # fmt: skip
    places = [(condition, place, place) for place, condition in enumerate(table.conditions)]
    first = table.conditions[0]
    places += [(name_transfer(first, name), 0, place) for place, name in enumerate(table.conditions) if place]
    for group in (ALL, *KINDS):
        chosen = measured & resampled.choose_models(group)
        number = int(chosen.sum())
        if group != ALL and number in (0, measured.sum()):
            continue  # all models are of one kind: nothing to separate
        if number < FEWEST_MODELS:
            log.info("%s models: %s have a perplexity, too few to rank", group, number)
            continue
        weights = resampled.weigh_pairs(chosen)
        for name, before, after in places:
            values = measure_tau(signs[before][corpora], signs[after], weights)
            found.append(Comparison(name, group, values, number))
    return found


def _find_measured(resampled: ResampledScores) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(resampled.table.scores[:, :, resampled.table.corpora]).any(axis=(0, 2)))


def tabulate_corpora(comparisons: list[Comparison], resampled: ResampledScores) -> list[tuple[Any, ...]]:
    """Return the rows of perplexity.csv."""
    table, rows = resampled.table, []
    for each in comparisons:
        within = each.condition in table.conditions
        for row, corpus in enumerate(table.corpora):
            for column, benchmark in enumerate(table.benchmarks):
                if within and column == corpus:
                    continue  # a corpus with itself
                names = (each.condition, each.group, table.benchmarks[corpus].name, benchmark.name)
                rows.append((*names, *resampled.format(each.values[:, row, column]), each.models))
    return rows


def summarize_corpora(comparisons: list[Comparison], resampled: ResampledScores) -> list[Statistic]:
    """Return mean tau of corpora with benchmarks and with each other, and tau of both averages."""
    table, found = resampled.table, []
    for each in comparisons:
        end = "" if each.group == ALL else f"_{each.group}"
        values = each.values[:, :, table.downstream]
        parts = values.reshape(len(values), -1)
        found.append(Statistic.average(each.condition, f"perplexity_tasks_tau{end}", parts))
        among, within = each.values[:, :, table.corpora], each.condition in table.conditions
        if not within or len(table.corpora) > 1:
            parts = pick_pairs(among) if within else np.diagonal(among, axis1=1, axis2=2)
            found.append(Statistic.average(each.condition, f"perplexity_perplexity_tau{end}", parts))
    if comparisons:
        found.extend(_compare_averages(resampled))
    return found


def _compare_averages(resampled: ResampledScores) -> Iterator[Statistic]:
    """Yield tau of the mean over corpora with the mean over benchmarks: raw and standardised."""
    table = resampled.table
    weights = resampled.weigh_pairs(_find_measured(resampled))
    mixed = [len({table.benchmarks[place].lower_is_better for place in some}) > 1
             for some in (table.downstream, table.corpora)]  # fmt: skip
    if any(mixed):
        log.info("low scores are good on only some benchmarks: their plain mean is meaningless and left out")
    for place, condition in enumerate(table.conditions):
        scores = resampled.oriented[place]
        middle = average(scores.T)
        spread = np.sqrt(average((scores - middle).T ** 2))
        standard = np.divide(scores - middle, spread, out=np.zeros_like(scores), where=spread > 0)
        standard = np.where(np.isnan(scores), np.nan, standard)
        compared = {"standardised_averages_tau": standard}
        for name, values in (compared if any(mixed) else {"averages_tau": scores} | compared).items():
            means = [values[:, some].mean(axis=1)[:, None] for some in (table.corpora, table.downstream)]
            signs = [order_pairs(mean) for mean in means]
            yield Statistic(condition, name, measure_tau(signs[0], signs[1], weights)[:, 0, 0])


DIRECT = "direct"
"""Name of no preparation at all."""

Reports = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""Reports of tunings by preparation, model and task."""


class PreparationSettings(RankingSettings):
    """Settings of the comparison of preparations."""

    train_before_test: TrainBeforeTest


def compare_preparations(reports: Reports, settings: PreparationSettings) -> list[tuple[Any, ...]]:
    """Return the rows of preparation.csv: mean tau of two benchmarks after each preparation.

    Returned: under PREPARATION: mean tau, its change from no preparation, and what it lacks of the whole
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
    arrays = np.array(scores, dtype=np.float64), np.full(np.shape(scores), np.nan)
    paired = np.full((len(scores), len(benchmarks), pairs), np.nan)
    known = tuple(Model(name, name) for name in models)
    table = ScoreTable((DIRECT, *preparations), known, tuple(benchmarks), *arrays, paired)
    check_size(table, "train_before_test")
    return table


SUBSETS = 100
"""Samples that are drawn for each size, without replacement."""

ROUNDS = 200
"""Bootstrap resamples of the models of each drawn sample."""


def forecast_change(table: ScoreTable, settings: RankingSettings) -> list[tuple[Any, ...]]:
    """Return the rows of forecast.csv: how often a sample of so many models finds a significant change.

    `table`: with two conditions or more; the change is from the first to each other one. Returned: under
    FORECAST, by condition and size; the whole table last.
    """
    count = len(table.models)
    large = [size for size in settings.ranking.forecast if size >= count]
    if large:
        log.info("forecast: the table has %s models; no forecast for %s", count, ", ".join(map(str, large)))
    sizes = sorted({size for size in settings.ranking.forecast if size < count} | {count})
    signs = order_pairs(table.oriented())[:, table.downstream]
    rows = []
    for place, condition in enumerate(table.conditions[1:], start=1):
        for size in sizes:
            drawn = list(_draw_samples(signs[[0, place]], count, size, settings))
            samples = [sample for sample, _ in drawn]
            pairs = format_number(sum(number for _, number in drawn) / len(drawn))
            row = _describe(samples)
            rows.append((name_change(table.conditions[0], condition), size, *row, len(samples), pairs))
            log.info("%s models: %s of %s samples find a change", size, sum(s.apart for s in samples),
                     len(samples))  # fmt: skip
    return rows


def _draw_samples(
    signs: Array, count: int, size: int, settings: RankingSettings
) -> Iterator[tuple[Estimate, int]]:
    """Yield samples of `size` of `count` models, with the number of pairs of benchmarks that count."""
    pairs = np.zeros((count, count), dtype=np.int64)
    pairs[np.triu_indices(count, 1)] = np.arange(count * (count - 1) // 2)
    summary = settings.summary.model_copy(update={"rounds": ROUNDS})
    for number in show_progress(range(SUBSETS if size < count else 1), "samples"):
        random = np.random.default_rng([settings.summary.seed, size, number])
        models = np.sort(random.choice(count, size, replace=False))
        first, second = np.triu_indices(size, 1)
        some = signs[:, :, pairs[models[first], models[second]]]
        weights = weigh_pairs(draw_models(np.ones(size, dtype=bool), summary))
        before, after = (pick_pairs(measure_tau(each, each, weights)) for each in some)
        change = after - before  # NaN, and left out, where a pair of benchmarks has no tau in either
        yield (
            estimate_over_models(average(change), size, summary.confidence, -2.0, 2.0),
            int(np.isfinite(change[0]).sum()),
        )


def _describe(samples: list[Estimate]) -> list[str]:
    """Return mean change, interval of 95 % of samples, mean width of their intervals, share significant."""
    changes = np.array([sample.value for sample in samples])
    known = changes[np.isfinite(changes)]
    low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (float("nan"),) * 2
    width = average(np.array([sample.high - sample.low for sample in samples]))
    share = sum(sample.apart for sample in samples) / len(samples)
    return [format_number(float(each)) for each in (average(changes), low, high, width, share)]
