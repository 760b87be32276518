"""From a domain's sentences to a corpus: subsets of documents, their rounds, and what came of them."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.config.coverage import Coverage
from fathom.coverage.benchmarks import check_spread, describe_kernel
from fathom.coverage.density import replace_nan
from fathom.coverage.embedding_map import project
from fathom.coverage.expansion import Expansion
from fathom.coverage.held_out import HeldOut
from fathom.coverage.redundancy import NEAR, measure_redundancy
from fathom.coverage.saved_rounds import RoundFolder
from fathom.coverage.sets import Space, resolve_bandwidth
from fathom.coverage.subsets import measure_subsets
from fathom.errors import InputError


class Corpus(NamedTuple):
    """What an expansion gave.

    Attributes
    ----------
    documents : polars.DataFrame
        Under EXPANSION.
    map : polars.DataFrame
        Under EXPANSION_MAP.
    report : dict
    """

    documents: pl.DataFrame
    map: pl.DataFrame
    report: dict[str, Any]


def gather_corpus(
    space: Space, settings: Coverage, folder: RoundFolder, device: str = "cpu", threads: int = 1
) -> Corpus:
    """Gather the documents of a space that a corpus keeps [CompComp, Sec. 3.2].

    Parameters
    ----------
    space : Space
        Its documents are looked at in its order.
    settings : Coverage
    folder : RoundFolder
        Keeps the state of each round.
    device : str, default="cpu"
    threads : int, default=1
        Change no bit of the result.

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
    size : int
        Documents in a subset; the last one may have fewer.

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
    """Return the table of the map."""
    points = space.sentences[space.points.tolist()]
    values = {"x": pl.Series(places[:, 0]), "y": pl.Series(places[:, 1]), "gap": pl.Series(gaps)}
    rounds = documents.select("doc_id", "round")
    found: pl.DataFrame = points.with_columns(**values).join(rounds, on="doc_id", maintain_order="left")
    return found
