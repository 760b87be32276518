"""Two rankings as close to each other as their significant differences allow.

Source: [TrainBeforeTest, App. C.1, Alg. 3].

Models that are not significantly different may take either order. Both rankings are filled together, from the
top. At each step each ranking takes a model to which no unplaced model is significantly superior, and it
chooses the one that brings the two places of a model closest together.
"""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathom.config.section import refuse_unknown
from fathom.errors import InputError
from fathom.ranking.benchmark_agreement import TauMatrices
from fathom.ranking.resampled_scores import PAIRED, PLAIN, UNPAIRED, ResampledScores, Statistic
from fathom.statistics.correlations import weigh_pairs

Array = NDArray[np.float64]
Places = NDArray[np.int64]


def spread_signs(signs: Array, models: int) -> NDArray[np.bool_]:
    """Return whether model a is better than model b as a matrix [a, b]; NaN is a tie."""
    better = np.zeros((models, models), dtype=bool)
    first, second = np.triu_indices(models, 1)
    better[first, second] = signs > 0
    better[second, first] = signs < 0
    return better


def align_rankings(better: NDArray[np.bool_], ranks: Array) -> Places:
    """Align two rankings greedily.

    Of all candidates for the next place in the two rankings, choose the pair whose models already stand
    highest in the other ranking; break ties by choosing one model for both, then by rank on the other
    benchmark, then by the order of the table.

    Parameters
    ----------
    better : ndarray of shape (2, n_models, n_models), bool
        Whether a model is significantly better than another, on each benchmark.
    ranks : ndarray of shape (2, n_models)
        Plain ranks on each benchmark, 1 the best, mid-ranks for ties.

    Returns
    -------
    ndarray of shape (2, n_models), int
        Place of each model in either ranking, from 1.
    """
    models = ranks.shape[1]
    places = np.full((2, models), models + 1)
    waiting = better.sum(axis=1)
    free = np.ones((2, models), dtype=bool)
    # one number for three keys: place in the other ranking, whether two models, rank on the other benchmark
    wide = 4.0 * models + 8
    for place in range(1, models + 1):
        first, second = (np.flatnonzero(free[side] & (waiting[side] == 0)) for side in (0, 1))
        other = places[1, first][:, None] + places[0, second][None, :]
        cost = (2.0 * other + (first[:, None] != second[None, :])) * wide
        cost += ranks[1, first][:, None] + ranks[0, second][None, :]
        row, column = divmod(int(cost.argmin()), len(second))
        for side, model in ((0, first[row]), (1, second[column])):
            places[side, model] = place
            free[side, model] = False
            waiting[side] -= better[side, model]
    return places


def find_circle(better: NDArray[np.bool_]) -> Places:
    """Return the models of circles, where each is better than the next and the last than the first.

    `better`, (n_models, n_models): whether a model is significantly better than another.
    """
    left = np.ones(len(better), dtype=bool)
    while left.any():
        inside = better & left[:, None] & left[None, :]
        ends = left & ~(inside.any(axis=0) & inside.any(axis=1))  # nothing above, or nothing below
        if not ends.any():
            break
        left &= ~ends
    return np.flatnonzero(left)


def bound_places(better: NDArray[np.bool_]) -> Places:
    """Return the best and worst place that significant differences allow, of shape (2, n_models)."""
    return np.array([1 + better.sum(axis=0), len(better) - better.sum(axis=1)])


def share_crossings(places: Places, models: Places) -> float:
    """Return the share of model pairs that two rankings put in opposite order.

    `models` (ndarray of shape (n_rows,), int): the model in each row; copies of a model in a resample are not
    compared.
    """
    first, second = np.triu_indices(len(models), 1)
    counted = models[first] != models[second]
    if not counted.any():
        return float("nan")
    turned = (places[0, first] - places[0, second]) * (places[1, first] - places[1, second]) < 0
    return float((turned & counted).sum() / counted.sum())


def choose_benchmarks(matrices: list[TauMatrices], resampled: ResampledScores) -> tuple[int, int]:
    """Return the places of the two benchmarks to align: the configured ones, or those that agree least.

    Raise `InputError` if a configured benchmark is not in the table.
    """
    names = [each.name for each in resampled.table.benchmarks]
    wanted = resampled.settings.ranking.aligned
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise refuse_unknown("benchmark", unknown[0], names, "ranking.aligned")
    if wanted:
        return names.index(wanted[0]), names.index(wanted[1])
    pairs = list(combinations(resampled.table.downstream, 2))
    values = np.nan_to_num([matrices[0].values[0, a, b] for a, b in pairs], nan=np.inf)
    return pairs[int(np.argmin(values))]


def align_conditions(
    matrices: list[TauMatrices], resampled: ResampledScores
) -> tuple[list[tuple[Any, ...]], list[Statistic]]:
    """Align two benchmarks in each condition, by the paired test if there is one, else by the unpaired one.

    Returned: the rows of alignment.csv, and the shares of model pairs in opposite order: by score, by
    significant differences, and after the alignment.
    """
    chosen = list(choose_benchmarks(matrices, resampled))
    names = [resampled.table.benchmarks[place].name for place in chosen]
    test = next(
        name
        for name in (PAIRED, UNPAIRED, PLAIN)
        if name in resampled.signs and not np.isnan(resampled.signs[name][:, chosen]).all(axis=2).any()
    )
    known = np.asarray(~np.isnan(resampled.table.scores[:, :, chosen]).any(axis=(0, 2)))
    some = np.flatnonzero(known)
    counts = resampled.draw_models(known)
    weights = weigh_pairs(counts)
    rows: list[tuple[Any, ...]] = []
    found: list[Statistic] = []
    for place, condition in enumerate(resampled.table.conditions):
        better = np.array([spread_signs(each, len(known)) for each in resampled.signs[test][place][chosen]])
        better = better[:, some][:, :, some]
        for name, each in zip(names, better, strict=True):
            circle = [resampled.table.models[some[row]].name for row in find_circle(each)]
            if circle:
                raise InputError(
                    f"each of these models significantly beats another of them: {', '.join(circle)}",
                    f"{name}, {condition}",
                    "no ranking can order them; look at the paired tests, or name others in ranking.aligned",
                )
        scores = resampled.oriented[place][some][:, chosen].T
        drawn = counts[:, some].astype(np.int64)
        aligned = np.array([_align_drawn(better, scores, number) for number in drawn])
        places = align_rankings(better, _rank(scores))
        bounds = np.concatenate([bound_places(each) for each in better])
        for row in np.argsort(places[0]).tolist():
            numbers = [*places[:, row].tolist(), *bounds[:, row].tolist()]
            rows.append((condition, *names, resampled.table.models[some[row]].name, *numbers))
        for name, kind in (("opposite", PLAIN), ("opposite_significant", test)):
            signs = np.nan_to_num(resampled.signs[kind][place][chosen])
            total = weights.sum(axis=1)  # 0 in a resample of one model
            turned = weights @ (signs[0] * signs[1] < 0)
            values = np.divide(turned, total, out=np.full(total.shape, np.nan), where=total > 0)
            found.append(Statistic(condition, name, values, least=0.0))
        found.append(Statistic(condition, "opposite_aligned", aligned, least=0.0))
    return rows, found


def _rank(scores: Array) -> Array:
    from scipy.stats import rankdata

    return np.asarray(rankdata(-scores, axis=1))


def _align_drawn(better: NDArray[np.bool_], scores: Array, drawn: Places) -> float:
    """Align a resample, which repeats models as drawn; return its share of pairs in opposite order."""
    models = np.repeat(np.arange(len(drawn)), drawn)
    places = align_rankings(better[:, models][:, :, models], _rank(scores[:, models]))
    return share_crossings(places, models)
