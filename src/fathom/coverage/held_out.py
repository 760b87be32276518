"""Sentences at which no document was compared: they say how much of a domain a finished corpus covers.

Documents join by their density at the points, so at these points the corpus is denser than elsewhere.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from fathom.coverage.density import find_gaps, measure_log_density
from fathom.coverage.sets import Space, draw_rows


class HeldOut:
    """As many sentences of a domain as there are points: others, as far as there are others."""

    def __init__(self, space: Space, bandwidth: float, device: str = "cpu", threads: int = 1) -> None:
        self._space, self._kernel = space, (bandwidth, device, threads)
        self.rows = _draw(space)
        self._of_space = measure_log_density(space.vectors[self.rows], space.vectors, *self._kernel)

    @property
    def report(self) -> dict[str, Any]:
        """How many sentences these are, and how many of them are points all the same."""
        return {"sentences": len(self.rows), "points": int(np.isin(self.rows, self._space.points).sum())}

    def measure_coverage(self, kept: npt.NDArray[np.bool_]) -> float:
        """Return the share of these sentences at which a corpus is at least as dense as the domain.

        Parameters
        ----------
        kept : array of bool of shape (n_sentences,)
            Sentences of the domain that the corpus holds.
        """
        vectors = self._space.vectors
        of_corpus = measure_log_density(vectors[self.rows], vectors[kept], *self._kernel)
        return float(1 - find_gaps(self._of_space, of_corpus).mean())


def _draw(space: Space) -> npt.NDArray[np.int64]:
    """Return rows, sorted: drawn by a hash of their own, points only if all other sentences are drawn."""
    count = len(space.points)
    others = np.setdiff1d(np.arange(len(space.vectors)), space.points)
    some = others[draw_rows(space.sentences[others.tolist()], count, "held out")]
    more = space.points[draw_rows(space.sentences[space.points.tolist()], count - len(some), "held out")]
    return np.sort(np.concatenate([some, more]))
