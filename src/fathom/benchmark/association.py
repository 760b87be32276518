"""Association of a target with the words before it, by counts without its own document.

A field's own words are more frequent in the field than outside. A target is associated with a prompt if it
follows one of them, among the prompt's last content words, more often than by chance [PMI] in other
documents of the field.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.benchmark.gifts import OWN_TERM, English, GiftFinder, count_english, number_words
from fathom.benchmark.word_counts import (
    Distinct,
    LeaveOneOutCounts,
    Lexicon,
    Numbers,
    Tally,
    Windows,
    Words,
    list_followers,
    list_windows,
)
from fathom.io.contracts.benchmark import ASSOCIATIONS
from fathom.io.tables import make_empty_table
from fathom.jobs.program import log

LEAST_DOCUMENTS = 100
"""Fewest documents in a field to find associated words, and outside to find the field's own words."""
LEAST = 3
"""Fewest joint uses of two words in other documents."""
_OWN = 1.5
"""Ratio to the frequency outside from which a word is a field's own."""

Read = Callable[[], Iterable[pl.DataFrame]]
"""Reads the sentences of a field: doc_id, position, clean, those of a document in one frame."""
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


class OutsideCounts(NamedTuple):
    """What stands outside a field: content words, uses of each, and of each after the words before it.

    `text` has its words in order; unknown for general English.
    """

    content: int
    words: Tally
    followers: Tally
    text: Words | None = None


class Bond(NamedTuple):
    """Bond between a term and the words before it.

    `association`: logarithm of how many times as frequent it is after one of the field's own words; NaN if
    unknown.
    """

    association: float
    gift: bool  # whether no knowledge of the field is needed


_UNKNOWN = Bond(float("nan"), False)


class Associations:
    """Associations of the terms of matched sentences.

    `rows`: under ASSOCIATIONS, in any order. `otherwise`: that of every other term; nothing: they have no
    association and are gifts.
    """

    def __init__(self, rows: pl.DataFrame, otherwise: Bond | None = None) -> None:
        self._otherwise = otherwise or Bond(0.0, True)
        ordered = rows.sort("doc_id", "position", "start")
        runs = ordered.with_row_index("row").group_by("doc_id", "position", maintain_order=True)
        self._runs = {
            (doc_id, position): (first, first + count)
            for doc_id, position, first, count in runs.agg(pl.first("row"), pl.len()).iter_rows()
        }
        self._starts, self._associations, self._gifts = (
            ordered[name].to_numpy() for name in ("start", *Bond._fields)
        )

    def find(self, doc_id: str, position: int, start: int) -> Bond:
        """Return the bond of a term with the words before it, by its first letter."""
        first, end = self._runs.get((doc_id, position), (0, 0))
        place = first + int(np.searchsorted(self._starts[first:end], start))
        if place == end or self._starts[place] != start:
            return self._otherwise
        return Bond(float(self._associations[place]), bool(self._gifts[place]))

    @classmethod
    def unknown(cls) -> "Associations":
        """Return unknown associations."""
        return cls(make_empty_table(ASSOCIATIONS), _UNKNOWN)


class AssociationFinder:
    """Counts the sentences of a field, then finds the association of terms with the words before them.

    Equal sentences count once. Only combinations of one of the field's own words with a term are counted;
    rare ones are dropped. `read`: reads the field's sentences; called three times.
    """

    def __init__(
        self,
        read: Read,
        outside: Collection[str],
        terms: Collection[str],
        function_words: Collection[str],
        general_words: Collection[str] = (),
    ) -> None:
        self._read, self._lexicon = read, Lexicon(function_words)
        self._texts = len(outside)
        self._words, self._documents = self._count_words()
        self._content = int(self._words.counts.sum())
        english = count_english(self._lexicon)
        few = self._texts < LEAST_DOCUMENTS
        self._outside = OutsideCounts(*english[:3]) if few else self._count_outside(outside)
        self._terms = number_words(self._lexicon, terms)
        self._gifts = self._prepare_gifts(english, number_words(self._lexicon, general_words))
        # its words were counted, and take memory
        self._outside = self._outside._replace(text=None)
        self._own = self._find_own()
        self._sizes, self._pairs, self._followers = self._count_windows()

    def describe(self) -> dict[str, int]:
        """Return the report: counts of what was read."""
        report = {
            "documents": self._documents,
            "documents_outside": self._texts,
            "content_words": self._content,
            "own_words": len(self._own),
            "combinations": len(self._pairs.keys),
        }
        if self._documents < LEAST_DOCUMENTS:
            log.warning(
                "%s documents are fewer than %s: associations are unknown, and all pairs pass",
                self._documents, LEAST_DOCUMENTS,
            )  # fmt: skip
        elif self._texts < LEAST_DOCUMENTS:
            log.warning(
                "%s documents are outside the domain, fewer than %s: general English decides its own words",
                self._texts, LEAST_DOCUMENTS,
            )  # fmt: skip
        else:
            log.info("counted: %s", report)
        return report

    def find(self, matched: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Find how much each term of some sentences belongs to the words before it.

        The association of a term is the largest logarithm, to base 2, of how many times as frequent it is in
        the windows after one of the field's own words, among the last content words, as it is in the field
        [PMI]; a count is lessened by its standard error. What the document says, and copies of the sentence,
        do not count. It is 0 if fewer than :data:`LEAST` uses are left, or if the term after the word right
        before it is less frequent in the field than outside. So it is if the term itself is, unless one of
        the field's own words right before it has it :data:`LEAST` times, as `Yule` has `process`. Yielded:
        under ASSOCIATIONS; gifts without association have no row. Of a field of fewer than
        :data:`LEAST_DOCUMENTS` documents, everything is NaN, and no term a gift.
        """
        for frame in self._read():
            chosen = frame.join(matched, on=["doc_id", "position"], how="semi", maintain_order="left")
            if chosen.is_empty():
                continue
            yield self._associate(chosen, frame) if self._documents >= LEAST_DOCUMENTS else self._list(chosen)

    def _count_words(self) -> tuple[Tally, int]:
        distinct, found, documents = Distinct(), Tally(), 0
        for frame in self._read():
            documents += frame["doc_id"].n_unique()
            words = self._lexicon.read(distinct.select_new(frame["clean"]))
            found.add(words.numbers[words.content])
        return found.merge(), documents

    def _count_outside(self, texts: Collection[str]) -> OutsideCounts:
        words = self._lexicon.read(texts)
        return OutsideCounts(
            int(words.content.sum()),
            Tally.of(words.numbers[words.content]),
            Tally.of(list_followers(words).join()),
            words,
        )

    def _find_own(self) -> Numbers:
        """Return the words that are the field's own, frequent enough to be followed by something."""
        candidates = self._words.keys[self._words.counts >= LEAST]
        here = self._words.find(candidates) / max(1, self._content)
        return candidates[here >= _OWN * self._rate_outside(self._outside.words.find(candidates))]

    def _prepare_gifts(self, english: English, general: Numbers) -> GiftFinder:
        here = self._words.find(self._terms) / max(1, self._content)
        outside = self._rate_outside(self._outside.words.find(self._terms))
        return GiftFinder(english, self._outside.text, general, self._terms[here >= OWN_TERM * outside])

    def _rate_outside(self, counts: Numbers) -> Floats:
        """Return frequencies of words outside; a word that never occurs counts half a time."""
        return np.asarray((counts + 0.5) / (self._outside.content + 0.5), dtype=np.float64)

    def _count_windows(self) -> tuple[Tally, Tally, Tally]:
        distinct, sizes, pairs, followers = Distinct(), Tally(), Tally(), Tally()
        for frame in self._read():
            words = self._lexicon.read(distinct.select_new(frame["clean"]))
            windows = self._keep_own(list_windows(words))
            sizes.add(windows.contexts)
            pairs.add(self._keep_terms(windows).join())
            followers.add(self._keep_terms(list_followers(words)).join())
        for each in (sizes, pairs, followers):
            each.merge()
        pairs.keep(LEAST)
        return sizes, pairs, followers

    def _keep_own(self, windows: Windows) -> Windows:
        return windows.select(np.isin(windows.contexts, self._own))

    def _keep_terms(self, windows: Windows) -> Windows:
        return windows.select(np.isin(windows.targets, self._terms))

    def _associate(self, chosen: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
        numbers = {doc_id: number for number, doc_id in enumerate(dict.fromkeys(frame["doc_id"]))}
        sentences = frame.unique(["doc_id", "clean"], maintain_order=True)
        own = self._lexicon.read(sentences["clean"])
        own_documents = _number(sentences, numbers)[own.sentences]
        others = self._leave_out(own, own_documents, len(numbers))
        words = self._lexicon.read(chosen["clean"])
        documents = _number(chosen, numbers)[words.sentences]
        windows = self._keep_terms(self._keep_own(list_windows(words)))
        # a window has a word before its target, so the one before the target's place is in the sentence
        before = Windows(words.numbers[windows.places - 1], windows.targets, windows.places)
        best = np.zeros(len(words.numbers))
        np.maximum.at(best, windows.places, self._score(windows, before, documents[windows.places], others))
        rate = others.words.find(documents, words.numbers) / np.maximum(1, others.content[documents])
        outside = self._rate_outside(self._outside.words.find(words.numbers))
        gifts = self._gifts.find(words, rate, outside)
        kept = np.isin(words.numbers, self._terms) & words.content & ((best > 0) | ~gifts)
        return _make_rows(chosen, words, kept, best, gifts)

    def _leave_out(self, words: Words, documents: Numbers, count: int) -> "_Others":
        """Return the field's counts without each of `count` documents, whose words these are."""
        windows, followers = self._keep_own(list_windows(words)), self._keep_terms(list_followers(words))
        pairs = self._keep_terms(windows)
        own = np.bincount(documents[words.content], minlength=count)
        return _Others(
            self._content - own,
            LeaveOneOutCounts(self._words, documents[words.content], words.numbers[words.content]),
            LeaveOneOutCounts(self._sizes, documents[windows.places], windows.contexts),
            LeaveOneOutCounts(self._pairs, documents[pairs.places], pairs.join()),
            LeaveOneOutCounts(self._followers, documents[followers.places], followers.join()),
        )

    def _score(self, windows: Windows, before: Windows, documents: Numbers, others: "_Others") -> Floats:
        pairs = others.pairs.find(documents, windows.join())
        uses = others.words.find(documents, windows.targets)
        content = np.maximum(1, others.content[documents])
        rate = uses / content
        following = others.followers.find(documents, before.join())
        # `process` is no word of the field, but completes its `Yule process`
        completes = (windows.contexts == before.contexts) & (following >= LEAST)
        counted = completes | (rate >= self._rate_outside(self._outside.words.find(windows.targets)))
        after = self._outside.followers.find(before.join()) / max(1, self._outside.content)
        counted &= (pairs >= LEAST) & (following / content >= after)
        sizes = others.sizes.find(documents, windows.contexts)
        found = np.zeros(len(pairs))
        less = pairs[counted] - np.sqrt(pairs[counted])
        found[counted] = np.log2(less / (sizes[counted] * rate[counted]))
        return found

    def _list(self, chosen: pl.DataFrame) -> pl.DataFrame:
        words = self._lexicon.read(chosen["clean"])
        unknown = np.full(len(words.numbers), np.nan)
        terms = np.isin(words.numbers, self._terms)
        return _make_rows(chosen, words, terms, unknown, np.zeros(len(unknown), dtype=bool))


def join_documents(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield frames of sentences sorted by doc_id, none of which splits a document."""
    kept: pl.DataFrame | None = None
    for frame in frames:
        if frame.is_empty():
            continue
        both = frame if kept is None else pl.concat([kept, frame])
        last = both["doc_id"] == both["doc_id"][-1]
        kept = both.filter(last)
        if not last.all():
            yield both.filter(~last)
    if kept is not None:
        yield kept


class _Others(NamedTuple):
    """Counts of a field without one document each: content words, and as in :class:`AssociationFinder`."""

    content: Numbers
    words: LeaveOneOutCounts
    sizes: LeaveOneOutCounts
    pairs: LeaveOneOutCounts
    followers: LeaveOneOutCounts


def _number(sentences: pl.DataFrame, numbers: Mapping[str, int]) -> Numbers:
    return np.array([numbers[doc_id] for doc_id in sentences["doc_id"]], dtype=np.int64)


def _make_rows(
    chosen: pl.DataFrame, words: Words, kept: Flags, associations: Floats, gifts: Flags
) -> pl.DataFrame:
    places = np.flatnonzero(kept)
    schema = make_empty_table(ASSOCIATIONS).schema
    rows = chosen[words.sentences[places]].select("doc_id", "position")
    columns = (
        pl.Series("start", words.starts[places]),
        pl.Series("association", associations[places].round(3)),
        pl.Series("gift", gifts[places]),
    )
    return rows.with_columns(columns).cast(schema)
