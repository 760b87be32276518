"""A corpus that grows by what it does not hold yet, round by round, until nothing joins [CompComp, Sec. 3.2].

Subsets are tried one after the other, in a fixed order. A subset joins if its density correlates less than a
threshold with that of the corpus. Its own points do not count: it has peaks there that no other subset has.
Refused subsets are tried again in the next round, when the corpus has grown.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.coverage.density import (
    COLUMNS,
    Scale,
    Values,
    Vectors,
    check_sets,
    compute_in_threads,
    correlate_densities,
    divide,
    find_gaps,
    make_layer,
    replace_nan,
    square_lengths,
)

Sums = npt.NDArray[np.float32]


def measure_subsets(
    points: Vectors,
    vectors: Vectors,
    starts: npt.NDArray[np.int64],
    bandwidth: float,
    found: Sums,
    device: str = "cpu",
    threads: int = 1,
) -> None:
    """Write the log-density of each subset of a set, not divided by the subset's size.

    It is the logarithm of the sum of exp(−|d − e|² / 2h²) over the subset's vectors e, so that densities of
    unions are sums.

    Parameters
    ----------
    points : array of shape (n_points, dimension)
        Where densities are wanted; all in memory at once.
    vectors : array of shape (n_vectors, dimension)
        The set, subset after subset.
    starts : array of int64 of shape (n_subsets,)
        Where each subset begins; none is empty.
    found : array of float32 of shape (n_subsets, n_points)
        Is filled; may be mapped to a file.
    """
    check_sets(points, vectors, bandwidth)
    scale = Scale.fit(points, vectors, bandwidth)
    layer = make_layer(scale.apply(points), device)
    found[:] = -np.inf
    tiles = list(divide(len(vectors), COLUMNS))
    with compute_in_threads(threads if device == "cpu" else 1) as pool:
        task = partial(_sum_tile, layer, vectors, starts, scale, device)
        for first, sums in pool.map(task, tiles):
            rows = slice(first, first + len(sums))
            found[rows] = np.logaddexp(found[rows], sums)


def _sum_tile(
    layer: Any, vectors: Vectors, starts: npt.NDArray[np.int64], scale: Scale, device: str, tile: slice
) -> tuple[int, npt.NDArray[np.float64]]:
    """Return the first subset in a tile, and the log-sums of its subsets."""
    import torch

    inputs = scale.apply(vectors[tile])
    with torch.inference_mode():
        values = layer(torch.from_numpy(inputs).to(device)).cpu().numpy()
    values -= (square_lengths(inputs) / 2)[:, None].astype(values.dtype)
    first = int(np.searchsorted(starts, tile.start, side="right")) - 1
    last = int(np.searchsorted(starts, tile.stop, side="left"))
    begins = np.maximum(starts[first:last] - tile.start, 0)
    peaks = np.maximum.reduceat(values, begins, axis=0)
    values -= np.repeat(peaks, np.diff(np.append(begins, len(values))), axis=0)
    sums = np.add.reduceat(np.exp(values, out=values), begins, axis=0)
    return first, peaks.astype(np.float64) + np.log(sums)


_SUBSETS_AT_ONCE = 256


class Round(NamedTuple):
    """What one round did.

    Attributes
    ----------
    subsets : polars.DataFrame
        Under ROUND: the subsets that were looked at, in order.
    report : dict
        Its number, how many were looked at, joined and left; coverage and gaps after it.
    """

    subsets: pl.DataFrame
    report: dict[str, Any]


class Expansion:
    """A corpus that takes up subsets of a space.

    Parameters
    ----------
    densities : array of float32 of shape (n_subsets, n_points)
        See :func:`fathom.coverage.expansion.measure_subsets`.
    owners : array of int64 of shape (n_points,)
        Subset that each point belongs to, which is not compared there; -1: of none.
    """

    def __init__(
        self,
        densities: Sums,
        sizes: npt.NDArray[np.int64],
        owners: npt.NDArray[np.int64],
        max_correlation: float,
    ) -> None:
        self._densities, self._sizes, self._owners = densities, sizes, owners
        self._most = max_correlation
        self.of_space = _add_all(densities) - np.log(sizes.sum())
        self._of_corpus, self._size = np.full(densities.shape[1], -np.inf), 0
        self._waiting = list(range(len(sizes)))
        self.rounds: list[Round] = []
        self._found = np.full(len(sizes), np.nan)
        self._joined = np.zeros(len(sizes), dtype=np.int32)

    @property
    def of_corpus(self) -> Values:
        """Log-density of the corpus at the points."""
        density: Values = self._of_corpus - np.log(max(self._size, 1))
        return density

    @property
    def gaps(self) -> npt.NDArray[np.bool_]:
        """Points at which the space is denser than the corpus."""
        return find_gaps(self.of_space, self.of_corpus)

    @property
    def joined(self) -> npt.NDArray[np.int32]:
        """Round in which each subset joined, from 1; 0: never."""
        return self._joined.copy()

    @property
    def correlations(self) -> Values:
        """Correlation of each subset when it was last looked at.

        NaN for the first, where none was, and without two points that are not the subset's own.
        """
        return self._found.copy()

    @property
    def is_finished(self) -> bool:
        """Whether nothing more can join: nothing did in the last round, nothing is left, or no gap is."""
        stuck = bool(self.rounds) and not self.rounds[-1].report["joined"]
        return stuck or not self._waiting or not self.gaps.any()

    def repeat(self, subsets: pl.DataFrame) -> None:
        """Do a round again as its table says, without computing correlations.

        Raises
        ------
        ValueError
            If it looked at other subsets than this round would.
        """
        if subsets["subset"].to_list() != self._waiting[: len(subsets)] or subsets.is_empty():
            raise ValueError("this round does not follow")
        for subset, correlation, joins in subsets.iter_rows():
            self._found[subset] = correlation
            if joins:
                self._join(subset)
        self._end_round(subsets)

    def run_round(self) -> Round:
        """Look once at every subset that has not joined; stop early if no gap is left."""
        rows: list[tuple[int, float, bool]] = []
        for subset in self._waiting:
            correlation = float("nan")
            joins = not self._size
            if self._size:
                correlation = self._correlate(subset)
                joins = correlation < self._most
            self._found[subset] = correlation
            if joins:
                self._join(subset)
            rows.append((subset, correlation, joins))
            if joins and not self.gaps.any():
                break
        table = pl.DataFrame(
            rows, schema={"subset": pl.Int32, "correlation": pl.Float64, "joined": pl.Boolean}, orient="row"
        )
        return self._end_round(table)

    def _correlate(self, subset: int) -> float:
        """Return the correlation of a subset with the corpus, at the points that are not its own."""
        others = self._owners != subset
        of_subset = self._densities[subset].astype(np.float64)
        return correlate_densities(of_subset[others], self._of_corpus[others])

    def _join(self, subset: int) -> None:
        self._of_corpus = np.logaddexp(self._of_corpus, self._densities[subset].astype(np.float64))
        self._size += int(self._sizes[subset])
        self._joined[subset] = len(self.rounds) + 1

    def _end_round(self, subsets: pl.DataFrame) -> Round:
        self._waiting = [subset for subset in self._waiting if not self._joined[subset]]
        gaps = self.gaps
        report = {
            "round": len(self.rounds) + 1,
            "looked_at": len(subsets),
            "joined": int(subsets["joined"].sum()),
            "left": len(self._waiting),
            "size": self._size,
            "coverage": float(1 - gaps.mean()),
            "gaps": int(gaps.sum()),
            "correlation": replace_nan(correlate_densities(self.of_corpus, self.of_space)),
        }
        self.rounds.append(Round(subsets, report))
        return self.rounds[-1]


def _add_all(densities: Sums) -> Values:
    total = np.full(densities.shape[1], -np.inf)
    for start in range(0, len(densities), _SUBSETS_AT_ONCE):
        some = densities[start : start + _SUBSETS_AT_ONCE].astype(np.float64)
        total = np.logaddexp(total, np.logaddexp.reduce(some, axis=0))
    return total
