"""Counts of a field's words and of which follow which, from which one document can be subtracted.

Words are numbers, and forms with one lemma are one word. Memory holds a batch of sentences, the words, and
the counted combinations of a context and a target; rare ones are dropped.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.benchmark.wordlists import load_lemmas

WINDOW = 6
"""Content words before a target that are its context."""

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_LEAST_LETTERS = 3
_PENDING = 20_000_000
"""Most pending combinations before they are added up: 16 bytes each."""

Numbers = NDArray[np.int64]
SHIFT = 32
"""Bits of a target's number in that of a combination."""


@dataclass(frozen=True)
class Words:
    """The words of some sentences, in order.

    `sentences`, `starts` (array of int64 of shape (n_words,)): its sentence, and its first character there.
    """

    numbers: Numbers  # int64 of shape (n_words,): each word's number in the lexicon
    sentences: Numbers
    starts: Numbers
    content: NDArray[np.bool_]  # bool of shape (n_words,): whether it is a content word


@dataclass(frozen=True)
class Windows:
    """Every content word with each of those before it in its sentence, up to :data:`WINDOW`.

    `contexts`, `targets` (array of int64 of shape (n_windows,)): numbers of the two words.
    """

    contexts: Numbers
    targets: Numbers
    places: Numbers  # int64 of shape (n_windows,): place of the target among the words

    def select(self, kept: NDArray[np.bool_]) -> "Windows":
        """Return some of them."""
        return Windows(self.contexts[kept], self.targets[kept], self.places[kept])

    def join(self) -> Numbers:
        """Return one number for each combination of a context and a target."""
        return (self.contexts << SHIFT) | self.targets


class Lexicon:
    """Numbers of words, and flags of content words.

    `function_words`: words in lower case that are no content words.
    """

    def __init__(self, function_words: Collection[str]) -> None:
        self._function_words = frozenset(function_words)
        self._lemmas = load_lemmas()
        self._forms: dict[str, int] = {}
        self._words: dict[str, int] = {}
        self._content: list[bool] = []

    def __len__(self) -> int:
        return len(self._content)

    def find(self, form: str) -> int:
        """Return the number of a form of a word; a new word gets one."""
        number = self._forms.get(form)
        if number is None:
            lower = form.lower()
            functional = lower in self._function_words
            word = lower if functional else self._lemmas.get(lower, lower)
            number = self._words.setdefault(word, len(self._words))
            if number == len(self._content):
                functional = functional or word in self._function_words
                self._content.append(len(word) >= _LEAST_LETTERS and not functional and not word[0].isdigit())
            self._forms[form] = number
        return number

    def is_content(self) -> NDArray[np.bool_]:
        """Return whether each word is a content word."""
        return np.array(self._content, dtype=bool)

    def read(self, texts: Iterable[str]) -> Words:
        """Return the words of sentences."""
        numbers: list[int] = []
        sentences: list[int] = []
        starts: list[int] = []
        for place, text in enumerate(texts):
            found = [(self.find(word[0]), word.start()) for word in _WORD.finditer(text)]
            numbers += [number for number, _ in found]
            starts += [start for _, start in found]
            sentences += [place] * len(found)
        values = np.array(numbers, dtype=np.int64)
        return Words(
            values,
            np.array(sentences, dtype=np.int64),
            np.array(starts, dtype=np.int64),
            self.is_content()[values] if len(values) else np.zeros(0, dtype=bool),
        )


def list_windows(words: Words) -> Windows:
    """List every content word with each of those before it, the nearest first."""
    places = np.flatnonzero(words.content)
    numbers, sentences = words.numbers[places], words.sentences[places]
    parts = []
    for lag in range(1, WINDOW + 1):
        same = np.flatnonzero(sentences[lag:] == sentences[:-lag])
        parts.append((numbers[same], numbers[same + lag], places[same + lag]))
    return Windows(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def list_followers(words: Words) -> Windows:
    """List every content word with the word right before it, of any kind."""
    places = np.flatnonzero(words.content[1:] & (words.sentences[1:] == words.sentences[:-1])) + 1
    return Windows(words.numbers[places - 1], words.numbers[places], places)


def locate(known: Numbers, keys: Numbers) -> Numbers:
    """Return the place of each of some numbers among sorted ones, -1 for others."""
    if not len(known):
        return np.full(len(keys), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, places, -1)


class Tally:
    """Counts of whole numbers, added up batch by batch.

    Memory holds the distinct numbers and up to :data:`_PENDING` pending ones, 16 bytes each.
    """

    def __init__(self) -> None:
        self.keys: Numbers = np.zeros(0, dtype=np.int64)
        self.counts: Numbers = np.zeros(0, dtype=np.int64)
        self._pending: list[tuple[Numbers, Numbers]] = []

    def add(self, keys: Numbers, counts: Numbers | None = None) -> None:
        """Count numbers, each once or as often as `counts` says."""
        self._pending.append(np.unique(keys, return_counts=True) if counts is None else (keys, counts))
        if sum(len(each) for each, _ in self._pending) > _PENDING:
            self.merge()

    def merge(self) -> "Tally":
        """Add up pending numbers."""
        keys = np.concatenate([self.keys, *(each for each, _ in self._pending)])
        counts = np.concatenate([self.counts, *(each for _, each in self._pending)])
        self._pending = []
        self.keys, places = np.unique(keys, return_inverse=True)
        self.counts = np.bincount(places, counts, len(self.keys)).astype(np.int64)
        return self

    def keep(self, least: int) -> None:
        """Drop numbers counted less often."""
        kept = self.counts >= least
        self.keys, self.counts = self.keys[kept], self.counts[kept]

    def locate(self, keys: Numbers) -> Numbers:
        """Return the place of each of some numbers among those counted, -1 for others."""
        return locate(self.keys, keys)

    def find(self, keys: Numbers) -> Numbers:
        """Return the count of each of some numbers, 0 for those that were not counted."""
        return self.counts_at(self.locate(keys))

    def counts_at(self, places: Numbers) -> Numbers:
        """Return the counts at places, 0 at -1."""
        return np.append(self.counts, 0)[places]

    @classmethod
    def of(cls, keys: Numbers, counts: Numbers | None = None) -> "Tally":
        """Return the counts of some numbers."""
        found = cls()
        found.add(keys, counts)
        return found.merge()


class LeaveOneOutCounts:
    """Counts without one document.

    `documents`, `keys` (array of int64 of shape (n_uses,)): documents to leave out, and what they add to the
    counts.
    """

    def __init__(self, total: Tally, documents: Numbers, keys: Numbers) -> None:
        self._total = total
        places = total.locate(keys)
        found = places >= 0
        self._own = Tally.of((documents[found] << SHIFT) | places[found])

    def find(self, documents: Numbers, keys: Numbers) -> Numbers:
        """Return the count of each number without the document beside it."""
        places = self._total.locate(keys)
        own = self._own.find((documents << SHIFT) | np.maximum(places, 0))
        return np.where(places >= 0, self._total.counts_at(places) - own, 0)


class Distinct:
    """Finds new texts by 64-bit hashes, with 8 bytes of memory each."""

    def __init__(self) -> None:
        self._seen = np.zeros(0, dtype=np.uint64)

    def select_new(self, texts: pl.Series) -> pl.Series:
        """Return the texts not seen before, each once."""
        fresh = texts.unique(maintain_order=True)
        hashes = fresh.hash().to_numpy()
        new = ~np.isin(hashes, self._seen)
        self._seen = np.union1d(self._seen, hashes)
        return fresh.filter(pl.Series(new))
