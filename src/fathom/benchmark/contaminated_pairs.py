"""Pairs of a benchmark that occur in a corpus, such as training data or another benchmark.

*Exact*: 13 words in a row occur there, the usual rule [GPT3, App. C]. *Near*: one passage has most of the
pair's sequences of three words, as in a copy with some words changed. Passages are compared directly, not
by samples of hashes, so nothing above the threshold is missed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.corpus.fingerprints import Hashes, hash_windows, hash_words
from fathom.io.contracts.benchmark import CONTAMINATION
from fathom.io.tables import make_empty_table
from fathom.jobs.program import log

EXACT = 13
"""Words in a row of an exact match; all words of a shorter pair."""
NEAR = 3
"""Length of the word sequences that a near match shares."""
THRESHOLD = 0.5
"""Share of a pair's sequences in one passage from which it is a near match."""
FEWEST = 6
"""Fewest words of a pair to look for: fewer occur in any corpus."""
_COMMON = 0.02
"""A sequence in more than this share of the pairs is ignored."""
_ROOM = 1.25
"""Length of a passage, in lengths of the pair: words may have been added."""

_TOGETHER = 500_000
"""Characters of texts to search at once."""

Integers = NDArray[np.int64]


class _Index(NamedTuple):
    """Hashes of sequences, and the pairs that hold hash i: owners[starts[i]:starts[i + 1]]."""

    hashes: Hashes
    starts: Integers
    owners: Integers

    def find(self, windows: Hashes) -> tuple[Integers, Integers, Integers]:
        """Return position in the text, pair, and number of the hash of every shared sequence."""
        if not len(self.hashes) or not len(windows):
            none = np.zeros(0, dtype=np.int64)
            return none, none, none
        at = np.searchsorted(self.hashes, windows).clip(max=len(self.hashes) - 1)
        places = np.flatnonzero(self.hashes[at] == windows)
        found = at[places]
        counts = self.starts[found + 1] - self.starts[found]
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        owners = self.owners[np.repeat(self.starts[found], counts) + offsets]
        return np.repeat(places, counts), owners, np.repeat(found, counts)


def _make_index(sequences: Sequence[Hashes], most: float) -> tuple[_Index, Integers]:
    """Return the index of all pairs' distinct sequences, and how many of them each pair has.

    Sequences that more than `most` pairs hold are left out.
    """
    distinct = [np.unique(each) for each in sequences]
    owners = np.repeat(np.arange(len(distinct)), [len(each) for each in distinct])
    every = np.concatenate([np.zeros(0, np.uint64), *distinct])
    order = np.argsort(every, kind="stable")
    hashes, counts = np.unique(every, return_counts=True)
    owners = owners[order][np.repeat(counts <= most, counts)]
    hashes, counts = hashes[counts <= most], counts[counts <= most]
    index = _Index(hashes, np.concatenate([[0], np.cumsum(counts)]), owners)
    return index, np.bincount(owners, minlength=len(distinct))


class _Searcher:
    """Searches texts for pairs, and keeps the best passage for each."""

    def __init__(self, sentences: Sequence[str], threshold: float) -> None:
        words = [hash_words(sentence) for sentence in sentences]
        self.words = np.array([len(each) for each in words], dtype=np.int64)
        self._threshold = threshold
        known = [each if len(each) >= FEWEST else each[:0] for each in words]
        most = max(10.0, _COMMON * len(words))
        self._near, self._total = _make_index([hash_windows(each, NEAR) for each in known], most)
        sizes = sorted({min(EXACT, len(each)) for each in known if len(each)})
        self._exact = {
            size: _make_index(
                [hash_windows(each, size) if min(EXACT, len(each)) == size else each[:0] for each in known],
                np.inf,
            )[0]
            for size in sizes
        }
        self._seen = {size: np.zeros(len(index.owners), dtype=bool) for size, index in self._exact.items()}
        self.share = np.zeros(len(words))
        self.source: list[str] = [""] * len(words)

    @property
    def exact(self) -> Integers:
        """How many of each pair's sequences of EXACT words occur in the texts."""
        counts = np.zeros(len(self.words), dtype=np.int64)
        for size, index in self._exact.items():
            counts += np.bincount(index.owners[self._seen[size]], minlength=len(counts))
        return counts

    def search(self, texts: Sequence[str], sources: Sequence[str]) -> None:
        """Search some texts, joined into one, for all pairs: arrays of short texts are mostly overhead."""
        parts = [hash_words(text) for text in texts]
        ends = np.cumsum([len(part) + 1 for part in parts])
        # no word has the hash 0, so no sequence goes on from one text into the next
        words = np.concatenate([np.append(part, np.uint64(0)) for part in parts])
        for size, index in self._exact.items():
            places, owners, numbers = index.find(hash_windows(words, size))
            self._mark(size, numbers)
            first, at = np.unique(owners, return_index=True)
            for pair, text in zip(
                first.tolist(), np.searchsorted(ends, places[at], "right").tolist(), strict=True
            ):
                self.source[pair] = self.source[pair] or sources[text]
        self._search_near(words, ends, sources)

    def _mark(self, size: int, numbers: Integers) -> None:
        index = self._exact[size]
        for number in np.unique(numbers).tolist():
            self._seen[size][index.starts[number] : index.starts[number + 1]] = True

    def _search_near(self, words: Hashes, ends: Integers, sources: Sequence[str]) -> None:
        """Look for passages that hold most of a pair; `ends` says where each text ends."""
        places, owners, numbers = self._near.find(hash_windows(words, NEAR))
        keys = np.searchsorted(ends, places, "right") * len(self.words) + owners
        order = np.lexsort((numbers, keys))
        keys, sorted_numbers = keys[order], numbers[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (np.diff(keys) != 0) | (np.diff(sorted_numbers) != 0)
        groups, counts = np.unique(keys[first], return_counts=True)
        enough = np.maximum(self._threshold, self.share) * self._total
        for key in groups[counts >= enough[groups % len(self.words)]].tolist():
            text, pair = divmod(key, len(self.words))
            here = order[np.searchsorted(keys, key) : np.searchsorted(keys, key, "right")]
            best = _count_in_passage(places[here], numbers[here], int(_ROOM * self.words[pair]))
            share = best / self._total[pair]
            if share >= self._threshold and share > self.share[pair]:
                self.share[pair], self.source[pair] = share, sources[text]


def _count_in_passage(places: Integers, numbers: Integers, length: int) -> int:
    counts: dict[int, int] = {}
    best = start = 0
    order = np.argsort(places, kind="stable").tolist()
    for end in order:
        counts[int(numbers[end])] = counts.get(int(numbers[end]), 0) + 1
        while places[end] - places[order[start]] >= length:
            first = int(numbers[order[start]])
            counts[first] -= 1
            if not counts[first]:
                del counts[first]
            start += 1
        best = max(best, len(counts))
    return best


def find_contamination(
    pairs: pl.DataFrame, texts: Iterable[tuple[str, str]], threshold: float = THRESHOLD
) -> pl.DataFrame:
    """Look for the pairs of a benchmark in the texts of a corpus.

    Returned: under contract CONTAMINATION, in the order of the pairs. A longer corpus never unflags a pair.

    Parameters
    ----------
    pairs : polars.DataFrame
        With the columns pair_id, prompt and target.
    texts : iterable of (str, str)
        Text and its name; half a megabyte, or one text, is in memory at a time.
    threshold : float
        Share of a pair's sequences of NEAR words in one passage that makes a near match.
    """
    searcher = _Searcher(
        [prompt + target for prompt, target in pairs.select("prompt", "target").iter_rows()], threshold
    )
    for some in _join_short(texts):
        searcher.search(*zip(*some, strict=True))
    columns = {
        "pair_id": pairs["pair_id"],
        "words": searcher.words,
        "exact": searcher.exact,
        "near": searcher.share,
        "source": searcher.source,
    }
    return pl.DataFrame(columns, schema=make_empty_table(CONTAMINATION).schema)


def _join_short(texts: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    waiting: list[tuple[str, str]] = []
    size = 0
    for text, source in texts:
        waiting.append((text, source))
        size += len(text)
        if size >= _TOGETHER:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def flag_contamination(table: pl.DataFrame) -> pl.DataFrame:
    """Return the ids of the pairs that occur in the corpus, exactly or nearly, as column pair_id."""
    return table.filter((pl.col("exact") > 0) | (pl.col("near") > 0)).select("pair_id")


def report_contamination(table: pl.DataFrame, texts: int) -> Mapping[str, Any]:
    """Return counts of the pairs that occur in the corpus, and log them."""
    found = {
        "pairs": len(table),
        "texts": texts,
        "exact": int((table["exact"] > 0).sum()),
        "near": int((table["near"] > 0).sum()),
        "either": len(flag_contamination(table)),
        "too_short": int((table["words"] < FEWEST).sum()),
    }
    log.info(
        "%s of %s pairs occur in %s texts: %s share %s words in a row, %s have a near copy; %s are too short",
        *(f"{found[name]:,}" for name in ("either", "pairs", "texts", "exact")),
        EXACT,
        *(f"{found[name]:,}" for name in ("near", "too_short")),
    )
    return found
