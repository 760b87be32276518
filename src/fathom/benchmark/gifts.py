"""Gifts: terms that the words before them give away to a reader without knowledge of the field.

A term is a gift if it is hardly more frequent in the field than outside, if a small n-gram model of text
outside has it among its first guesses, or if it often follows the previous word in general English. No
language model is used.
"""

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.benchmark.background import load_background
from fathom.benchmark.word_counts import (
    SHIFT,
    Lexicon,
    Numbers,
    Tally,
    Words,
    list_followers,
    list_windows,
    locate,
)

_LEAST = 3
"""Fewest windows of an informative word."""
_WEIGHT = 0.6
_FLOOR = -0.7
"""Lower bound on a word's log-evidence against a term, and weight of all words of the window."""
_CHUNK = 256  # places to guess at a time; does not change the result
_MIX = np.uint64(0x9E3779B97F4A7C15)
_POSITIVE = np.uint64(2**63 - 1)

Floats = NDArray[np.float64]
OWN_TERM = 3.0
"""Ratio to the frequency outside from which a term is a field's own."""

# chosen by reading pairs of cs.CV, quant-ph, eess.SP and math.NA: docs/results/gifts.md
_OWN_BESIDE_ENGLISH = 8.0
_GUESSES = 3
_TERMS_TO_A_GUESS = 10  # with few terms, one in three guesses is right by chance
_SAID_IN_ENGLISH = 0.01
_ENGLISH = 10**12

Flags = NDArray[np.bool_]


class _Table(NamedTuple):
    """Uses of terms after contexts: those of one context lie between its two `bounds`.

    `sizes` counts all content words after a context, `kinds` the distinct ones.
    """

    contexts: Numbers
    sizes: Numbers
    kinds: Numbers
    bounds: Numbers
    columns: Numbers
    counts: Numbers

    def locate(self, contexts: Numbers) -> Numbers:
        """Return the row of each context, -1 if absent."""
        return locate(self.contexts, contexts)

    def gather(self, rows: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return of each use after the contexts in `rows` its place in `rows`, its column and its count."""
        lengths = self.bounds[rows + 1] - self.bounds[rows]
        places = np.repeat(np.arange(len(rows)), lengths)
        firsts = np.repeat(self.bounds[rows] - np.cumsum(lengths) + lengths, lengths)
        entries = firsts + np.arange(len(places))
        return places, self.columns[entries], self.counts[entries]


class OutsideGuess:
    """Ranks a field's own terms by how likely text outside the field makes them.

    `words`: text outside the field. `terms` (array of int64 of shape (n_terms,)): numbers of the terms,
    sorted.
    """

    def __init__(self, words: Words, terms: Numbers) -> None:
        self._terms = terms
        content = words.numbers[words.content]
        uses = Tally.of(content).find(terms) + 0.5
        self._prior: Floats = np.asarray(uses / max(1.0, len(content) + 0.5 * len(terms)), dtype=np.float64)
        self._orders = [_count(terms, *_list_contexts(words, order)[:2]) for order in (1, 2)]
        windows = list_windows(words)
        self._windows = _count(terms, windows.contexts, windows.targets)

    def rank(self, words: Words) -> Numbers:
        """Return how many other terms are likelier at the place of each word; -1 if it is not an own term."""
        ranks = np.full(len(words.numbers), -1, dtype=np.int64)
        places = np.flatnonzero(np.isin(words.numbers, self._terms) & words.content)
        contexts = [_align(words, order) for order in (1, 2)]
        windows = list_windows(words)
        order = np.argsort(windows.places, kind="stable")
        window_places, window_contexts = windows.places[order], windows.contexts[order]
        for start in range(0, len(places), _CHUNK):
            part = places[start : start + _CHUNK]
            logs = np.log(self._predict([each[part] for each in contexts]))
            first, last = np.searchsorted(window_places, (part[0], part[-1] + 1))
            inside = np.searchsorted(part, window_places[first:last])
            inside = np.minimum(inside, len(part) - 1)
            kept = part[inside] == window_places[first:last]
            self._add_windows(logs, inside[kept], window_contexts[first:last][kept])
            own = np.searchsorted(self._terms, words.numbers[part])
            mine = logs[np.arange(len(part)), own]
            # ties are no better guesses; rounded, as the last digits of a sum depend on the machine
            ranks[part] = (logs.round(9) > mine.round(9)[:, None]).sum(axis=1)
        return ranks

    def _predict(self, contexts: list[Numbers]) -> Floats:
        """Return how likely each term is after the words before places, of shape (n_places, n_terms)."""
        shares = np.tile(self._prior, (len(contexts[0]), 1))
        for table, found in zip(self._orders, contexts, strict=True):
            rows = table.locate(found)
            known = np.flatnonzero(rows >= 0)
            sizes, kinds = table.sizes[rows[known]], table.kinds[rows[known]]
            shares[known] *= (kinds / (sizes + kinds))[:, None]
            inside, columns, counts = table.gather(rows[known])
            shares[known[inside], columns] += counts / (sizes + kinds)[inside]
        return shares

    def _add_windows(self, logs: Floats, places: Numbers, contexts: Numbers) -> None:
        rows = self._windows.locate(contexts)
        rows, places = rows[rows >= 0], places[rows >= 0]
        frequent = self._windows.sizes[rows] >= _LEAST
        rows, places = rows[frequent], places[frequent]
        sizes = self._windows.sizes[rows]
        inside, columns, counts = self._windows.gather(rows)
        prior, total = self._prior[columns], sizes[inside] + _LEAST
        said = np.maximum(np.log((counts + _LEAST * prior) / (total * prior)), _FLOOR)
        # the evidence against terms that never follow is the same for all
        never = np.maximum(np.log(_LEAST / total), _FLOOR)
        np.add.at(logs, (places[inside], columns), _WEIGHT * (said - never))


def _align(words: Words, order: int) -> Numbers:
    """Return one number for the `order` words before each word, -1 if its sentence has fewer."""
    found = np.full(len(words.numbers), -1, dtype=np.int64)
    contexts, _, places = _list_contexts(words, order)
    found[places] = contexts
    return found


def _list_contexts(words: Words, order: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return contexts, words and places of all content words with `order` words before them."""
    inside = words.sentences[order:] == words.sentences[:-order]
    places = np.flatnonzero(words.content[order:] & inside) + order
    contexts = words.numbers[places - order]
    for step in range(order - 1, 0, -1):
        # of 64 bits, so that no two contexts of a corpus meet; -1 stays free
        mixed = contexts.astype(np.uint64) * _MIX + words.numbers[places - step].astype(np.uint64)
        contexts = (mixed & _POSITIVE).astype(np.int64)
    return contexts, words.numbers[places], places


def _count(terms: Numbers, contexts: Numbers, targets: Numbers) -> _Table:
    names, rows = np.unique(contexts, return_inverse=True)
    pairs = Tally.of((rows << SHIFT) | targets)
    pair_rows, pair_targets = pairs.keys >> SHIFT, pairs.keys & (2**SHIFT - 1)
    kept = np.isin(pair_targets, terms)
    bounds = np.searchsorted(pair_rows[kept], np.arange(len(names) + 1))
    return _Table(
        names,
        np.bincount(rows, minlength=len(names)),
        np.bincount(pair_rows, minlength=len(names)),
        bounds,
        np.searchsorted(terms, pair_targets[kept]),
        pairs.counts[kept],
    )


class English(NamedTuple):
    """Content words of a trillion words of general English, uses of each, and of two in a row.

    `sizes` counts the content words right after a word.
    """

    content: int
    words: Tally
    followers: Tally
    sizes: Tally


def count_english(lexicon: Lexicon) -> English:
    """Return how frequent words are in general English, and which follow which."""
    forms, uses, first, second, together = _list_english()
    numbers = np.array([lexicon.find(form) for form in forms], dtype=np.int64)
    words = Tally.of(numbers, uses)
    followers = Tally.of((numbers[first] << SHIFT) | numbers[second], together)
    content = lexicon.is_content()
    after = content[followers.keys & (2**SHIFT - 1)]
    sizes = Tally.of(followers.keys[after] >> SHIFT, followers.counts[after])
    return English(int(words.counts[content[words.keys]].sum()), words, followers, sizes)


@cache
def _list_english() -> tuple[list[str], Numbers, Numbers, Numbers, Numbers]:
    """Return forms of words and their uses; places of two forms in a row, and their uses together."""
    english = load_background(str)
    forms = sorted({*english.words, *(form for pair in english.pairs for form in pair)})
    places = {form: place for place, form in enumerate(forms)}
    first, second = (
        np.array([places[pair[side]] for pair in english.pairs], dtype=np.int64) for side in (0, 1)
    )
    uses = [round(english.words.get(form, 0.0) * _ENGLISH) for form in forms]
    together = [round(share * _ENGLISH) for share in english.pairs.values()]
    return forms, np.array(uses, dtype=np.int64), first, second, np.array(together, dtype=np.int64)


class GiftFinder:
    """Finds terms that need no knowledge of a field.

    `outside`: text outside the field; None: too little, so general English replaces it. `general`: numbers of
    words used in papers of every field; compared only with general English, they have to be twice as frequent
    in the field. `own_terms`: terms that are the field's own, sorted.
    """

    def __init__(self, english: English, outside: Words | None, general: Numbers, own_terms: Numbers) -> None:
        self._english, self._general = english, general
        self._guess = None if outside is None else OutsideGuess(outside, own_terms)
        self._guesses = min(_GUESSES, len(own_terms) // _TERMS_TO_A_GUESS)

    def find(self, words: Words, rate: Floats, rate_outside: Floats) -> Flags:
        """Return which words of some sentences are gifts.

        Parameters
        ----------
        words : Words
        rate, rate_outside : array of float64 of shape (n_words,)
            How frequent each word is in the field, in other documents, and outside.
        """
        english: Flags = self._measure_english(words) >= _SAID_IN_ENGLISH
        if self._guess is None:
            general = np.isin(words.numbers, self._general)
            return english | (rate < np.where(general, 2, 1) * _OWN_BESIDE_ENGLISH * rate_outside)
        return english | (rate < OWN_TERM * rate_outside) | (self._guess.rank(words) < self._guesses)

    def _measure_english(self, words: Words) -> Floats:
        """Return each word's share of the content words that follow the previous one in English."""
        shares = np.zeros(len(words.numbers))
        found = list_followers(words)
        uses = self._english.followers.find(found.join())
        shares[found.places] = uses / np.maximum(1, self._english.sizes.find(found.contexts))
        return shares


def number_words(lexicon: Lexicon, words: Collection[str]) -> Numbers:
    """Return the numbers of words, sorted."""
    return np.unique([lexicon.find(word) for word in sorted(words)]).astype(np.int64)
