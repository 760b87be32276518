"""How far tasks rank models alike: in pairs, each against the others, by category.

Source: [TrainBeforeTest, Sec. 3.2, App. C.2].
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, Any

from fathom.ranking.agreement import measure_tau, pick_pairs, share_improved
from fathom.ranking.resampled_scores import PLAIN, ResampledScores, Statistic, name_change
from fathom.ranking.resampling import average
from fathom.running.program import log

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

OTHERS = "others"
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Matrix:
    """Tau of every two benchmarks, corpora among them, in one setting under one test.

    Attributes
    ----------
    setting, statistic : str
    values : ndarray, shape (1 + rounds, benchmarks, benchmarks)
        Of the table as it is, then of each resample.
    """

    setting: str
    statistic: str
    values: "Array"


def measure_matrices(draws: ResampledScores) -> list[Matrix]:
    """Return tau of every two benchmarks in each setting under each test that the table allows."""
    weights = draws.weigh()
    return [
        Matrix(setting, name, measure_tau(signs[place], signs[place], weights))
        for name, signs in draws.signs.items()
        for place, setting in enumerate(draws.table.settings)
    ]


def tabulate_pairs(matrices: list[Matrix], draws: ResampledScores) -> list[Row]:
    """Return the rows of pairwise.csv: every two benchmarks."""
    import numpy as np

    table, rows = draws.table, []
    for matrix in matrices:
        known = ~np.isnan(table.scores[table.settings.index(matrix.setting)])
        for first, second in combinations(range(len(table.benchmarks)), 2):
            values = matrix.values[:, first, second]
            if np.isnan(values[0]) and matrix.statistic != PLAIN:
                continue  # a corpus has no standard errors
            names = (table.benchmarks[first].name, table.benchmarks[second].name)
            models = int((known[:, first] & known[:, second]).sum())
            rows.append((matrix.setting, matrix.statistic, *names, *draws.format(values), models))
    return rows


def tabulate_means(matrices: list[Matrix], draws: ResampledScores) -> list[Row]:
    """Return the rows of means.csv: each task's mean tau with all other tasks; say which run against them."""
    table, rows = draws.table, []
    tasks = table.tasks
    for matrix in matrices:
        against = []
        for task in tasks:
            others = [other for other in tasks if other != task]
            values = average(matrix.values[:, task][:, others])
            known = len(table.models)
            name = table.benchmarks[task].name
            rows.append((matrix.setting, matrix.statistic, name, OTHERS, *draws.format(values), known))
            against += [name] if values[0] < 0 else []
        if against and matrix.statistic == PLAIN:
            log.info(
                "%s: %s rank models against the other tasks on the whole: is a low score good there? "
                "(ranking.benchmarks.%s.lower_is_better)",
                matrix.setting,
                ", ".join(against),
                against[0],
            )
    return rows


def tabulate_categories(matrices: list[Matrix], draws: ResampledScores) -> list[Row]:
    """Return the rows of categories.csv: mean tau over the pairs of tasks of every two categories."""
    rows: list[Row] = []
    members = _group_tasks(draws)
    for matrix in matrices:
        for first, second in combinations_with_replacement(members, 2):
            pairs = _pair(members[first], members[second], first == second)
            if pairs:
                values = average(matrix.values[:, [a for a, _ in pairs], [b for _, b in pairs]])
                rows.append(
                    (matrix.setting, matrix.statistic, first, second, *draws.format(values), len(pairs))
                )
    return rows


def _group_tasks(draws: ResampledScores) -> dict[str, list[int]]:
    """Return the places of the tasks of each category, in the order of the table."""
    members: dict[str, list[int]] = {}
    for task in draws.table.tasks:
        category = draws.table.benchmarks[task].category
        if category:
            members.setdefault(category, []).append(task)
    return members


def _pair(first: list[int], second: list[int], same: bool) -> list[tuple[int, int]]:
    return list(combinations(first, 2)) if same else [(a, b) for a in first for b in second]


def summarize_tasks(matrices: list[Matrix], draws: ResampledScores) -> list[Statistic]:
    """Return mean tau, within and between categories, and the share of pairs of tasks that improve."""
    found: list[Statistic] = []
    tasks = draws.table.tasks
    over_pairs = {}
    for matrix in matrices:
        pairs = pick_pairs(matrix.values[:, tasks][:, :, tasks])
        over_pairs[matrix.setting, matrix.statistic] = pairs
        found.append(Statistic(matrix.setting, f"mean_{matrix.statistic}", average(pairs)))
        found.extend(_split_by_category(matrix, pairs, draws))
    first, *others = draws.table.settings
    for other in others:
        for name in draws.signs:
            values = share_improved(over_pairs[first, name], over_pairs[other, name])
            found.append(Statistic(name_change(first, other), f"share_improved_{name}", values))
    return found


def _split_by_category(matrix: Matrix, pairs: "Array", draws: ResampledScores) -> Iterator[Statistic]:
    """Yield mean tau of pairs of one category and of two, where there are both."""
    import numpy as np

    names = [draws.table.benchmarks[task].category for task in draws.table.tasks]
    same = np.array([a == b != "" for a, b in combinations(names, 2)])
    different = np.array([a != b and "" not in (a, b) for a, b in combinations(names, 2)])
    if same.any() and different.any():
        for which, chosen in (("within", same), ("between", different)):
            name = f"mean_{matrix.statistic}_{which}_categories"
            yield Statistic(matrix.setting, name, average(pairs[:, chosen]))
