"""Groups of documents that share text, so that all of a group can go into one split.

Two documents belong together if they are near-duplicates, or share a sentence that is neither short nor in
very many documents. The strongest evidence joins first: near-duplicates, then sentences in two documents, in
three, and so on, longer ones first. A join by a sentence that would make a group too large is refused and
counted. So the groups depend on the documents alone, not on their order, on parts or on buckets.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.corpus import Grouping, Splits
from fathom.corpus.copies import Bands, Shared, describe_copies, find_copies, find_wholes
from fathom.corpus.fingerprints import hash_bands, hash_sentences, hash_tokens
from fathom.corpus.selection import SplitChooser
from fathom.corpus.sentences import join_parts
from fathom.io.contracts.corpus import DOCUMENTS, SKETCHES, SPLITS
from fathom.io.row_groups import scan_range, scan_table
from fathom.io.tables import make_empty_table, read_table, write_table, write_table_in_batches
from fathom.jobs.program import log, show_progress

LEAST = 10
"""Documents that a group may have in any corpus."""
_RUN = 4_000_000
"""Rows of a part that are sorted at once."""
_GROUP = 65_536
"""Rows in a row group: each holds a small range of hashes."""
_BUCKET = 8_000_000
"""Rows of all parts that are compared at once."""
_CHUNK = 1 << 20
_LONGEST = 255

Integers = NDArray[np.int64]


class Edges(NamedTuple):
    """Pairs of documents with a common hash; the arrays are of shape (n_edges,), weak evidence is high."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    level: NDArray[np.int32]


class Grouped(NamedTuple):
    """How documents are grouped: shares of splits, and whether copies beside a longer document count."""

    settings: Grouping
    splits: Splits
    drops_copies: bool = False


def sketch_part(documents: Path, output: Path, min_words: int) -> int:
    """Write the hashes of all documents of a part, in sorted runs; return the number of documents."""
    waiting = _Rows()
    number = 0
    with write_table_in_batches(output, SKETCHES, _GROUP) as writer:
        for frame in scan_table(documents, ["title", "abstract", "text"]):
            for document in frame.iter_rows(named=True):
                waiting.add(join_parts(document), number, min_words)
                number += 1
                if waiting.size >= _RUN:
                    writer.write(waiting.take())
        writer.write(waiting.take())
    return number


class _Rows:
    """Rows of SKETCHES that are not yet written."""

    def __init__(self) -> None:
        self.size = 0
        self._columns: list[tuple[NDArray[Any], ...]] = []

    def add(self, text: str, number: int, min_words: int) -> None:
        """Add the rows of a document."""
        tokens = hash_tokens(text)
        sentences, bands = hash_sentences(tokens, min_words), hash_bands(tokens[tokens != 0])
        words = np.concatenate([np.minimum(sentences.words, _LONGEST), np.zeros(len(bands), np.int64)])
        hashes = np.concatenate([sentences.hashes, bands])
        self._columns.append((hashes, np.full(len(hashes), number, np.int32), words.astype(np.int16)))
        self.size += len(hashes)

    def take(self) -> pl.DataFrame:
        """Remove and return all rows, sorted."""
        names = SKETCHES.names
        arrays = [np.concatenate(each) for each in zip(*self._columns, strict=True)]
        self.size, self._columns = 0, []
        frame = pl.DataFrame(dict(zip(names, arrays, strict=True))) if arrays else make_empty_table(SKETCHES)
        return frame.sort("hash", "document")


def group_documents(
    documents: Sequence[Path], sketches: Sequence[Path], chosen: Grouped, output: Path
) -> dict[str, Any]:
    """Write the group and split of every document that shares text with others; return the report.

    A group's split is that of its smallest id, so that most documents keep their split when others are added.
    Versions of one document in several parts count as one. Memory holds the ids of all documents, a bucket
    of hashes, and the pairs of documents with a common hash.
    """
    parts = [read_table(path, DOCUMENTS, ["doc_id"])["doc_id"] for path in documents]
    ids = pl.concat(parts or [pl.Series("doc_id", [], dtype=pl.String)]).unique().sort()
    nodes = [ids.search_sorted(part).to_numpy().astype(np.int32) for part in parts]
    bands = Bands() if chosen.drops_copies else None
    edges, counts = _find_all_edges(sketches, nodes, chosen.settings.max_documents, bands)
    limit = max(LEAST, int(chosen.settings.max_share * len(ids)))
    labels, refused = join_documents(len(ids), edges, limit)
    copies = _find_all_copies(documents, sketches, ids, nodes, bands, chosen.settings) if bands else {}
    table, moved = _choose_splits(ids, labels, SplitChooser(chosen.splits), copies)
    first = {doc_id: others[0] for doc_id, others in copies.items()}
    copy_of = table["doc_id"].replace_strict(first, default="", return_dtype=pl.String)
    write_table(output, table.with_columns(copy_of=copy_of), SPLITS)
    sizes = table.group_by("group").len().sort("len", "group", descending=[True, False])
    largest = sizes.row(0) if len(sizes) else ("", 0)
    return {
        "documents": len(ids),
        "groups": len(sizes),
        "grouped_documents": len(table),
        "moved_documents": moved,
        "largest_group": {"documents": largest[1], "first": largest[0]},
        "most_documents_by_sentences": limit,
        "refused_joins": refused,
        "copies": describe_copies(copies, ids),
        **counts,
    }


def _find_all_edges(
    sketches: Sequence[Path], nodes: Sequence[NDArray[np.int32]], max_documents: int, bands: Bands | None
) -> tuple[Edges, dict[str, int]]:
    """Find the edges of all hashes, bucket by bucket; count what was compared; add to the shared bands."""
    found: list[Edges] = []
    counts = {"shared_sentences": 0, "frequent_sentences": 0, "near_duplicate_bands": 0}
    for rows in _read_buckets(sketches, nodes):
        edges, here = find_edges(rows, max_documents)
        found.append(edges)
        if bands is not None:
            bands.add(rows.filter(pl.col("words") == 0))
        counts = {name: count + here[name] for name, count in counts.items()}
    return Edges(*(np.concatenate(arrays) for arrays in zip(*found, strict=True))), counts


def _find_all_copies(
    documents: Sequence[Path],
    sketches: Sequence[Path],
    ids: pl.Series,
    nodes: Sequence[NDArray[np.int32]],
    bands: Bands,
    settings: Grouping,
) -> dict[str, list[str]]:
    """Find near-copies, then wholes among the other documents; return what says the same, by id."""
    near = find_copies(documents, ids, bands)
    left_out = ids.search_sorted(pl.Series(sorted(near), dtype=pl.String)).to_numpy().astype(np.int32)
    shared = Shared(len(ids), settings.max_documents, left_out)
    for rows in _read_buckets(sketches, nodes):
        shared.add(rows)
    wholes = find_wholes(documents, ids, shared)
    return wholes | {doc_id: wholes.get(other, [other]) for doc_id, other in near.items()}


def _read_buckets(sketches: Sequence[Path], nodes: Sequence[NDArray[np.int32]]) -> Iterator[pl.DataFrame]:
    """Yield the rows of all parts, bucket by bucket; all rows of a hash are in one.

    `document` becomes the place of its id among all.
    """
    total = sum(pl.scan_parquet(path).select(pl.len()).collect().item() for path in sketches)
    buckets = max(1, -(-total // _BUCKET))
    for bucket in show_progress(range(buckets), "buckets"):
        low, high = ((place << 64) // buckets for place in (bucket, bucket + 1))
        rows = (
            frame.with_columns(document=pl.Series(places[frame["document"].to_numpy()]))
            for path, places in zip(sketches, nodes, strict=True)
            for frame in scan_range(path, SKETCHES.names, low, high - 1)
        )
        yield pl.concat([make_empty_table(SKETCHES), *rows])


def find_edges(rows: pl.DataFrame, max_documents: int) -> tuple[Edges, dict[str, int]]:
    """Return the pairs of neighbours among the documents of each hash, in the order of the hashes.

    Parameters
    ----------
    max_documents : int
        Most documents that a sentence may join; near-duplicates always join.

    Returns
    -------
    edges : Edges
    counts : dict of str to int
        Sentences that join documents, sentences in too many, and bands that several documents share.
    """
    ordered = rows.unique(["hash", "document"]).sort("hash", "document")
    sizes = pl.len().over("hash")
    ordered = ordered.with_columns(size=sizes, first=pl.col("document").shift(1).over("hash"))
    shared = ordered.filter(pl.col("size") > 1)
    is_band = pl.col("words") == 0
    kept = shared.filter(is_band | (pl.col("size") <= max_documents))
    one_each = shared.group_by("hash").agg(pl.col("size", "words").first())
    sentences = one_each.filter(~is_band)
    joining = int((sentences["size"] <= max_documents).sum())
    pairs = kept.filter(pl.col("first").is_not_null())
    level = pl.when(is_band).then(0).otherwise(pl.col("size").cast(pl.Int32) * 256 + 255 - pl.col("words"))
    edges = Edges(
        pairs["first"].to_numpy(),
        pairs["document"].to_numpy(),
        pairs.select(level=level.cast(pl.Int32))["level"].to_numpy(),
    )
    return edges, {
        "shared_sentences": joining,
        "frequent_sentences": len(sentences) - joining,
        "near_duplicate_bands": len(one_each) - len(sentences),
    }


def join_documents(count: int, edges: Edges, limit: int) -> tuple[Integers, int]:
    """Join documents, strong evidence first, into groups of at most `limit`.

    Parameters
    ----------
    limit : int
        Most documents of a group that a sentence may make.

    Returns
    -------
    groups : ndarray of shape (count,), int64
        The smallest document of each one's group.
    refused : int
        Edges that were left out because of the limit.
    """
    parents, sizes, refused = list(range(count)), [1] * count, 0

    def find(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    order = np.argsort(edges.level, kind="stable")
    for start in range(0, len(order), _CHUNK):
        some = order[start : start + _CHUNK]
        columns = (edges.first[some], edges.second[some], edges.level[some])
        for first, second, level in zip(*(column.tolist() for column in columns), strict=True):
            one, other = sorted((find(first), find(second)))
            if one == other:
                continue
            if level and sizes[one] + sizes[other] > limit:
                refused += 1
                continue
            parents[other] = one  # the smaller one names the group
            sizes[one] += sizes[other]
    return np.array([find(place) for place in range(count)], dtype=np.int64), refused


def _choose_splits(
    ids: pl.Series, labels: Integers, chooser: SplitChooser, copies: Collection[str]
) -> tuple[pl.DataFrame, int]:
    """Return the rows of SPLITS, and how many documents are not in the split of their own id."""
    is_grouped = np.bincount(labels, minlength=len(ids))[labels] > 1
    # a whole of more parts than a group may have is in none
    is_grouped |= ids.is_in(pl.Series(sorted(copies), dtype=pl.String).implode()).to_numpy()
    grouped = np.flatnonzero(is_grouped)
    own, first = ids.gather(grouped), ids.gather(labels[grouped])
    split_of = {doc_id: chooser.choose(doc_id) for doc_id in first.unique()}
    splits = [split_of[doc_id] for doc_id in first]
    moved = sum(chooser.choose(doc_id) != split for doc_id, split in zip(own, splits, strict=True))
    return pl.DataFrame({"doc_id": own, "group": first, "split": pl.Series(splits, dtype=pl.String)}), moved


def report_groups(report: dict[str, Any]) -> None:
    """Log the groups; warn about one that is larger than sentences alone may make."""
    log.info(
        "%s of %s documents share text with others, in %s groups; %s are not in the split of their own id",
        *(f"{report[key]:,}" for key in ("grouped_documents", "documents", "groups", "moved_documents")),
    )
    log.info(
        "%s sentences occur in too many documents to join them; %s joins would have made groups too large",
        *(f"{report[key]:,}" for key in ("frequent_sentences", "refused_joins")),
    )
    if report["copies"]["documents"]:
        log.info("%s documents are copies of others and left out", f"{report['copies']['documents']:,}")
    largest = report["largest_group"]
    if largest["documents"] > report["most_documents_by_sentences"]:
        log.warning(
            "the largest group has %s near-duplicates, all in one split; the first is %s",
            f"{largest['documents']:,}",
            largest["first"],
        )
