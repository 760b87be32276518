"""When to stop scoring: the order of pairs, the looks at them, and which models go on.

A comparison is settled when it is known what all pairs will say: that two models differ significantly, or
that they do not. The error is shared by all comparisons of a benchmark, and by the statistics that decide
them: it is the chance that any of them is settled, at any look, otherwise than all pairs would.
"""

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.scoring import Settled, Summary
from fathom.errors import InputError
from fathom.io.files import hash_text
from fathom.statistics.aggregates import COMPARED, LEADING, STATISTICS
from fathom.statistics.anytime import Estimates, Order, estimate_models, find_reach, measure_growth

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

GROWTH = 1.5
"""Each look is at so many times the pairs of the look before."""
SLACK = 0.15
"""Share by which the interval of all pairs may be wider or narrower: a bootstrap of 1,000 varies by 4 %."""
RANK = "rank"
_WORDS = 3  # first words of a prompt: pairs that share them are drawn together, for a model reads them once


def place_pairs(benchmarks: Sequence[pl.DataFrame]) -> list["Array"]:
    """Draw the order in which pairs are scored, by hashes, every keyword in step with the others.

    The sentences of a keyword (pairs with the same first words, in any of the benchmarks) come in the order
    of a hash of these words; the j-th of n has the place (j + u) / n, with u from a hash of the keyword. So
    any first part of the pairs holds about that part of every keyword's.

    Parameters
    ----------
    benchmarks : sequence of DataFrame
        With the columns keyword and prompt; benchmarks that are scored together.

    Returns
    -------
    list of ndarray of shape (n_pairs,), float64
        Places from 0 up to 1, one for each pair of each benchmark.
    """
    import numpy as np

    starts = [
        [
            (keyword, " ".join(prompt.split()[:_WORDS]))
            for keyword, prompt in pairs.select("keyword", "prompt").iter_rows()
        ]
        for pairs in benchmarks
    ]
    sentences: dict[str, set[str]] = {}
    for keyword, start in (each for part in starts for each in part):
        sentences.setdefault(keyword, set()).add(start)
    places = {}
    for keyword, own in sentences.items():
        shift = int(hash_text("keyword", keyword)[:13], 16) / 16**13
        for number, start in enumerate(sorted(own, key=lambda text: (hash_text("sentence", text), text))):
            places[keyword, start] = (number + shift) / len(own)
    return [np.array([places[each] for each in part]) for part in starts]


def order_pairs(pairs: pl.DataFrame, places: "Array") -> tuple[pl.DataFrame, Order]:
    """Return pairs in the order of scoring: by their places, see :func:`place_pairs`, then by pair_id."""
    import numpy as np

    order = np.lexsort((pairs["pair_id"].to_numpy().astype(str), places))
    _, keywords = np.unique(pairs["keyword"].to_numpy(), return_inverse=True)
    return pairs[order], Order(keywords[order].astype(np.int64), places[order])


def plan_looks(pairs: int, block: int, where: str = "settled.block") -> list[float]:
    """Return the share of the pairs that is scored before each look; the last one is 1.

    Parameters
    ----------
    pairs : int
        Of the largest benchmark.
    block : int
        Pairs before the first look.
    where : str
        For the message.

    Raises
    ------
    InputError
        If the first block leaves nothing to be saved.
    """
    if block >= pairs:
        raise InputError(
            f"a first block of {block:,} pairs is not smaller than the benchmark, which has {pairs:,}",
            where,
            "a fifth of the pairs or fewer, or scoring.until: all",
        )
    shares = [block / pairs]
    while shares[-1] * GROWTH < 1:
        shares.append(shares[-1] * GROWTH)
    return [*shares, 1.0]


class Found(NamedTuple):
    """Differences of every two models by one statistic, at the last look at both.

    Attributes
    ----------
    differences : ndarray of shape (n_models, n_models), float64
        First model minus second; NaN before a look.
    reach : ndarray of the same shape
        How far the difference over all pairs can be from it.
    half : ndarray of the same shape
        Half the width of the interval that all pairs will give.
    """

    differences: "Array"
    reach: "Array"
    half: "Array"

    @property
    def apart(self) -> "NDArray[np.bool_]":
        """Which two models will differ significantly on all pairs."""
        return abs(self.differences) - self.reach > self.half * (1 + SLACK)

    @property
    def alike(self) -> "NDArray[np.bool_]":
        """Which two models will not differ significantly on all pairs."""
        return abs(self.differences) + self.reach < self.half * (1 - SLACK)


class Settling:
    """The looks at the scores of several models on one benchmark.

    Parameters
    ----------
    models : sequence of str
        At least two, in a fixed order.
    pairs : Order
        All pairs of the benchmark, in the order of scoring.
    settings : Settled
    summary : Summary
        Uses `trim` and `confidence`, of the intervals that all pairs will give.
    metrics : sequence of str
        What differences are found for; ranks decide.

    Attributes
    ----------
    settled : ndarray of shape (n_models, n_models), bool
        Which comparisons are settled, by both statistics of ranks.
    pairs : ndarray of shape (n_models, n_models), int64
        Number of pairs that both had at the last look at them.
    found : dict of (metric, statistic) to Found

    Raises
    ------
    InputError
        With fewer than two models.
    """

    def __init__(
        self,
        models: Sequence[str],
        pairs: Order,
        settings: Settled,
        summary: Summary,
        metrics: Sequence[str] = (RANK,),
    ) -> None:
        import numpy as np

        if len(models) < 2:
            raise InputError(
                f"{len(models)} model to score, and nothing to compare it with",
                "scoring.until: settled",
                "name two models or more, or score it with scoring.until: all",
            )
        self.models, self._order, self._settings, self._summary = list(models), pairs, settings, summary
        count = len(self.models)
        self._error = settings.error / (count * (count - 1) / 2 * len(COMPARED))
        self.settled = np.zeros((count, count), dtype=bool)
        self.pairs = np.zeros((count, count), dtype=np.int64)
        names = [(metric, statistic.name) for metric in metrics for statistic in COMPARED]
        empty = np.full((count, count), np.nan)
        self.found = {name: Found(empty.copy(), empty.copy(), empty.copy()) for name in names}
        self._first = 0

    def look(self, values: Mapping[str, Mapping[str, "Array"]], share: float) -> None:
        """Compare the models that have been scored so far.

        Parameters
        ----------
        values : mapping of metric to mapping of model to ndarray of shape (n_pairs,), float64
            Of the models that have the first pairs; what others were found to be stays.
        share : float
            Of the order, below 1, whose pairs they are.
        """
        import numpy as np

        here = [place for place, model in enumerate(self.models) if model in values[RANK]]
        end, total = self._order.find_end(share), len(self._order.places)
        if len(here) < 2 or not 0 < end < total:
            return
        self._first = self._first or end
        growth = measure_growth(end, self._first, total)
        rows = np.ix_(here, here)
        self.pairs[rows] = end
        for metric, statistic in self.found:
            each = np.stack([values[metric][self.models[place]] for place in here])
            trim = self._summary.trim
            estimates = estimate_models(each, self._order, share, STATISTICS[statistic], trim)
            self._update(self.found[metric, statistic], rows, estimates, growth)
        ranks = [self.found[RANK, statistic.name] for statistic in COMPARED]
        # a verdict stays: the sequence holds at all looks together
        self.settled |= np.logical_and.reduce([each.apart | each.alike for each in ranks])

    def _update(
        self, found: Found, rows: tuple["NDArray[Any]", ...], estimates: Estimates, growth: float
    ) -> None:
        """Put the differences of one statistic at this look in their places."""
        import numpy as np

        found.differences[rows] = estimates.values[:, None] - estimates.values[None, :]
        found.reach[rows] = find_reach(estimates.ahead, growth, self._error)
        found.half[rows] = NormalDist().inv_cdf((1 + self._summary.confidence) / 2) * np.sqrt(estimates.whole)

    @property
    def order(self) -> list[str]:
        """Models, best first: by how many others they beat on the pairs of both; ties by name."""
        wins = (self.found[RANK, LEADING.name].differences < 0).sum(axis=1)
        return sorted(self.models, key=lambda model: (-int(wins[self.models.index(model)]), model))

    @property
    def open(self) -> list[str]:
        """Models with a comparison that matters and is not settled, in the fixed order."""
        matters = self._find_matters() & ~self.settled
        return [model for model, row in zip(self.models, matters, strict=True) if row.any()]

    def _find_matters(self) -> "NDArray[np.bool_]":
        """Return which comparisons matter, of shape (n_models, n_models)."""
        import numpy as np

        order = self.order
        places = np.array([order.index(model) for model in self.models])
        apart = np.abs(places[:, None] - places[None, :])
        if self._settings.compare == "all":
            return np.asarray(apart > 0)
        if self._settings.compare == "neighbours":
            return np.asarray(apart == 1)
        return np.asarray(
            (apart > 0) & (np.minimum(places[:, None], places[None, :]) < self._settings.compare)
        )
