"""From a domain's sentences to a corpus: subsets of documents, rounds on the disk, and what came of them.

How much of its domain a finished corpus covers is told by sentences at which no document was compared:
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
from fathom.coverage.benchmarks import check_spread, describe_kernel, project
from fathom.coverage.density import find_gaps, measure_log_density, replace_nan
from fathom.coverage.expansion import Expansion, Round, Sums, measure_subsets
from fathom.coverage.redundancy import NEAR, measure_redundancy
from fathom.coverage.sets import Space, draw_rows, resolve_bandwidth
from fathom.errors import InputError
from fathom.io.contracts.coverage import ROUND
from fathom.io.files import write_atomically, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.resume import open_steps

_DENSITIES = "densities.npy"

Fill = Callable[[Sums], None]
"""Fills an array of log-densities, see :func:`fathom.coverage.expansion.measure_subsets`."""


class Corpus(NamedTuple):
    """What an expansion gave.

    Attributes
    ----------
    documents : polars.DataFrame
        Under EXPANSION.
    map : polars.DataFrame
        Under EXPANSION_MAP.
    """

    documents: pl.DataFrame
    map: pl.DataFrame
    report: dict[str, Any]


class RoundFolder:
    """Rounds on the disk: densities of subsets, and `round-001.parquet`, `round-001.json` and so on.

    Parameters
    ----------
    folder : Path
        What another key left there is deleted.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = open_steps(folder, key)

    def provide_densities(self, shape: tuple[int, int], fill: Fill) -> Sums:
        """Return the densities, mapped from a file that is written once."""
        path = self._folder / _DENSITIES
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
        """Expand a corpus, going on after the last round that is on the disk, and write each round."""
        while not expansion.is_finished and (path := self._name(expansion, "parquet")).exists():
            try:
                expansion.repeat(read_table(path, ROUND))
            except ValueError as error:
                raise InputError(f"{error}: it was changed", str(path), "delete its folder") from error
        if expansion.rounds:
            log.info("%s rounds are on the disk", len(expansion.rounds))
        while not expansion.is_finished:
            stem = self._name(expansion, "parquet")
            done = expansion.run_round()
            write_json(stem.with_suffix(".json"), done.report)
            write_table(stem, done.subsets, ROUND)
            _tell(done)

    def _name(self, expansion: Expansion, ending: str) -> Path:
        return self._folder / f"round-{len(expansion.rounds) + 1:03}.{ending}"


def gather_corpus(
    space: Space, settings: Coverage, folder: RoundFolder, device: str = "cpu", threads: int = 1
) -> Corpus:
    """Gather the documents of a space that a corpus keeps [CompComp, Sec. 3.2].

    Parameters
    ----------
    space : Space
        Its documents are looked at in its order.

    Raises
    ------
    InputError
        If all sentences have the same embedding, or there are fewer than two subsets.
    """
    documents, starts = divide_documents(space.sentences, settings.documents)
    if len(starts) < 2:
        raise InputError(
            f"{len(documents):,} documents make one subset; nothing can join it",
            f"coverage.documents = {settings.documents}",
            "give a smaller number",
        )
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
            "domain": replace_nan(measure_redundancy(space.vectors, NEAR, device, threads)),
            "corpus": replace_nan(measure_redundancy(space.vectors[kept], NEAR, device, threads)),
        },
        "explained_by_map": explained,
    }
    return Corpus(documents, _draw_map(space, documents, places, expansion.gaps), report)


def divide_documents(sentences: pl.DataFrame, size: int) -> tuple[pl.DataFrame, npt.NDArray[np.int64]]:
    """Divide documents into subsets of so many, in their order.

    Parameters
    ----------
    sentences : polars.DataFrame
        Column doc_id, document after document.

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
    """Return the size of the corpus at the end, and how it compares with its domain at the points."""
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
        report["round"],
        f"{report['joined']:,}",
        f"{report['looked_at']:,}",
        f"{report['size']:,}",
        100 * report["coverage"],
    )


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
