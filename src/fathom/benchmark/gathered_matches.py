"""Gather the matches of all slices in one table; memory holds one keyword at a time."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fathom.errors import InputError
from fathom.io.contracts.benchmark import CANDIDATES
from fathom.io.row_groups import scan_groups

GROUP = 4096
"""Rows in a row group of one slice's matches; one row group of every slice is in memory."""

_COLUMNS = CANDIDATES.names
_PENDING = 1_000_000

Decide = Callable[[str, pl.DataFrame], pl.DataFrame]
"""Takes a keyword and its rows under CANDIDATES; returns those that match, under MATCHES."""

Groups = Iterator[tuple[str, pl.DataFrame]]
"""Keywords in alphabetical order, each with its rows."""


def gather_matches(
    slices: Sequence[Path], keywords: Sequence[str], decide: Decide, write: Callable[[pl.DataFrame], None]
) -> dict[str, Any]:
    """Gather the matches of all slices, each clean sentence once per keyword [RawCorpora, App. A.2].

    Of equal clean sentences of a keyword, the one with the largest cosine stays; ties go to the first
    document and position. Slices are read side by side and merged keyword by keyword: memory holds one
    keyword's matches, a row group of each slice, and 8 bytes for each distinct sentence. `decide`: says
    which candidates of a keyword match; see :func:`fathom.benchmark.matches.decide_matches`. `write`: takes
    the rows of each keyword, under MATCHES, by doc_id and position, in alphabetical order of keywords.
    """
    sentences, documents = _DistinctCounter(), _DistinctCounter()
    by_keyword: dict[str, int] = {}
    read = 0
    for keyword, candidates in merge_groups([scan_groups(path, "keyword", _COLUMNS) for path in slices]):
        rows = decide(keyword, candidates)
        if rows.is_empty():
            continue
        best = rows.sort("clean", "cosine", "doc_id", "position", descending=[False, True, False, False])
        kept = best.unique("clean", keep="first", maintain_order=True).sort("doc_id", "position")
        write(kept)
        read += len(rows)
        by_keyword[keyword] = len(kept)
        sentences.add(kept["clean"])
        documents.add(kept["doc_id"])
    if not by_keyword:
        raise InputError(
            "no sentence matches any keyword",
            hint="check that the domain has documents in the split benchmark, lower matches.min_cosine, or "
            "set matches.named to false",
        )
    sizes = np.array(list(by_keyword.values()))
    return {
        "matches": int(sizes.sum()),
        "dropped_duplicates": read - int(sizes.sum()),
        "sentences": sentences.count(),
        "documents": documents.count(),
        "keywords_with_matches": len(by_keyword),
        "keywords_without_matches": sorted(set(keywords) - set(by_keyword)),
        "sentences_per_keyword": {
            "min": int(sizes.min()),
            "median": float(np.median(sizes)),
            "max": int(sizes.max()),
        },
        "by_keyword": by_keyword,
    }


def merge_groups(slices: Sequence[Groups]) -> Groups:
    """Yield each keyword of any slice once, with its rows of all slices."""
    merged = heapq.merge(*slices, key=itemgetter(0))
    for keyword, group in groupby(merged, key=itemgetter(0)):
        yield keyword, pl.concat(rows for _, rows in group)


def divide_by_keyword(matches: pl.DataFrame) -> Groups:
    """Yield the groups of a table in memory, whatever its order, as :func:`scan_groups` does for a file."""
    for rows in matches.sort("keyword", maintain_order=True).partition_by("keyword", maintain_order=True):
        yield rows["keyword"][0], rows


class _DistinctCounter:
    """Counts distinct texts by 64-bit hashes; ten million texts collide with probability 1 in 370,000."""

    def __init__(self) -> None:
        self._seen = pl.Series(dtype=pl.UInt64)
        self._pending: list[pl.Series] = []

    def add(self, texts: pl.Series) -> None:
        """Add texts; equal ones count once."""
        self._pending.append(texts.hash().unique())
        if sum(map(len, self._pending)) > _PENDING:
            self.count()

    def count(self) -> int:
        """Return the number of distinct texts so far."""
        self._seen = pl.concat([self._seen, *self._pending]).unique()
        self._pending = []
        return len(self._seen)
