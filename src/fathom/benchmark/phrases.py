"""Candidate phrases: n-grams that stand together more often than chance has it, and where they occur.

The rule is that of gensim's `Phrases`, count for count and score for score. Words are integers in one array
here, which is many times faster, and nothing is forgotten, however many n-grams there are.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark.normalise import Run
from fathom.config.benchmark import Keywords

MIN_WORDS, MAX_WORDS = 2, 7

_BETWEEN = -1  # stands behind each run
_END = ""  # key of a trie's node that ends a phrase

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Candidates:
    """What was joined: phrases of 2 to 7 words, how many after each pass, and how many were longer."""

    phrases: list[str]
    after_pass: list[int]
    too_long: int


@dataclass(frozen=True)
class Use:
    """How often a phrase occurs, and in how many documents."""

    documents: int
    count: int


def find_candidates(runs: Iterable[Run], settings: Keywords) -> Candidates:
    """Join words by the rule of gensim's Phrases again and again; collect what is joined after every pass.

    Counts depend on content alone, so neither the order of documents nor hash seeds change the result.

    Parameters
    ----------
    runs : iterable of runs
        Normalised text; no n-gram reaches over the end of a run.
    settings : Keywords
        Its passes, min_count and threshold.

    Returns
    -------
    Candidates
        Phrases with one blank between words, sorted.
    """
    found: set[str] = set()
    too_long: set[str] = set()
    after_pass: list[int] = []
    text = _Text(runs)
    for _ in range(settings.passes):
        text.join(settings.min_count, settings.threshold)
        for phrase in text.list_phrases():
            (found if phrase.count(" ") < MAX_WORDS else too_long).add(phrase)
        after_pass.append(len(found))
    return Candidates(sorted(found), after_pass, len(too_long))


class _Text:
    """Runs of tokens as one array of integers; a token is a word, or several that were joined."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        tokens = array("i")
        for run in runs:
            tokens.extend(map(self._numbers.__getitem__, run))
            tokens.append(_BETWEEN)
        self._tokens = np.array(tokens, dtype=np.int32)
        self._names = list(self._numbers)
        self._words = len(self._names)  # tokens from this number on are joined ones

    def list_phrases(self) -> list[str]:
        """Return the joined tokens that stand in the text."""
        return [self._names[number] for number in np.unique(self._tokens[self._tokens >= self._words])]

    def join(self, min_count: int, threshold: float) -> None:
        """Join every two neighbours whose score is above the threshold, from left to right in each run."""
        starts, keys = self._find_pairs()
        pairs, scores = self._score_pairs(keys, min_count)
        accepted = pairs[scores > threshold]
        if len(accepted):
            good = starts[pl.Series(keys).is_in(pl.Series(accepted).implode()).to_numpy()]
            self._replace(good[_choose_alternate(good)], accepted)

    def _find_pairs(self) -> tuple[Numbers, Numbers]:
        """Return where two tokens of one run stand side by side, and both as one number."""
        starts = np.flatnonzero((self._tokens[:-1] != _BETWEEN) & (self._tokens[1:] != _BETWEEN))
        return starts, self._tokens[starts].astype(np.int64) * len(self._names) + self._tokens[starts + 1]

    def _score_pairs(self, keys: Numbers, min_count: int) -> tuple[Numbers, npt.NDArray[np.float64]]:
        """Return the distinct pairs, rising, and the score of each (gensim's `original_scorer`)."""
        size = len(self._names)
        pairs, uses = np.unique(keys, return_counts=True)
        counts = np.bincount(self._tokens[self._tokens != _BETWEEN], minlength=size)
        # gensim counts by name, which is the same: words are joined from left to right, so equal words
        # between two ends are always divided equally, and no two pairs or tokens of a text share a name
        entries = int(np.count_nonzero(counts)) + len(pairs)
        # operation by operation what gensim computes, so that a score on the threshold falls on the same side
        product = (counts[pairs // size] * counts[pairs % size]).astype(np.float64)
        return pairs, (uses - min_count) / product * entries

    def _replace(self, chosen: Numbers, accepted: Numbers) -> None:
        """Replace the tokens at `chosen` and behind each by one that is joined of both."""
        size = len(self._names)
        keys = self._tokens[chosen].astype(np.int64) * size + self._tokens[chosen + 1]
        joined = [
            self._numbers[f"{self._names[pair // size]} {self._names[pair % size]}"]
            for pair in accepted.tolist()
        ]
        self._names = list(self._numbers)
        self._tokens[chosen] = np.array(joined, dtype=np.int32)[np.searchsorted(accepted, keys)]
        self._tokens = np.delete(self._tokens, chosen + 1)


def _choose_alternate(places: Numbers) -> npt.NDArray[np.bool_]:
    """Say which of some rising places to take if none may follow right behind one that is taken."""
    order = np.arange(len(places))
    first = np.diff(places, prepend=-2) != 1
    chosen: npt.NDArray[np.bool_] = (order - np.maximum.accumulate(np.where(first, order, 0))) % 2 == 0
    return chosen


def count_uses(documents: Iterable[Sequence[Run]], phrases: Iterable[str]) -> dict[str, Use]:
    """Count every phrase as a contiguous n-gram of the normalised runs, overlaps included.

    Parameters
    ----------
    documents : iterable of sequences of runs
        One sequence of runs for each document.
    phrases : iterable of str
        Words separated by one blank.

    Returns
    -------
    dict
        Use by phrase, in the order of `phrases`; zeros where a phrase never occurs.
    """
    phrases = list(phrases)
    trie = _build_trie(phrases)
    count: Counter[str] = Counter()
    in_documents: Counter[str] = Counter()
    for runs in documents:
        here: Counter[str] = Counter()
        for run in runs:
            _count_run(run, trie, here)
        count.update(here)
        in_documents.update(here.keys())
    return {phrase: Use(in_documents[phrase], count[phrase]) for phrase in phrases}


def _build_trie(phrases: Iterable[str]) -> dict[str, Any]:
    """Return nested dictionaries by word; `_END` holds the phrase that ends at a node."""
    trie: dict[str, Any] = {}
    for phrase in phrases:
        node = trie
        for word in phrase.split(" "):
            node = node.setdefault(word, {})
        node[_END] = phrase
    return trie


def _count_run(run: Run, trie: dict[str, Any], here: Counter[str]) -> None:
    """Add every occurrence of a phrase in one run to `here`."""
    for start, first in enumerate(run):
        node = trie.get(first)
        place = start + 1
        while node is not None:
            if _END in node:
                here[node[_END]] += 1
            node = node.get(run[place]) if place < len(run) else None
            place += 1
