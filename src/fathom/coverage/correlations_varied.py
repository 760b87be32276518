"""The effect of t_c on a corpus or records: expansions with several thresholds [CompComp, Sec. 5.5]."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.config.coverage import Coverage
from fathom.coverage.benchmarks import check_spread
from fathom.coverage.density import measure_redundancy
from fathom.coverage.expanded_corpus import Expansion, HeldOut, divide_documents, find_owners, measure_subsets
from fathom.coverage.sets import Space, Vectors, draw_rows, resolve_bandwidth
from fathom.io.contracts.questions import RECORD_CORPORA
from fathom.io.tables import make_empty_table

_DRAWS = 5
"""Corpora at random of each size."""

Kept = npt.NDArray[np.bool_]


def vary_correlation(
    space: Space, settings: Coverage, device: str = "cpu", threads: int = 1
) -> list[tuple[float, ...]]:
    """Expand a corpus with each threshold, and compare it with as many sentences of documents at random.

    Returned: under CORRELATIONS_VARIED, by threshold; `_at_random`: the mean of several corpora.
    """
    held_out = HeldOut(space, resolve_bandwidth(space, settings), device, threads)
    whole = measure_redundancy(space.vectors, device, threads)
    generator = np.random.default_rng(0)
    found: list[tuple[float, ...]] = []
    for most, expansion, sizes in expand_with_each(space, settings, device, threads):
        kept = expansion.joined > 0
        count = int(sizes[kept].sum())
        drawn = [_draw(sizes, count, generator) for _ in range(_DRAWS)]
        corpora = [np.repeat(each, sizes) for each in (kept, *drawn)]
        coverage, *covered = (held_out.measure_coverage(each) for each in corpora)
        near, *others = (measure_redundancy(space.vectors[each], device, threads) for each in corpora)
        found.append((
            most, len(expansion.rounds), int(kept.sum()), float(kept.mean()), count, count / int(sizes.sum()),
            coverage, float(np.mean(covered)), near, float(np.mean(others)),
            1 - near / whole if whole > 0 else float("nan"),
        ))  # fmt: skip
    return found


def expand_with_each(
    space: Space, settings: Coverage, device: str = "cpu", threads: int = 1
) -> Iterator[tuple[float, Expansion, npt.NDArray[np.int64]]]:
    """Yield each t_c, the expansion that ended with it, and the sentences of each subset of documents.

    Raise `InputError` if all sentences have the same embedding.
    """
    _, starts = divide_documents(space.sentences, settings.documents)
    sizes = np.diff(np.append(starts, len(space.vectors)))
    points = space.vectors[space.points]
    densities = np.empty((len(starts), len(points)), dtype=np.float32)
    bandwidth = resolve_bandwidth(space, settings)
    measure_subsets(points, space.vectors, starts, bandwidth, densities, device, threads)
    owners = find_owners(space, starts, settings.own_points)
    for most in sorted({*settings.ablation.max_correlation, settings.max_correlation}):
        expansion = Expansion(densities, sizes, owners, most)
        check_spread(expansion.of_space, settings)
        while not expansion.is_finished:
            expansion.run_round()
        yield most, expansion, sizes


def vary_records(
    names: pl.Series, vectors: Vectors, settings: Coverage, device: str = "cpu", threads: int = 1
) -> pl.DataFrame:
    """Return the records that an expansion keeps with each t_c, under RECORD_CORPORA.

    Parameters
    ----------
    names : polars.Series
        IRIs of records; each is a document of one sentence.
    vectors : array of float32 of shape (n_records, dimension)
        Their embeddings: unit vectors.
    settings : Coverage
        Uses what an expansion does, and `ablation.max_correlation`.
    """
    table = pl.DataFrame({"doc_id": names, "position": pl.Series([0] * len(names), dtype=pl.Int32)})
    points = draw_rows(table, settings.points, "point")
    space = Space(table, vectors * np.float32(settings.length), points, {})
    subsets = divide_documents(table, settings.documents)[0]["subset"].to_numpy()
    parts = [
        pl.DataFrame({"max_correlation": most, "iri": names.filter(expansion.joined[subsets] > 0)})
        for most, expansion, _ in expand_with_each(space, settings, device, threads)
    ]
    return pl.concat([make_empty_table(RECORD_CORPORA), *parts])


def _draw(sizes: npt.NDArray[np.int64], count: int, generator: np.random.Generator) -> Kept:
    order = generator.permutation(len(sizes))
    kept = np.zeros(len(sizes), dtype=bool)
    kept[order[: int(np.searchsorted(np.cumsum(sizes[order]), count)) + 1]] = True
    return kept
