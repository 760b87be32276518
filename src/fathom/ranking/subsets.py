"""How many pairs keep the ranking: that of growing subsets, held against that of all pairs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from fathom.ranking.agreement import measure_tau
from fathom.statistics.aggregates import Statistic, measure_values

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LEAST = 0.95
"""Kendall's tau from which on a subset is said to keep the ranking."""


class Curve(NamedTuple):
    """How subsets of one kind keep the ranking, over resamples.

    Attributes
    ----------
    taus : ndarray of shape (n_resamples, n_sizes), float64
        Kendall's tau-b with the ranking by all pairs.
    kept : ndarray of shape (n_resamples, n_sizes), float64
        Share of the comparisons that all pairs tell apart which have the same sign; NaN without any.
    """

    taus: "Array"
    kept: "Array"

    @property
    def exact(self) -> "Array":
        """Share of resamples with the order of all pairs, of shape (n_sizes,)."""
        import numpy as np

        return np.asarray((self.taus > 1 - 1e-9).mean(axis=0))


def draw_order(
    keywords: "NDArray[np.int64]", random: "np.random.Generator", stratified: bool
) -> "NDArray[np.int64]":
    """Return pairs in random order; `stratified`: any first part holds that part of every keyword's.

    Parameters
    ----------
    keywords : ndarray of shape (n_pairs,), int64
        The keyword of each pair, a number.
    random : numpy.random.Generator
    stratified : bool
    """
    import numpy as np

    turns = random.permutation(len(keywords))
    if not stratified:
        return np.asarray(turns)
    own = keywords[turns]
    by_keyword = np.argsort(own, kind="stable")
    sizes = np.bincount(own)
    numbers = np.empty(len(own))
    numbers[by_keyword] = np.arange(len(own)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    places = (numbers + random.random(len(sizes))[own]) / sizes[own]
    return np.asarray(turns[np.argsort(places, kind="stable")])


def follow_ranking(
    values: "Array", order: "NDArray[np.int64]", sizes: Sequence[int], statistic: Statistic, trim: float
) -> "Array":
    """Return the signs of all comparisons by the first pairs of an order.

    Parameters
    ----------
    values : ndarray of shape (n_models, n_pairs), float64
    order : ndarray of shape (n_pairs,), int64
    sizes : sequence of int
        Numbers of pairs, at least one each.
    statistic : Statistic
    trim : float
        Share that a trimmed mean cuts from each end.

    Returns
    -------
    ndarray of shape (n_sizes, n_model_pairs), float64
        1, -1, or 0 for equal models.
    """
    import numpy as np

    first, second = np.triu_indices(len(values), 1)
    found = np.array(
        [[measure_values(row[order[:size]], statistic, trim) for row in values] for size in sizes]
    )
    return np.asarray(np.sign(found[:, first] - found[:, second]))


def hold_against(signs: "Array", whole: "Array", apart: "NDArray[np.bool_]") -> tuple["Array", "Array"]:
    """Return Kendall's tau of subsets with the ranking by all pairs, and the share of what is apart kept.

    Parameters
    ----------
    signs : ndarray of shape (n_sizes, n_model_pairs), float64
        See :func:`follow_ranking`.
    whole : ndarray of shape (n_model_pairs,), float64
        The same by all pairs.
    apart : ndarray of shape (n_model_pairs,), bool
        Which comparisons all pairs tell apart.

    Returns
    -------
    taus, kept : ndarray of shape (n_sizes,), float64
    """
    import numpy as np

    taus = measure_tau(whole[None], signs, np.ones((1, len(whole))))[0, 0]
    if not apart.any():
        return taus, np.full(len(signs), np.nan)
    return taus, np.asarray((signs[:, apart] == whole[apart]).mean(axis=1))


def find_size(sizes: Sequence[int], taus: "Array") -> int:
    """Return the smallest size from which on tau stays at `LEAST` or more; the last size has all pairs.

    Parameters
    ----------
    sizes : sequence of int
        Ascending.
    taus : ndarray of shape (n_sizes,), float64
        Of which the last one is 1.
    """
    below = [place for place, tau in enumerate(taus) if not tau >= LEAST]
    return sizes[below[-1] + 1] if below else sizes[0]
