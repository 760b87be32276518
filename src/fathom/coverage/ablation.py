"""What t_c does to a corpus: an expansion with each of several thresholds [CompComp, Sec. 5.5]."""

import numpy as np
import numpy.typing as npt

from fathom.config.coverage import Coverage
from fathom.coverage.density import find_gaps
from fathom.coverage.expansion import Expansion
from fathom.coverage.gathering import divide_documents
from fathom.coverage.redundancy import NEAR, measure_redundancy
from fathom.coverage.sets import Space, resolve_bandwidth
from fathom.coverage.subsets import Sums, measure_subsets

_DRAWS = 5
"""Corpora at random of each size."""

Kept = npt.NDArray[np.bool_]


def vary_correlation(
    space: Space, settings: Coverage, device: str = "cpu", threads: int = 1
) -> list[tuple[float, ...]]:
    """Expand a corpus with each threshold, and hold it against as many sentences of documents at random.

    Parameters
    ----------
    space : Space
    settings : Coverage
        Uses `ablation.max_correlation` and `max_correlation` itself.
    device : str, default="cpu"
    threads : int, default=1
        Change no bit of the result.

    Returns
    -------
    list of tuple
        Under CORRELATION_COLUMNS, by threshold; `_at_random`: the mean of several corpora.
    """
    _, starts = divide_documents(space.sentences, settings.documents)
    sizes = np.diff(np.append(starts, len(space.vectors)))
    points = space.vectors[space.points]
    densities = np.empty((len(starts), len(points)), dtype=np.float32)
    bandwidth = resolve_bandwidth(space, settings)
    measure_subsets(points, space.vectors, starts, bandwidth, densities, device, threads)
    whole = measure_redundancy(space.vectors, NEAR, device, threads)
    generator = np.random.default_rng(0)
    found: list[tuple[float, ...]] = []
    for most in sorted({*settings.ablation.max_correlation, settings.max_correlation}):
        expansion = Expansion(densities, sizes, most)
        while not expansion.is_finished:
            expansion.run_round()
        kept = expansion.joined > 0
        count = int(sizes[kept].sum())
        drawn = [_draw(sizes, count, generator) for _ in range(_DRAWS)]
        both = [_measure(space, densities, sizes, each, device, threads) for each in (kept, *drawn)]
        coverage, near = both[0]
        at_random = np.mean(both[1:], axis=0)
        found.append((
            most, len(expansion.rounds), int(kept.sum()), float(kept.mean()), count, count / int(sizes.sum()),
            coverage, float(at_random[0]), near, float(at_random[1]),
            1 - near / whole if whole > 0 else float("nan"),
        ))  # fmt: skip
    return found


def _draw(sizes: npt.NDArray[np.int64], count: int, generator: np.random.Generator) -> Kept:
    """Return subsets drawn at random, until they have so many sentences."""
    order = generator.permutation(len(sizes))
    kept = np.zeros(len(sizes), dtype=bool)
    kept[order[: int(np.searchsorted(np.cumsum(sizes[order]), count)) + 1]] = True
    return kept


def _measure(
    space: Space, densities: Sums, sizes: npt.NDArray[np.int64], kept: Kept, device: str, threads: int
) -> tuple[float, float]:
    """Return coverage and redundancy of a corpus of some subsets."""
    of_space = np.logaddexp.reduce(densities.astype(np.float64)) - np.log(sizes.sum())
    of_corpus = np.logaddexp.reduce(densities[kept].astype(np.float64)) - np.log(sizes[kept].sum())
    near = measure_redundancy(space.vectors[np.repeat(kept, sizes)], NEAR, device, threads)
    return 1 - float(find_gaps(of_space, of_corpus).mean()), near
