"""Numbers of keywords and pairs needed for a significant difference of two models, from a pilot's scores.

The difference of two models on a pair is that of their bits; or of their log ranks, so that its mean is the
logarithm of the ratio of their geometric mean ranks. Pairs of one keyword resemble each other: the
variance of the mean over K keywords with m pairs each is (between + within / m) / K [Kish, Ch. 5;
ErrorBars, Sec. 2.2].
"""

import math
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.names import place_inside, show_count
from fathom.statistics.clusters import KEYWORDS, choose_clusters
from fathom.statistics.left_out import leave_out_overlap
from fathom.statistics.metrics import BITS, RANK, Metric
from fathom.statistics.summaries import divide_scores, read_scores

POWERS = (0.8, 0.95)
"""Powers that benchmarks are planned for."""


class Variances(NamedTuple):
    """How the differences of two models vary."""

    difference: float  # their mean, in bits, or the logarithm of a ratio of geometric mean ranks
    between: float  # variance of the keywords' own means; 0 if they vary no more than by chance
    within: float  # variance of the pairs of one keyword
    keywords: int
    pairs: int
    clusters: str = KEYWORDS  # what replaces keywords if there are no two


def find_scores(run: Path) -> list[tuple[str, str, str, str]]:
    """Return domain, variant, model and path of all score tables of a run; `InputError` without any."""
    paths = sorted(
        place_inside(run, path.relative_to(run))
        for variant in (*VARIANTS, REFERENCE)
        for path in run.glob(f"*/scores/{variant}/*.parquet")
    )
    if not paths:
        raise InputError("there are no scores", str(run), "name the results of a finished run: results/RUN")
    return [(path.parents[2].name, path.parent.name, path.stem, str(path)) for path in paths]


def find_overlaps(run: Path, files: Iterable[tuple[str, str, str, str]]) -> list[tuple[str, str, str]]:
    """Return domain, variant and path of the overlap with training text of scored benchmarks that have it."""
    return _find_beside(run, files, "overlap.parquet")


def _find_beside(
    run: Path, files: Iterable[tuple[str, str, str, str]], what: str
) -> list[tuple[str, str, str]]:
    names = dict.fromkeys(file[:2] for file in files)
    paths = {name: place_inside(run, name[0], "benchmark", name[1], what) for name in names}
    return [(*name, str(path)) for name, path in paths.items() if path.is_file()]


def measure_pilot(run: Path, settings: Summary) -> dict[tuple[str, str], tuple[Metric, list[Variances]]]:
    """Return how the differences of neighbouring models vary on each benchmark of a run.

    Neighbours are models that follow each other by bits or by geometric mean rank: a benchmark is planned for
    models that are close, and models that are far apart differ much more from keyword to keyword. Raise
    `InputError` if there are no scores, fewer than two models, models with different pairs, or too few pairs.
    `settings`: `overlap` says which pairs are left out, as from summaries; `lead` what models differ in, if
    all of them have it: else it is the rank. Returned: BITS or RANK; variances of each two neighbours.
    """
    files = find_scores(run)
    read = read_scores(files, _find_beside(run, files, "pairs.parquet"))
    scores = leave_out_overlap(read, find_overlaps(run, files), settings)
    return {
        benchmark: _measure_neighbours(frames, ", ".join(benchmark), settings)
        for benchmark, frames in divide_scores(scores)
    }


def _measure_neighbours(
    frames: Mapping[str, pl.DataFrame], where: str, settings: Summary
) -> tuple[Metric, list[Variances]]:
    if len(frames) < 2:
        raise InputError("only one model was scored", where, "a difference needs at least two models")
    metric, losses = RANK, {model: np.log(frame[RANK.name].to_numpy()) for model, frame in frames.items()}
    known = np.ones(len(next(iter(losses.values()))), dtype=bool)
    if settings.lead == BITS.name and all(BITS.name in frame.columns for frame in frames.values()):
        bits = {model: frame[BITS.name].to_numpy() for model, frame in frames.items()}
        having = ~np.isnan(np.stack(list(bits.values()))).any(axis=0)
        if having.any():
            metric, losses, known = BITS, {model: -each for model, each in bits.items()}, having
    clusters = choose_clusters(next(iter(frames.values())).filter(pl.Series(known)))
    losses = {model: each[known] for model, each in losses.items()}
    order = sorted(losses, key=lambda model: (float(losses[model].mean()), model))
    return metric, [
        estimate_variances(losses[b] - losses[a], clusters.names, where)._replace(clusters=clusters.kind)
        for a, b in pairwise(order)
    ]


def estimate_variances(
    differences: NDArray[np.float64], keywords: list[str], where: str = "pilot"
) -> Variances:
    """Estimate variances between and within keywords by the analysis of variance [VarianceComponents, Ch. 3].

    Raise `InputError` with fewer than two keywords, or no keyword with two pairs.
    """
    _, codes = np.unique(np.array(keywords), return_inverse=True)
    sizes = np.bincount(codes)
    count, pairs = len(sizes), len(differences)
    if count < 2 or pairs == count:
        raise InputError(
            f"{show_count(pairs, 'pair')} of {show_count(count, 'keyword')}: too few to estimate how"
            " keywords differ",
            where,
            "a pilot needs at least two keywords, one with at least two pairs",
        )
    means = np.bincount(codes, differences) / sizes
    whole = float(differences.mean())
    within = float(((differences - means[codes]) ** 2).sum()) / (pairs - count)
    among = float((sizes * (means - whole) ** 2).sum()) / (count - 1)
    usual = (pairs - float((sizes**2).sum()) / pairs) / (count - 1)
    return Variances(whole, max(0.0, (among - within) / usual), within, count, pairs)


def measure_spread(differences: NDArray[np.float64], clusters: list[str]) -> Variances:
    """Like :func:`estimate_variances`, but every item may be its own cluster.

    Raise `InputError` with fewer than two clusters.
    """
    count = len(differences)
    if count < 2 or len(set(clusters)) < count:
        return estimate_variances(differences, clusters)
    return Variances(float(differences.mean()), 0.0, float(differences.var(ddof=1)), count, count)


def count_keywords(
    variances: Variances, each: int, difference: float, power: float, confidence: float = 0.95
) -> int:
    """Return how many keywords a two-sided test of a difference needs.

    The smallest K whose paired t test finds the difference with the wanted power [ErrorBars, Sec. 5]. The t
    statistic is taken as a noncentral one with K - 1 degrees of freedom, for the variance is estimated too;
    with many keywords K is (z[1 - alpha / 2] + z[power])^2 (between + within / m) / difference^2. `each`: m,
    the pairs of each keyword. `difference`: wanted difference, in bits, or of log ranks: log(1.1) for ranks
    of which one is 10 % higher.
    """
    from scipy.stats import nct, norm, t

    one = (variances.between + variances.within / each) / difference**2
    tail = (1 - confidence) / 2
    count = max(2, math.ceil(float(norm.isf(tail) + norm.ppf(power)) ** 2 * one))
    while one and nct.sf(t.isf(tail, count - 1), count - 1, math.sqrt(count / one)) < power:
        count += 1
    return count


def find_smallest(variances: Variances, power: float, confidence: float = 0.95) -> float:
    """Return the smallest difference that a two-sided test finds; see :func:`count_keywords`.

    For the pilot's numbers of keywords and pairs, in the unit of the differences.
    """
    each = variances.pairs / variances.keywords
    error = math.sqrt((variances.between + variances.within / each) / variances.keywords)
    return error * _find_noncentrality(variances.keywords - 1, power, confidence)


@cache
def _find_noncentrality(freedom: int, power: float, confidence: float) -> float:
    """Return the number of standard errors from 0 that a two-sided t test detects with the wanted power."""
    from scipy.special import nctdtrinc, stdtrit

    return float(nctdtrinc(freedom, 1 - power, -stdtrit(freedom, (1 - confidence) / 2)))
