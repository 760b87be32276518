"""Agreement of perplexity with benchmarks, within and across conditions.

Source: [TrainBeforeTest, Sec. 3.3].
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fathom.jobs.program import log
from fathom.ranking.resampled_scores import ALL, KINDS, PLAIN, ResampledScores, Statistic, name_transfer
from fathom.ranking.table import FEWEST_MODELS
from fathom.statistics.agreement import average, measure_tau, pick_pairs
from fathom.statistics.significance import order_pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Tau of each corpus with each benchmark, over one group of models.

    Attributes
    ----------
    condition : str
        A condition, or `first > later`: corpora in the first, benchmarks in the later one.
    values : ndarray of shape (1 + n_rounds, n_corpora, n_benchmarks)
    models : int
        Number of models with a score on every corpus.
    """

    condition: str
    group: str
    values: "Array"
    models: int


def compare_corpora(resampled: ResampledScores) -> list[Comparison]:
    """Return tau of corpora with benchmarks, in each condition and from the first to each later one."""
    table, corpora = resampled.table, resampled.table.corpora
    if not corpora:
        return []
    signs, found = resampled.signs[PLAIN], []
    measured = _find_measured(resampled)
    _name_unmeasured(resampled)
    places = [(condition, place, place) for place, condition in enumerate(table.conditions)]
    first = table.conditions[0]
    places += [(name_transfer(first, name), 0, place) for place, name in enumerate(table.conditions) if place]
    for group in (ALL, *KINDS):
        chosen = measured & resampled.choose_models(group)
        number = int(chosen.sum())
        if group != ALL and number in (0, measured.sum()):
            continue  # all models are of one kind: there is nothing to take apart
        if number < FEWEST_MODELS:
            log.info("%s models: %s have a perplexity, too few to rank", group, number)
            continue
        weights = resampled.weigh_pairs(chosen)
        for name, before, after in places:
            values = measure_tau(signs[before][corpora], signs[after], weights)
            found.append(Comparison(name, group, values, number))
    return found


def _find_measured(resampled: ResampledScores) -> "NDArray[np.bool_]":
    import numpy as np

    return np.asarray(~np.isnan(resampled.table.scores[:, :, resampled.table.corpora]).any(axis=(0, 2)))


def _name_unmeasured(resampled: ResampledScores) -> None:
    table, measured = resampled.table, _find_measured(resampled)
    without = [model.title for model, known in zip(table.models, measured, strict=True) if not known]
    if without:
        log.info("%s models have no perplexity and are left out of its rankings: %s", len(without),
                 ", ".join(without))  # fmt: skip


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
        among = each.values[:, :, table.corpora]
        if each.condition not in table.conditions:
            own = among[:, range(len(table.corpora)), range(len(table.corpora))]
            found.append(Statistic.average(each.condition, f"perplexity_perplexity_tau{end}", own))
        elif len(table.corpora) > 1:
            name = f"perplexity_perplexity_tau{end}"
            found.append(Statistic.average(each.condition, name, pick_pairs(among)))
    if comparisons:
        found.extend(_compare_averages(resampled))
    return found


def _compare_averages(resampled: ResampledScores) -> Iterator[Statistic]:
    """Yield tau of the mean over corpora with the mean over benchmarks: raw and standardised."""
    import numpy as np

    table = resampled.table
    weights = resampled.weigh_pairs(_find_measured(resampled))
    mixed = [len({table.benchmarks[place].lower_is_better for place in some}) > 1
             for some in (table.downstream, table.corpora)]  # fmt: skip
    if any(mixed):
        log.info("low scores are good on some benchmarks only: their plain mean says nothing and is left out")
    for place, condition in enumerate(table.conditions):
        scores = resampled.oriented[place]
        known = ~np.isnan(scores)
        middle = average(scores.T)
        spread = np.sqrt(average((scores - middle).T ** 2))
        standard = np.divide(scores - middle, spread, out=np.zeros_like(scores), where=spread > 0)
        standard = np.where(known, standard, np.nan)
        for name, values in (("averages_tau", scores), ("standardised_averages_tau", standard)):
            if name == "averages_tau" and any(mixed):
                continue
            means = [values[:, some].mean(axis=1)[:, None] for some in (table.corpora, table.downstream)]
            signs = [order_pairs(mean) for mean in means]
            yield Statistic(condition, name, measure_tau(signs[0], signs[1], weights)[:, 0, 0])
