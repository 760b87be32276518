"""Sub-fields of a domain: groups of keywords by meaning, and each model's strength on them.

Keywords are grouped by Ward's method on the unit vectors that the run embedded them with. A model's
strength on a sub-field is its mean there, of bits or log ranks, minus its own mean and the sub-field's mean
over all models: how many bits more it has, or how many times better it ranks the targets, than expected
from the whole benchmark and the difficulty of the sub-field.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.config.scoring import Summary
from fathom.explorer.run import Benchmark, Run
from fathom.statistics.bootstrap import draw_resamples, find_interval, start_random
from fathom.statistics.metrics import RANK, Metric

Array = NDArray[np.float64]

MOST = 16
"""Most sub-fields of a domain: more do not fit on a screen."""

_ROUNDING = 1e-12
_OFTEN = 0.9
"""Share of resamples that must have a keyword of a sub-field, so that it has an interval: three keywords."""


class Keywords(NamedTuple):
    """Keywords of a benchmark with every model's values on them.

    `losses`: sums over these pairs of what is good if low, log ranks, or bits times -1, shape (n_keywords,
    n_models); models by name. `metric`: RANK or BITS.
    """

    names: list[str]
    pairs: NDArray[np.int64]
    losses: Array
    metric: Metric = RANK
    models: Sequence[str] = ()

    @property
    def values(self) -> Array:
        """Geometric mean ranks, or mean bits, shape (n_keywords, n_models)."""
        means = self.losses / self.pairs[:, None]
        return np.asarray(np.exp(means) if self.metric.is_factor else -means)


class Strengths(NamedTuple):
    """Strength of each model on each sub-field.

    All have the shape (n_subfields, n_models). `value`: geometric mean rank, or mean bits. `gain`, `low`,
    `high`: how many times better than expected, or how many bits more, with the interval over keywords of
    this number alone. `apart`: whether the model is strong or weak there: significant among all numbers
    together.
    """

    value: Array
    gain: Array
    low: Array
    high: Array
    apart: NDArray[np.bool_]


def sum_keywords(benchmark: Benchmark, metric: Metric = RANK) -> Keywords:
    """Sum the values of models with a metric on every keyword, over pairs that count."""
    values, pairs = benchmark.select_values(metric)
    names, codes = np.unique(pairs["keyword"].to_numpy(), return_inverse=True)
    losses = [np.log(each) if metric.is_factor else -each for each in values.values()]
    sums = [np.bincount(codes, each, minlength=len(names)) for each in losses]
    shape = (len(names), len(sums))
    counts = np.bincount(codes, minlength=len(names))
    by_keyword = np.array(sums, dtype=np.float64).T.reshape(shape)
    return Keywords([str(name) for name in names], counts, by_keyword, metric, list(values))


def group_keywords(vectors: Array, names: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return names of sub-fields, by their two nearest keywords, and each keyword's sub-field.

    `vectors` are unit vectors, (n_keywords, n_dimensions). The largest sub-field is 0.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    count = min(MOST, max(1, round(len(names) ** 0.5)))
    if len(names) < 4 or count == 1:
        return ["all keywords"], np.zeros(len(names), dtype=np.int64)
    found = fcluster(linkage(vectors, "ward"), count, "maxclust")
    groups = [np.flatnonzero(found == code) for code in np.unique(found)]
    groups.sort(key=lambda group: (-len(group), names[int(group[0])]))
    labels, codes = [], np.zeros(len(names), dtype=np.int64)
    for code, group in enumerate(groups):
        codes[group] = code
        near = vectors[group] @ vectors[group].mean(axis=0)
        nearest = sorted(
            (-round(float(value), 9), names[int(place)]) for value, place in zip(near, group, strict=True)
        )
        labels.append(", ".join(name for _, name in nearest[:2]))
    return labels, codes


def group_domains(run: Run) -> dict[str, tuple[list[str], dict[str, int]]]:
    """Return the sub-fields of each domain and those of its keywords, the same for all its benchmarks."""
    found = {}
    for domain, vectors in run.vectors.items():
        names = {
            keyword
            for benchmark in run.benchmarks
            if benchmark.domain == domain
            for keyword in benchmark.kept["keyword"].unique().to_list()
        }
        known = sorted(names & set(vectors))
        if known:
            labels, codes = group_keywords(np.array([vectors[name] for name in known]), known)
            found[domain] = labels, dict(zip(known, codes.tolist(), strict=True))
    return found


def describe_keywords(
    keywords: Keywords, subfields: tuple[list[str], Mapping[str, int]], settings: Summary, benchmarks: int = 1
) -> dict[str, Any]:
    """Return keywords with values, and sub-fields with strengths if every keyword belongs to one.

    `benchmarks`: see :func:`measure_strengths`.
    """
    found: dict[str, Any] = {"keywords": [], "pairs": [], "values": [], "codes": [], "subfields": []}
    found["models"] = list(keywords.models)
    if not keywords.losses.size:
        return found
    labels, codes = subfields
    found |= {
        "keywords": keywords.names,
        "pairs": keywords.pairs.tolist(),
        "values": round_rows(keywords.values),
    }
    if all(name in codes for name in keywords.names):
        used = sorted({codes[name] for name in keywords.names})
        found["codes"] = [used.index(codes[name]) for name in keywords.names]
        *numbers, apart = measure_strengths(keywords, found["codes"], settings, benchmarks)
        columns = [*map(round_rows, numbers), apart.tolist()]
        found["subfields"] = [
            [labels[code], *(column[place] for column in columns)] for place, code in enumerate(used)
        ]
    return found


def round_rows(values: Array, form: str = ".5g") -> list[list[float | None]]:
    """Return rows of rounded numbers; None for what is not finite."""
    return [
        [float(format(each, form)) if math.isfinite(each) else None for each in row]
        for row in values.tolist()
    ]


def measure_strengths(
    keywords: Keywords, codes: Sequence[int], settings: Summary, benchmarks: int = 1
) -> Strengths:
    """Measure how much better than expected each model is on each sub-field: :func:`measure_residuals`."""
    means, gain, low, high, apart = measure_residuals(keywords, codes, settings, benchmarks)
    if not keywords.metric.is_factor:
        return Strengths(-means, gain, low, high, apart)
    return Strengths(np.exp(means), np.exp(gain), np.exp(low), np.exp(high), apart)


def measure_residuals(
    keywords: Keywords, codes: Sequence[int], settings: Summary, benchmarks: int = 1
) -> Strengths:
    """Measure how much lower the mean of each model is on each group than expected, by a bootstrap.

    Parameters
    ----------
    keywords : Keywords
        Their `losses` may be sums of any values of which low ones are good.
    benchmarks : int
        How many are looked at together: their models count as strong or weak somewhere by mistake with a
        chance of at most 1 - confidence.

    Returns
    -------
    Strengths
        Means and gains on the scale of the sums. Ends of an interval are NaN where a resample rarely has a
        keyword of the group; nothing counts as strong or weak there.
    """
    places = np.array(codes)
    member = places == np.arange(places.max() + 1)[:, None]
    groups = [np.flatnonzero(row) for row in member]
    mean, residual = _take_residuals(((np.ones((1, len(each))), each) for each in groups), keywords)
    drawn = draw_resamples(len(codes), settings).astype(np.float64)
    residuals = _take_residuals(((drawn[:, each], each) for each in groups), keywords)[1]
    known = np.isfinite(residuals[:, :, 0])
    enough = (known.mean(axis=0) > _OFTEN)[:, None]
    ends = np.full((2, *residual[0].shape), np.nan)
    for place in np.flatnonzero(enough):
        freedom = max(1.0, member[place].sum() - 1.0)
        ends[:, place] = find_interval(residuals[known[:, place], place], settings.confidence, freedom)
    # the test assumes equal variance of keywords in all sub-fields; the interval does not
    alone = (ends[0] > 0) | (ends[1] < 0)
    chance = _shuffle_keywords(keywords, places, settings)
    apart = alone & (_test_together(residual[0], chance, enough) <= (1 - settings.confidence) / benchmarks)
    # a residual below 0 is a lower, better value, so the gain is its negative
    return Strengths(mean[0], -residual[0], -ends[1], -ends[0], apart)


def _shuffle_keywords(keywords: Keywords, codes: NDArray[np.int64], settings: Summary) -> Array:
    shuffled = start_random("sub-fields", settings).permuted(np.tile(codes, (settings.rounds, 1)), axis=1)
    every = np.arange(len(codes))
    return _take_residuals(((shuffled == place, every) for place in range(codes.max() + 1)), keywords)[1]


def _test_together(residual: Array, chance: Array, tested: NDArray[np.bool_]) -> Array:
    """Return the p of each residual, corrected for all that are tested [WestfallYoung]."""
    drawn = np.concatenate([residual[None], chance])  # the data are one of the orders that could be
    spread = drawn.std(axis=0)
    tested = tested & (spread > _ROUNDING)
    sizes = np.abs(drawn) / np.where(tested, spread, np.inf)
    largest = np.sort(sizes.max(axis=(1, 2)))
    as_large = len(largest) - np.searchsorted(largest, sizes[0])
    return np.where(tested, as_large / len(largest), 1.0)


def _take_residuals(
    groups: Iterable[tuple[NDArray[Any], NDArray[np.int64]]], keywords: Keywords
) -> tuple[Array, Array]:
    """Return mean losses and their residuals by draw, sub-field and model.

    A group is how often each keyword counts, (n_draws, n_members), and its place: those of all at once would
    be large.
    """
    pairs = keywords.pairs.astype(np.float64)
    sums, counts = (
        np.stack(each, axis=1)
        for each in zip(
            *((row @ keywords.losses[each], row @ pairs[each]) for row, each in groups), strict=True
        )
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / counts[:, :, None]
    overall = sums.sum(axis=1) / counts.sum(axis=1)[:, None]
    expected = overall[:, None, :] + means.mean(axis=2, keepdims=True) - overall.mean(axis=1)[:, None, None]
    return means, means - expected
