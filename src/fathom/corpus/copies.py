"""Copies: near-duplicates of a longer document, and documents of which nearly all stands in others.

A near-copy says what a longer document says, such as a page as HTML and as Markdown, or its versions.
Near-duplicates share bands of minimal hashes [MinHash]. Longer documents are looked at first; a document is a
copy of the one that stays with which it shares most bands, if these are enough. Two copies of one are
compared with it, not with each other, so no chain of slight changes joins what differs.

A whole is made of others: a book beside its chapters, a page to print beside single ones. Its sentences stand
in them, each in any of them. Longer documents are looked at first, so that the parts stay, which are more
documents than the whole. The work is linear in the number of documents.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.io.contracts.corpus import DOCUMENTS
from fathom.io.tables import read_table

LEAST_SHARED = 3
"""Bands of 16 that copies share: those with 90 % of their sequences of words in common do with a probability
of 0.99, with 80 % 0.5, with 70 % 0.06, with half 0.00003."""
_MOST_KEPT = 8
"""Documents that are compared for each band, so that templates of a million pages take linear time."""
_SHARE = 0.8
"""Share of a document's sentences that stand in others, from which it does not count beside them."""
_FEWEST = 5
"""Sentences from which a document is looked for in others: of fewer, short ones weigh more."""
_SHOWN = 200

Copies = Mapping[str, Sequence[str]]
"""By id of a document that does not count: those that say the same, the one that says most of it first."""


class Bands:
    """Bands that several documents share, from the rows of SKETCHES."""

    def __init__(self) -> None:
        self.found: list[pl.DataFrame] = []

    def add(self, rows: pl.DataFrame) -> None:
        """Add all rows of some bands; those of one document alone are forgotten."""
        distinct = rows.select("hash", "document").unique()
        self.found.append(distinct.filter(pl.col("hash").is_duplicated()))

    def take(self) -> pl.DataFrame:
        """Return the rows, by document and hash."""
        empty = pl.DataFrame(schema={"hash": pl.UInt64, "document": pl.Int32})
        return pl.concat([empty, *self.found]).sort("document", "hash")


def find_copies(documents: Sequence[Path], ids: pl.Series, bands: Bands) -> dict[str, str]:
    """Find the documents that are near-copies; return what each is a copy of, by id.

    Copies have the same domains; the longer document stays, of equally long ones that of the smallest id.
    Numbers of documents are places in `ids`, which are sorted.
    """
    shared = bands.take()
    numbers = shared["document"].unique().sort()
    facts = _read_facts(documents, ids.gather(numbers))
    rows = shared.group_by("document", maintain_order=True).agg("hash")
    table = rows.with_columns(doc_id=ids.gather(rows["document"])).join(facts, on="doc_id", how="left")
    ordered = table.sort("characters", "doc_id", descending=[True, False])
    kept: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    copies: dict[str, str] = {}
    for doc_id, hashes, domains in ordered.select("doc_id", "hash", "domains").iter_rows():
        counts = Counter(other for each in hashes for other in kept.get((each, domains), ()))
        best = max(counts, key=lambda other: (counts[other], -len(other), other), default="")
        if counts[best] >= LEAST_SHARED:
            copies[doc_id] = best
            continue
        for each in hashes:
            others = kept[each, domains]
            if len(others) < _MOST_KEPT:
                others.append(doc_id)
    return copies


class Shared(Bands):
    """Sentences that several documents share, from the rows of SKETCHES, and how many sentences each has.

    Sentences of more than `max_documents` documents are boilerplate, and do not count.
    """

    def __init__(self, documents: int, max_documents: int, left_out: NDArray[np.int32]) -> None:
        super().__init__()
        self._max_documents = max_documents
        self._left_out = pl.Series(left_out, dtype=pl.Int32)
        self.sizes = np.zeros(documents, np.int64)

    def add(self, rows: pl.DataFrame) -> None:
        """Add all rows of some sentences; those of one document alone are only counted."""
        counted = (pl.col("words") > 0) & ~pl.col("document").is_in(self._left_out.implode())
        sentences = rows.filter(counted).select("hash", "document").unique()
        known = sentences.filter(pl.len().over("hash") <= self._max_documents)
        self.sizes += np.bincount(known["document"].to_numpy(), minlength=len(self.sizes))
        self.found.append(known.filter(pl.col("hash").is_duplicated()))


def find_wholes(documents: Sequence[Path], ids: pl.Series, shared: Shared) -> dict[str, list[str]]:
    """Find the documents of which nearly all stands in others of the same domains; return those by id.

    What such a document alone shares with another is never lost: it stays as long as one of its sentences
    stands elsewhere only in documents that are left out.
    """
    rows = shared.take()
    numbers = rows["document"].unique().sort()
    facts = _read_facts(documents, ids.gather(numbers))
    sizes = shared.sizes[numbers.to_numpy()]
    table = pl.DataFrame({"document": numbers, "doc_id": ids.gather(numbers), "size": sizes})
    table = table.join(facts, on="doc_id", how="left")
    rows = rows.join(table.select("document", "domains"), on="document", maintain_order="left")
    rows = rows.filter(pl.len().over("hash", "domains") > 1)
    rows = rows.with_columns(sentence=pl.struct("hash", "domains").rank("dense").cast(pl.Int64) - 1)
    wholes = _choose_wholes(rows.select("document", "sentence"), table)
    is_whole = pl.col("document").is_in(pl.Series(wholes, dtype=pl.Int32).implode())
    names = rows.select("sentence", "document").join(table.select("document", "doc_id"), on="document")
    held = names.filter(is_whole).join(names.filter(~is_whole), on="sentence", suffix="_of")
    counts = held.group_by("doc_id", "doc_id_of").len().sort("len", "doc_id_of", descending=[True, False])
    found = counts.group_by("doc_id", maintain_order=True).agg("doc_id_of")
    return dict(zip(found["doc_id"], found["doc_id_of"].to_list(), strict=True))


def _choose_wholes(rows: pl.DataFrame, table: pl.DataFrame) -> list[int]:
    sentences = rows["sentence"].to_numpy()
    holders = np.bincount(sentences) if len(sentences) else np.zeros(0, np.int64)
    places = rows.with_row_index("start").group_by("document").agg(pl.col("start").min(), pl.len())
    ordered = table.join(places, on="document").filter(
        (pl.col("size") >= _FEWEST) & (pl.col("len") >= _SHARE * pl.col("size"))
    )
    ordered = ordered.sort("characters", "doc_id", descending=[True, False])
    wholes = []
    for number, start, count in ordered.select("document", "start", "len").iter_rows():
        own = sentences[start : start + count]
        if holders[own].min() > 1:
            holders[own] -= 1
            wholes.append(number)
    return wholes


def _read_facts(documents: Sequence[Path], wanted: pl.Series) -> pl.DataFrame:
    """Return length and domains of documents; of an id that is repeated, those of its longest version."""
    here = pl.col("doc_id").is_in(wanted.implode())
    length = pl.max_horizontal("characters", pl.col("abstract").str.len_chars())
    parts = [
        read_table(path, DOCUMENTS, ["doc_id", "abstract", "characters", "domains"])
        .filter(here)
        .select("doc_id", length.cast(pl.Int64).alias("characters"), pl.col("domains").list.join("\n"))
        for path in documents
    ]
    empty = pl.DataFrame(schema={"doc_id": pl.String, "characters": pl.Int64, "domains": pl.String})
    facts = pl.concat([empty, *parts]).sort("characters", "domains", descending=[True, False])
    return facts.unique("doc_id", keep="first", maintain_order=True)


def describe_copies(copies: Copies, ids: pl.Series) -> dict[str, Any]:
    """Return how many documents are copies, and which files have copies of which.

    Parameters
    ----------
    ids : pl.Series
        All ids. Of documents of a folder, the file stands before the first `#`.

    Returns
    -------
    dict
        `documents`; `files`, those with the most copies first, each with `file`, its number of `documents`,
        that of `copies` among them, the file `of` most of them, how many are `of_it`, and how many `others`
        hold the rest; `files_in_all`.
    """
    of: defaultdict[str, Counter[str]] = defaultdict(Counter)
    all_of: defaultdict[str, set[str]] = defaultdict(set)
    for doc_id, others in copies.items():
        of[_name_file(doc_id)][_name_file(others[0])] += 1
        all_of[_name_file(doc_id)].update(map(_name_file, others))
    sizes = Counter(map(_name_file, ids)) if copies else Counter()
    files = sorted(of, key=lambda file: (-of[file].total(), file))
    rows = []
    for file in files[:_SHOWN]:
        other, count = min(of[file].items(), key=lambda item: (-item[1], item[0]))
        rows.append({
            "file": file, "documents": sizes[file], "copies": of[file].total(),
            "of": other, "of_it": count, "others": len(all_of[file] - {other}),
        })  # fmt: skip
    return {"documents": len(copies), "files": rows, "files_in_all": len(files)}


def _name_file(doc_id: str) -> str:
    return doc_id.partition("#")[0]
