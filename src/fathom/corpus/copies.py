"""Copies: documents that say what a longer one says, such as a page as HTML and as Markdown, or its versions.

Near-duplicates share bands of minimal hashes [MinHash]. A document is a copy of the longest one with which it
shares enough of them: two copies of one are compared with it, not with each other, so no chain of slight
changes joins what differs. The work is linear in the number of documents.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fathom.io.contracts.corpus import DOCUMENTS
from fathom.io.tables import read_table

LEAST_SHARED = 3
"""Bands of 16 that copies share: those with 90 % of their sequences of words in common do with a probability
of 0.99, with 80 % 0.5, with 70 % 0.06, with half 0.00003."""
_MOST_KEPT = 8
"""Documents that are compared for each band, so that templates of a million pages take linear time."""
_SHOWN = 200


class Bands:
    """Bands that several documents share, from the rows of SKETCHES."""

    def __init__(self) -> None:
        self._found: list[pl.DataFrame] = []

    def add(self, rows: pl.DataFrame) -> None:
        """Add all rows of some bands; those of one document alone are forgotten."""
        distinct = rows.select("hash", "document").unique()
        self._found.append(distinct.filter(pl.col("hash").is_duplicated()))

    def take(self) -> pl.DataFrame:
        """Return the rows, by document and hash."""
        empty = pl.DataFrame(schema={"hash": pl.UInt64, "document": pl.Int32})
        return pl.concat([empty, *self._found]).sort("document", "hash")


def find_copies(documents: Sequence[Path], ids: pl.Series, bands: Bands) -> dict[str, str]:
    """Find the documents that are copies; return what each is a copy of, by id.

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


def describe_copies(copies: Mapping[str, str], ids: pl.Series) -> dict[str, Any]:
    """Return how many documents are copies, and which files have copies of which.

    Parameters
    ----------
    ids : pl.Series
        All ids. Of documents of a folder, the file stands before the first `#`.

    Returns
    -------
    dict
        `documents`; `files`, those with the most copies first, each with `file`, its number of `documents`,
        that of `copies` among them, the file `of` most of them, and how many are `of_it`; `files_in_all`.
    """
    of: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for doc_id, other in copies.items():
        of[_name_file(doc_id)][_name_file(other)] += 1
    sizes = Counter(map(_name_file, ids)) if copies else Counter()
    files = sorted(of, key=lambda file: (-of[file].total(), file))
    rows = []
    for file in files[:_SHOWN]:
        other, count = min(of[file].items(), key=lambda item: (-item[1], item[0]))
        copied = of[file].total()
        rows.append({"file": file, "documents": sizes[file], "copies": copied, "of": other, "of_it": count})
    return {"documents": len(copies), "files": rows, "files_in_all": len(files)}


def _name_file(doc_id: str) -> str:
    return doc_id.partition("#")[0]
