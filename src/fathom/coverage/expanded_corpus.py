"""From a domain's sentences to a corpus: subsets of documents, rounds on disk, and results.

How much of its domain a finished corpus covers is measured at sentences at which no document was compared:
documents join by their density at the points, so there the corpus is denser than elsewhere.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark.matches import load_embeddings
from fathom.config.coverage import Coverage
from fathom.coverage import density
from fathom.coverage.benchmarks import check_spread, describe_kernel, project
from fathom.coverage.sets import Space, draw_rows, resolve_bandwidth
from fathom.errors import InputError
from fathom.io.contracts.coverage import ROUND
from fathom.io.files import write_atomically, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.resume import open_steps

Sums = npt.NDArray[np.float32]


def measure_subsets(
    points: density.Vectors,
    vectors: density.Vectors,
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
    density.check_sets(points, vectors, bandwidth)
    scale = density.Scale.fit(points, vectors, bandwidth)
    layer = density.make_layer(scale.apply(points), device)
    found[:] = -np.inf
    tiles = list(density.divide(len(vectors), density.COLUMNS))
    with density.compute_in_threads(threads if device == "cpu" else 1) as pool:
        task = partial(_sum_tile, layer, vectors, starts, scale, device)
        for first, sums in pool.map(task, tiles):
            rows = slice(first, first + len(sums))
            found[rows] = np.logaddexp(found[rows], sums)


def _sum_tile(
    layer: Any,
    vectors: density.Vectors,
    starts: npt.NDArray[np.int64],
    scale: density.Scale,
    device: str,
    tile: slice,
) -> tuple[int, npt.NDArray[np.float64]]:
    """Return the first subset in a tile, and the log-sums of its subsets."""
    import torch

    inputs = scale.apply(vectors[tile])
    with torch.inference_mode():
        values = layer(torch.from_numpy(inputs).to(device)).cpu().numpy()
    values -= (density.square_lengths(inputs) / 2)[:, None].astype(values.dtype)
    first = int(np.searchsorted(starts, tile.start, side="right")) - 1
    last = int(np.searchsorted(starts, tile.stop, side="left"))
    begins = np.maximum(starts[first:last] - tile.start, 0)
    peaks = np.maximum.reduceat(values, begins, axis=0)
    values -= np.repeat(peaks, np.diff(np.append(begins, len(values))), axis=0)
    sums = np.add.reduceat(np.exp(values, out=values), begins, axis=0)
    return first, peaks.astype(np.float64) + np.log(sums)


_SUBSETS_AT_ONCE = 256


class Round(NamedTuple):
    """Results of one round.

    `subsets`: under ROUND: the subsets that were looked at, in order. `report`: its number, how many were
    looked at, joined and left; coverage and gaps after it.
    """

    subsets: pl.DataFrame
    report: dict[str, Any]


class Expansion:
    """A corpus that grows by subsets of a space.

    `densities` (array of float32 of shape (n_subsets, n_points)): see
    :func:`fathom.coverage.expanded_corpus.measure_subsets`. `owners` (array of int64 of shape (n_points,)):
    subset that each point belongs to, which is not compared there; -1: of none.
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
    def of_corpus(self) -> density.Values:
        """Log-density of the corpus at the points."""
        found: density.Values = self._of_corpus - np.log(max(self._size, 1))
        return found

    @property
    def gaps(self) -> npt.NDArray[np.bool_]:
        """Points at which the space is denser than the corpus."""
        return density.find_gaps(self.of_space, self.of_corpus)

    @property
    def joined(self) -> npt.NDArray[np.int32]:
        """Round in which each subset joined, from 1; 0: never."""
        return self._joined.copy()

    @property
    def correlations(self) -> density.Values:
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
        """Repeat a round from its table, without computing correlations.

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
        others = self._owners != subset
        of_subset = self._densities[subset].astype(np.float64)
        return density.correlate_densities(of_subset[others], self._of_corpus[others])

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
            "correlation": density.replace_nan(density.correlate_densities(self.of_corpus, self.of_space)),
        }
        self.rounds.append(Round(subsets, report))
        return self.rounds[-1]


def _add_all(densities: Sums) -> density.Values:
    total = np.full(densities.shape[1], -np.inf)
    for start in range(0, len(densities), _SUBSETS_AT_ONCE):
        some = densities[start : start + _SUBSETS_AT_ONCE].astype(np.float64)
        total = np.logaddexp(total, np.logaddexp.reduce(some, axis=0))
    return total


Fill = Callable[[Sums], None]
"""Fills an array of log-densities, see :func:`fathom.coverage.expanded_corpus.measure_subsets`."""


class Corpus(NamedTuple):
    """Results of an expansion.

    `documents`: under EXPANSION. `map`: under EXPANSION_MAP.
    """

    documents: pl.DataFrame
    map: pl.DataFrame
    report: dict[str, Any]


class RoundFolder:
    """Rounds on the disk: densities of subsets, and `round-001.parquet`, `round-001.json` and so on.

    `folder`: remains of another key are deleted.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = open_steps(folder, key)

    def provide_densities(self, shape: tuple[int, int], fill: Fill) -> Sums:
        """Return the densities, mapped from a file that is written once."""
        path = self._folder / "densities.npy"
        if not path.exists():
            with write_atomically(path) as temporary:
                new = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.float32, shape=shape)
                fill(new)
                new.flush()
        found: Sums = load_embeddings(path)
        if found.shape != shape:
            raise InputError("these densities are of other subsets", str(path), "delete this folder")
        return found

    def run(self, expansion: Expansion) -> None:
        """Expand a corpus from the last round on disk, and write each round."""
        while not expansion.is_finished and (path := self._name(expansion)).exists():
            try:
                expansion.repeat(read_table(path, ROUND))
            except ValueError as error:
                raise InputError(f"{error}: it was changed", str(path), "delete its folder") from error
        if expansion.rounds:
            log.info("%s rounds are on disk", len(expansion.rounds))
        while not expansion.is_finished:
            path = self._name(expansion)
            done = expansion.run_round()
            write_json(path.with_suffix(".json"), done.report)
            write_table(path, done.subsets, ROUND)
            _tell(done)

    def _name(self, expansion: Expansion) -> Path:
        return self._folder / f"round-{len(expansion.rounds) + 1:03}.parquet"


def gather_corpus(
    space: Space, settings: Coverage, folder: RoundFolder, device: str = "cpu", threads: int = 1
) -> Corpus:
    """Gather the documents of a space that a corpus keeps [CompComp, Sec. 3.2].

    Raise `InputError` if all sentences have the same embedding, or there are fewer than two subsets. `space`:
    its documents are looked at in its order.
    """
    documents, starts = divide_documents(space.sentences, settings.documents)
    if len(starts) < 2:
        what = f"{len(documents):,} documents make one subset; nothing can join it"
        raise InputError(what, f"coverage.documents = {settings.documents}", "give a smaller number")
    bandwidth = resolve_bandwidth(space, settings)
    points = space.vectors[space.points]
    fill = partial(measure_subsets, points, space.vectors, starts, bandwidth, device=device, threads=threads)
    sizes = np.diff(np.append(starts, len(space.vectors)))
    densities = folder.provide_densities((len(starts), len(points)), lambda found: fill(found=found))
    owners = find_owners(space, starts, settings.own_points)
    expansion = Expansion(densities, sizes, owners, settings.max_correlation)
    folder.run(expansion)
    check_spread(expansion.of_space, settings)
    documents = documents.with_columns(
        round=pl.Series(expansion.joined)[documents["subset"]],
        correlation=pl.Series(expansion.correlations)[documents["subset"]],
    )
    kept = np.repeat(expansion.joined > 0, sizes)
    held_out = HeldOut(space, bandwidth, device, threads)
    places, explained = project(points)
    report = {
        **space.report,
        **describe_kernel(bandwidth, settings, expansion.of_space),
        "max_correlation": settings.max_correlation,
        "own_points": settings.own_points,
        "subsets": len(starts),
        "rounds": [each.report for each in expansion.rounds],
        "held_out": held_out.report,
        "corpus": {
            **_describe_corpus(documents, expansion),
            "share_of_points": float(kept[space.points].mean()),
            "coverage": held_out.measure_coverage(kept),
        },
        "redundancy": {
            "domain": density.replace_nan(density.measure_redundancy(space.vectors, device, threads)),
            "corpus": density.replace_nan(density.measure_redundancy(space.vectors[kept], device, threads)),
        },
        "explained_by_map": explained,
    }
    return Corpus(documents, _draw_map(space, documents, places, expansion.gaps), report)


def divide_documents(sentences: pl.DataFrame, size: int) -> tuple[pl.DataFrame, npt.NDArray[np.int64]]:
    """Divide documents into subsets of so many, in their order.

    `sentences`: column doc_id, document after document.

    Returns
    -------
    documents : polars.DataFrame
        Columns doc_id, subset, sentences.
    starts : array of int64 of shape (n_subsets,)
        Row of `sentences` where each subset begins.
    """
    documents = (
        sentences.group_by("doc_id", maintain_order=True)
        .agg(sentences=pl.len().cast(pl.Int32))
        .with_row_index("place")
        .select("doc_id", subset=(pl.col("place") // size).cast(pl.Int32), sentences="sentences")
    )
    counts = documents.group_by("subset", maintain_order=True).agg(pl.col("sentences").sum().cast(pl.Int64))
    ends = counts["sentences"].cum_sum().to_numpy()
    return documents, np.append(0, ends[:-1]).astype(np.int64)


def find_owners(space: Space, starts: npt.NDArray[np.int64], own_points: bool) -> npt.NDArray[np.int64]:
    """Return the subset that each point belongs to, of shape (n_points,); -1 to compare it there, too."""
    owners = np.searchsorted(starts, space.points, side="right") - 1
    return np.where(own_points, -1, owners).astype(np.int64)


def _describe_corpus(documents: pl.DataFrame, expansion: Expansion) -> dict[str, Any]:
    kept = documents.filter(pl.col("round") > 0)
    sentences = int(kept["sentences"].sum())
    return {
        "documents": len(kept),
        "sentences": sentences,
        "share": sentences / int(documents["sentences"].sum()),
        "coverage_at_points": float(1 - expansion.gaps.mean()),
        "correlation": expansion.rounds[-1].report["correlation"],
    }


def _draw_map(
    space: Space, documents: pl.DataFrame, places: npt.NDArray[np.float64], gaps: npt.NDArray[np.bool_]
) -> pl.DataFrame:
    points = space.sentences[space.points.tolist()]
    values = {"x": pl.Series(places[:, 0]), "y": pl.Series(places[:, 1]), "gap": pl.Series(gaps)}
    rounds = documents.select("doc_id", "round")
    found: pl.DataFrame = points.with_columns(**values).join(rounds, on="doc_id", maintain_order="left")
    return found


def _tell(done: Round) -> None:
    report = done.report
    log.info(
        "round %s: %s of %s subsets joined, %s sentences, coverage %.1f %%",
        report["round"], *(f"{report[name]:,}" for name in ("joined", "looked_at", "size")),
        100 * report["coverage"],
    )  # fmt: skip


class HeldOut:
    """As many sentences of a domain as there are points: others, as far as there are others."""

    def __init__(self, space: Space, bandwidth: float, device: str = "cpu", threads: int = 1) -> None:
        self._space, self._kernel = space, (bandwidth, device, threads)
        self.rows = _draw(space)
        self._of_space = density.measure_log_density(space.vectors[self.rows], space.vectors, *self._kernel)

    @property
    def report(self) -> dict[str, Any]:
        """How many sentences these are, and how many of them are points all the same."""
        return {"sentences": len(self.rows), "points": int(np.isin(self.rows, self._space.points).sum())}

    def measure_coverage(self, kept: npt.NDArray[np.bool_]) -> float:
        """Return the share of these sentences at which a corpus is at least as dense as the domain.

        `kept` (array of bool of shape (n_sentences,)): sentences of the domain that the corpus holds.
        """
        vectors = self._space.vectors
        of_corpus = density.measure_log_density(vectors[self.rows], vectors[kept], *self._kernel)
        return float(1 - density.find_gaps(self._of_space, of_corpus).mean())


def _draw(space: Space) -> npt.NDArray[np.int64]:
    """Return rows, sorted: drawn by a hash of their own, points only if all other sentences are drawn."""
    count = len(space.points)
    others = np.setdiff1d(np.arange(len(space.vectors)), space.points)
    some = others[draw_rows(space.sentences[others.tolist()], count, "held out")]
    more = space.points[draw_rows(space.sentences[space.points.tolist()], count - len(some), "held out")]
    return np.sort(np.concatenate([some, more]))
