"""How far perplexity on corpora ranks models as tasks do, in a setting and across settings.

Source: [TrainBeforeTest, Sec. 3.3].
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fathom.ranking.agreement import measure_tau, pick_pairs
from fathom.ranking.resampled_scores import ALL, KINDS, PLAIN, ResampledScores, Statistic, name_transfer
from fathom.ranking.resampling import average
from fathom.ranking.significance import order_pairs
from fathom.ranking.table import FEWEST_MODELS
from fathom.running.program import log

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Tau of every corpus with every benchmark, over one group of models.

    Attributes
    ----------
    setting : str
        A setting, or `first > later`: corpora of the first, benchmarks of the later one.
    group : str
        All models, or base or chat ones.
    values : ndarray, shape (1 + rounds, corpora, benchmarks)
    models : int
        Models that have a score on every corpus.
    """

    setting: str
    group: str
    values: "Array"
    models: int


def compare_corpora(draws: ResampledScores) -> list[Comparison]:
    """Return tau of corpora with all benchmarks, in each setting and from the first to each later one."""
    table, corpora = draws.table, draws.table.corpora
    if not corpora:
        return []
    signs, found = draws.signs[PLAIN], []
    measured = _find_measured(draws)
    _name_unmeasured(draws)
    places = [(setting, place, place) for place, setting in enumerate(table.settings)]
    first = table.settings[0]
    places += [(name_transfer(first, name), 0, place) for place, name in enumerate(table.settings) if place]
    for group in (ALL, *KINDS):
        chosen = measured & draws.choose_models(group)
        number = int(chosen.sum())
        if group != ALL and number in (0, measured.sum()):
            continue  # all models are of one kind: there is nothing to take apart
        if number < FEWEST_MODELS:
            log.info("%s models: %s have a perplexity, too few to rank", group, number)
            continue
        weights = draws.weigh(chosen)
        for name, before, after in places:
            values = measure_tau(signs[before][corpora], signs[after], weights)
            found.append(Comparison(name, group, values, number))
    return found


def _find_measured(draws: ResampledScores) -> "NDArray[np.bool_]":
    """Say which models have a score on every corpus in every setting."""
    import numpy as np

    return np.asarray(~np.isnan(draws.table.scores[:, :, draws.table.corpora]).any(axis=(0, 2)))


def _name_unmeasured(draws: ResampledScores) -> None:
    """Name the models that have no perplexity in the log."""
    table, measured = draws.table, _find_measured(draws)
    without = [model.title for model, known in zip(table.models, measured, strict=True) if not known]
    if without:
        log.info("%s models have no perplexity and are left out of its rankings: %s", len(without),
                 ", ".join(without))  # fmt: skip


def tabulate_corpora(comparisons: list[Comparison], draws: ResampledScores) -> list[tuple[Any, ...]]:
    """Return the rows of perplexity.csv."""
    table, rows = draws.table, []
    for each in comparisons:
        within = each.setting in table.settings
        for row, corpus in enumerate(table.corpora):
            for column, benchmark in enumerate(table.benchmarks):
                if within and column == corpus:
                    continue  # a corpus with itself
                names = (each.setting, each.group, table.benchmarks[corpus].name, benchmark.name)
                rows.append((*names, *draws.format(each.values[:, row, column]), each.models))
    return rows


def summarize_corpora(comparisons: list[Comparison], draws: ResampledScores) -> list[Statistic]:
    """Return mean tau of corpora with tasks and among themselves, and tau of both averages."""
    table, found = draws.table, []
    for each in comparisons:
        end = "" if each.group == ALL else f"_{each.group}"
        values = each.values[:, :, table.tasks]
        found.append(
            Statistic(each.setting, f"perplexity_tasks_tau{end}", average(values.reshape(len(values), -1)))
        )
        among = each.values[:, :, table.corpora]
        if each.setting not in table.settings:
            own = among[:, range(len(table.corpora)), range(len(table.corpora))]
            found.append(Statistic(each.setting, f"perplexity_perplexity_tau{end}", average(own)))
        elif len(table.corpora) > 1:
            name = f"perplexity_perplexity_tau{end}"
            found.append(Statistic(each.setting, name, average(pick_pairs(among))))
    if comparisons:
        found.extend(_compare_averages(draws))
    return found


def _compare_averages(draws: ResampledScores) -> Iterator[Statistic]:
    """Yield tau of the mean over corpora with the mean over tasks: of scores as they are and standardised."""
    import numpy as np

    table = draws.table
    weights = draws.weigh(_find_measured(draws))
    mixed = [len({table.benchmarks[place].lower_is_better for place in some}) > 1
             for some in (table.tasks, table.corpora)]  # fmt: skip
    if any(mixed):
        log.info("low scores are good on some benchmarks only: their plain mean says nothing and is left out")
    for place, setting in enumerate(table.settings):
        scores = draws.oriented[place]
        known = ~np.isnan(scores)
        middle = average(scores.T)
        spread = np.sqrt(average((scores - middle).T ** 2))
        standard = np.divide(scores - middle, spread, out=np.zeros_like(scores), where=spread > 0)
        standard = np.where(known, standard, np.nan)
        for name, values in (("averages_tau", scores), ("standardised_averages_tau", standard)):
            if name == "averages_tau" and any(mixed):
                continue
            means = [values[:, some].mean(axis=1)[:, None] for some in (table.corpora, table.tasks)]
            signs = [order_pairs(mean) for mean in means]
            yield Statistic(setting, name, measure_tau(signs[0], signs[1], weights)[:, 0, 0])
