"""Agreement of benchmarks: in pairs, each with the others, by category.

Source: [TrainBeforeTest, Sec. 3.2, App. C.2].
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, Any

from fathom.jobs.program import log
from fathom.ranking.resampled_scores import PLAIN, ResampledScores, Statistic, name_change
from fathom.statistics.agreement import average, measure_tau, pick_pairs, share_improved

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
    values: "Array"


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
    import numpy as np

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
    import numpy as np

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
                matrix.condition,
                ", ".join(against),
                against[0],
            )
    return rows


def tabulate_categories(matrices: list[TauMatrices], resampled: ResampledScores) -> list[Row]:
    """Return the rows of categories.csv: mean tau over benchmark pairs, for each pair of categories."""
    rows: list[Row] = []
    members = _group_benchmarks(resampled)
    for matrix in matrices:
        for first, second in combinations_with_replacement(members, 2):
            pairs = _pair(members[first], members[second], first == second)
            if pairs:
                values = average(matrix.values[:, [a for a, _ in pairs], [b for _, b in pairs]])
                rows.append(
                    (matrix.condition, matrix.statistic, first, second, *resampled.format(values), len(pairs))
                )
    return rows


def _group_benchmarks(resampled: ResampledScores) -> dict[str, list[int]]:
    members: dict[str, list[int]] = {}
    for column in resampled.table.downstream:
        category = resampled.table.benchmarks[column].category
        if category:
            members.setdefault(category, []).append(column)
    return members


def _pair(first: list[int], second: list[int], same: bool) -> list[tuple[int, int]]:
    return list(combinations(first, 2)) if same else [(a, b) for a in first for b in second]


def summarize_benchmarks(matrices: list[TauMatrices], resampled: ResampledScores) -> list[Statistic]:
    """Return mean tau, within and between categories, and the share of benchmark pairs that improve."""
    import numpy as np

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


def _split_by_category(
    matrix: TauMatrices, pairs: "Array", resampled: ResampledScores
) -> Iterator[Statistic]:
    """Yield mean tau within and between categories, if there are pairs of both kinds."""
    import numpy as np

    names = [resampled.table.benchmarks[column].category for column in resampled.table.downstream]
    same = np.array([a == b != "" for a, b in combinations(names, 2)])
    different = np.array([a != b and "" not in (a, b) for a, b in combinations(names, 2)])
    if same.any() and different.any():
        for which, chosen in (("within", same), ("between", different)):
            name = f"mean_{matrix.statistic}_{which}_categories"
            yield Statistic.average(matrix.condition, name, pairs[:, chosen])
