"""Bootstrap resamples: drawing them, and numbers with their resamples and intervals."""

import hashlib
import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.config.scoring import Summary

Array = NDArray[np.float64]


_ROUNDING = 1e-9  # 0.025 * 40 must count as 1
_ENOUGH = 30
"""Clusters from which :func:`draw_enough` lets resamples decide the clearest of several tests."""


class Estimate(NamedTuple):
    """A value with its percentile interval; NaN where there is none."""

    value: float
    low: float
    high: float

    @property
    def apart(self) -> bool:
        """Whether the interval excludes 0; False without one."""
        return self.low > 0 or self.high < 0


NOTHING = Estimate(float("nan"), float("nan"), float("nan"))
"""Stands for a missing value."""


class Reach(NamedTuple):
    """The part of a mean's error that resamples miss; see :func:`fathom.statistics.summaries.find_reach`."""

    freedom: float  # degrees of freedom, fewer than the clusters have where some weigh more than others
    stretch: float  # how many times as far from the number as the resamples the truth may lie
    cost: float  # how much fitting lowers the number


@dataclass(frozen=True, eq=False)
class Resampled:
    """A number, and that of each bootstrap resample.

    Two of them can be subtracted or divided, resample by resample, if they share their resamples. `freedom`:
    degrees of freedom: one less than the clusters that were drawn, such as keywords. Infinite: many. `reach`:
    for the number's own interval. Results of two numbers have none, as it mostly cancels.
    """

    rows: Array  # shape (1 + n_resamples, ...), float64: first the number itself; NaN where it is undefined
    items: int = 0
    freedom: float = math.inf
    seeds: int = 0  # of the trainings that it is a mean of; 0 if resamples have no errors of seeds
    reach: Reach | None = None

    @classmethod
    def join(cls, value: float, drawn: Array, items: int = 0, freedom: float = math.inf) -> "Resampled":
        """Return a number with its resamples."""
        return cls(np.concatenate([[value], drawn]), items, freedom)

    @property
    def value(self) -> float:
        """The number itself."""
        return float(self.rows[0])

    @property
    def drawn(self) -> Array:
        """The number in each resample, of shape (n_resamples, ...)."""
        return self.rows[1:]

    def __sub__(self, other: "Resampled") -> "Resampled":
        return self.combine(other, self.rows - other.rows)

    def __truediv__(self, other: "Resampled") -> "Resampled":
        """Return the share of another number; NaN if that is 0."""
        found = np.full(self.rows.shape, np.nan)
        return self.combine(other, np.divide(self.rows, other.rows, out=found, where=other.rows != 0))

    def combine(self, other: "Resampled", rows: Array) -> "Resampled":
        """Combine this number with another one, resample by resample."""
        freedom, seeds = min(self.freedom, other.freedom), max(self.seeds, other.seeds)
        return replace(self, rows=rows, freedom=freedom, seeds=seeds, reach=None)

    def _widen(self) -> tuple[Array, Array, float]:
        """Return the resamples for the lower and the upper end, and degrees of freedom."""
        if self.reach is None:
            return self.drawn, self.drawn, self.freedom
        wide = self.rows[0] + self.reach.stretch * (self.drawn - self.rows[0])
        return wide, wide + self.reach.cost, self.reach.freedom

    def estimate(self, confidence: float) -> Estimate:
        """Return the number with its interval.

        Resamples in which it is undefined are left out. The interval is NaN if they are half of all, or if
        the number itself is undefined. It always includes the number: if all its resamples lie to one side,
        it ends at the number.
        """
        *sides, freedom = self._widen()
        lower, upper = (side[~np.isnan(side)] for side in sides)
        if np.isnan(self.value) or 2 * len(lower) <= len(self.drawn):
            return Estimate(self.value, float("nan"), float("nan"))
        low, _ = find_interval(lower, confidence, freedom)
        _, high = find_interval(upper, confidence, freedom)
        return Estimate(self.value, min(float(low), self.value), max(float(high), self.value))

    def find_ends(self, confidence: float) -> tuple[Array, Array]:
        """Return the ends of many intervals, each as by :meth:`estimate`; NaN where undefined."""
        lower, upper, freedom = self._widen()
        low, high = find_interval(lower, confidence, freedom)[0], find_interval(upper, confidence, freedom)[1]
        return np.minimum(low, self.rows[0]), np.maximum(high, self.rows[0])

    def test(self, threshold: float = 0.0) -> float:
        """Return the two-sided p of a difference from a threshold, not corrected for multiple comparisons.

        It comes from the share of resamples at the threshold or on its other side, with one added to both
        counts so that p is never 0. Student's t turns the share into p by the same rule that makes intervals
        wider, see :func:`find_interval`: p is at most 0.05 if and only if the interval with a confidence of
        0.95 excludes the threshold, for 39 resamples or more. Resamples without a number are left out.
        """
        from scipy.special import ndtri, stdtr

        *sides, freedom = self._widen()
        lower, upper = (side[~np.isnan(side)] for side in sides)
        if np.isnan(self.value):
            return float("nan")
        others = [int((lower <= threshold).sum()) if self.value > threshold else len(lower),
                  int((upper >= threshold).sum()) if self.value < threshold else len(upper)]  # fmt: skip
        share = (min(others) + 1) / (len(lower) + 1)
        freedom = max(freedom, _find_least_freedom(len(lower)))
        if math.isfinite(freedom):
            share = float(stdtr(freedom, ndtri(share) / math.sqrt(1 + 1 / freedom)))
        return min(1.0, 2 * share)

    def test_far(self, threshold: float = 0.0) -> float:
        """Return p like :meth:`test`, but below 0.05 possibly less than the resamples can resolve.

        For corrections for many tests. Student's t extrapolates from the end of the 95 % interval, with one
        degree of freedom less than seeds, or clusters: p is 0.05 if this end is the threshold.
        """
        from scipy.special import stdtr, stdtrit

        p = self.test(threshold)
        value, low, high = self.estimate(0.95)
        reach = value - low if value > threshold else high - value
        if math.isnan(p + reach) or p > 0.05 or not reach > 0:
            return p
        freedom = min(self.freedom, self.seeds - 1 if self.seeds > 1 else math.inf)
        reached = -stdtrit(freedom, 0.025) * abs(value - threshold) / reach
        return min(p, float(2 * stdtr(freedom, -reached)))


def find_interval(drawn: Array, confidence: float, freedom: float) -> tuple[Any, Any]:
    """Return the ends of the percentile intervals over the first axis, the resamples.

    Resamples of few clusters vary too little, by the factor sqrt((n - 1) / n), and the normal distribution
    has shorter tails than Student's t. Expanded percentiles make up for both [Hesterberg, Sec. 5.3].

    Both ends are resamples, not numbers between two of them: the interval excludes 0 if and only if the p of
    :meth:`Resampled.test` is at most 1 - confidence.

    Parameters
    ----------
    drawn : ndarray of shape (n_resamples, ...), float64
    confidence : float
        Such as 0.95. Too few resamples for it, below 39 for 0.95, lie inside all.
    freedom : float
        Degrees of freedom, n - 1 for n clusters; infinite: as many resamples as the confidence says lie
        inside. Few resamples cannot resolve far ends: freedom is then at least 5 with 1000 resamples, 7
        with 200, 34 with 50.

    Returns
    -------
    low, high : float64, or ndarray of the shape of one resample
        NaN where a resample is NaN.
    """
    tail = _find_tail(confidence, max(freedom, _find_least_freedom(len(drawn))))
    place = max(int(tail * (len(drawn) + 1) + _ROUNDING) - 1, 0)
    ends = np.partition(drawn, (place, len(drawn) - 1 - place), axis=0)
    found = np.where(np.isnan(drawn).any(axis=0), np.nan, ends[[place, len(drawn) - 1 - place]])
    return found[0], found[1]


@cache
def _find_tail(confidence: float, freedom: float) -> float:
    # like scipy.stats, whose import takes most of a second
    from scipy.special import ndtr, stdtrit

    tail = (1 - confidence) / 2
    if math.isinf(freedom):
        return tail
    return float(ndtr(math.sqrt(1 + 1 / freedom) * stdtrit(freedom, tail)))


@cache
def _find_least_freedom(rounds: int) -> float:
    """Return the fewest whole degrees of freedom whose 95 % interval has a resample on either side."""
    if rounds < 40:
        return math.inf
    least = 1
    while _find_tail(0.95, least) * (rounds + 1) < 1:
        least += 1
    return float(least)


def draw_enough(settings: Summary, tests: int) -> Summary:
    """Return settings with enough resamples for several tests corrected together.

    Corrected for many tests [Holm], even the clearest needs a p that few resamples cannot reach.
    """
    share = _find_tail(1 - (1 - settings.confidence) / tests, _ENOUGH - 1)
    return settings.model_copy(update={"rounds": max(settings.rounds, math.ceil(1 / share))})


def find_band(rows: Array, errors: Array, confidence: float) -> tuple[Array, Array]:
    """Return the ends of the simultaneous band of many numbers: all are inside with the confidence.

    The bootstrap's largest |t| over the numbers, with the standard error of each resample, says how many
    standard errors wide it is.

    Parameters
    ----------
    rows, errors : ndarray of shape (1 + n_resamples, n_numbers), float64
        The numbers, such as logarithms, and their standard errors, those of the data first.

    Returns
    -------
    low, high : ndarray of shape (n_numbers,), float64
        A number that is the same in all resamples is its own interval. NaN if it is undefined in some
        resample or has no error there, as it has too few items.
    """
    finite, rounding = np.isfinite(rows).all(axis=0), 1e-12
    fixed = (rows == rows[0]).all(axis=0)
    fixed[finite] |= np.ptp(rows[:, finite], axis=0) <= rounding
    known = ~fixed & finite & (errors > rounding).all(axis=0)
    low = np.where(fixed, rows[0], np.nan)
    high = low.copy()
    if known.any():
        value, drawn = rows[0, known], rows[1:, known]
        largest = np.max(np.abs(drawn - value) / errors[1:, known], axis=1)
        reach = np.quantile(largest, confidence) * errors[0, known]
        low[known], high[known] = value - reach, value + reach
    return low, high


def start_random(what: str, settings: Summary) -> np.random.Generator:
    """Return the random numbers for what is drawn, from the seed."""
    digest = hashlib.sha256(f"{what} {settings.seed}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))


def draw_resamples(count: int, settings: Summary) -> NDArray[np.int32]:
    """Return how often each of `count` items is in each resample, of shape (n_resamples, count), int32."""
    drawn = start_random("keywords", settings).integers(count, size=(settings.rounds, count))
    drawn += np.arange(settings.rounds)[:, None] * count
    counts = np.bincount(drawn.ravel(), minlength=settings.rounds * count)
    return counts.reshape(settings.rounds, count).astype(np.int32)


def draw_seeds(count: int, settings: Summary) -> NDArray[np.int64]:
    """Draw seeds with replacement; return places of shape (1 + n_resamples, count), all seeds first."""
    drawn = start_random("seeds", settings).integers(count, size=(settings.rounds, count))
    return np.concatenate([np.arange(count)[None], drawn])


def draw_seed_errors(count: int, settings: Summary) -> Array:
    """Draw weights of seeds: the sum of their values, weighted, is an error of their mean by Student's t.

    Few seeds, drawn with replacement, vary too little: of five, differences of equal means are found in 15 %.

    Returns
    -------
    ndarray of shape (1 + n_resamples, count), float64
        Rows add up to 0; the first is 0.
    """
    random = start_random("seeds", settings)
    normal = random.normal(size=(settings.rounds, count))
    spread = np.sqrt(count * random.chisquare(max(1, count - 1), settings.rounds))
    weights = (normal - normal.mean(axis=1, keepdims=True)) / spread[:, None]
    return np.concatenate([np.zeros((1, count)), weights])


def resample_ratio(above: Array, below: Array, counts: NDArray[Any]) -> Resampled:
    """Return the sum of values by item over the sum of others, of shape (n_items,); NaN for 0 / 0."""
    sums = [np.concatenate([[each.sum()], counts @ each]) for each in (above, below)]
    found = np.full(len(sums[0]), np.nan)
    freedom = max(1.0, float(np.count_nonzero(below)) - 1)
    return Resampled(np.divide(sums[0], sums[1], out=found, where=sums[1] > 0), len(above), freedom)
