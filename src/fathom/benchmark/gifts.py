"""Gifts: terms that the words before them give to a reader without knowledge of the field.

A term is a gift if it is hardly more frequent in the field than outside, or if what stands before it says it
already: in text outside the field, or in general English. No language model is asked.
"""

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.benchmark.background import load_background
from fathom.benchmark.continuations import Continuations
from fathom.benchmark.word_counts import SHIFT, Lexicon, Numbers, Tally, Words

LEAST = 3
"""Fewest uses outside of a term after the words before it."""

# chosen on pairs of cs.CV and quant-ph, read: docs/results/gifts.md
_OWN_TERM = 1.5
_OWN_BESIDE_ENGLISH = 8.0
_GENERAL = 2.0
_SAID_OUTSIDE = 0.3
_SAID_IN_ENGLISH = 0.01
_ENGLISH = 10**12

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


class English(NamedTuple):
    """What a million million words of general English hold: content words, uses of each, and of two in a row.

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

    Parameters
    ----------
    english : English
    outside : Continuations, optional
        What stands outside the field; nothing: too little to tell, and general English stands in its place.
    general : array of int64
        Numbers of words that papers of every field use, which have to be twice as much the field's own.
    """

    def __init__(self, english: English, outside: Continuations | None, general: Numbers) -> None:
        self._english, self._outside, self._general = english, outside, general
        self._own = _OWN_TERM if outside else _OWN_BESIDE_ENGLISH

    def find(self, words: Words, rate: Floats, rate_outside: Floats) -> Flags:
        """Return which words of some sentences are gifts.

        Parameters
        ----------
        words : Words
        rate, rate_outside : array of float64 of shape (n_words,)
            How frequent each word is in the field, in other documents, and outside.
        """
        factor = np.where(np.isin(words.numbers, self._general), self._own * _GENERAL, self._own)
        found: Flags = rate < factor * rate_outside
        if self._outside is not None:
            found |= self._outside.measure_all(words, LEAST) >= _SAID_OUTSIDE
        found |= self._measure_english(words) >= _SAID_IN_ENGLISH
        return found

    def _measure_english(self, words: Words) -> Floats:
        """Return which share each word has of the content words that follow the one before it in English."""
        shares = np.zeros(len(words.numbers))
        places = np.flatnonzero(words.content[1:] & (words.sentences[1:] == words.sentences[:-1])) + 1
        before = words.numbers[places - 1]
        uses = self._english.followers.find((before << SHIFT) | words.numbers[places])
        shares[places] = uses / np.maximum(1, self._english.sizes.find(before))
        return shares


def number_words(lexicon: Lexicon, words: Collection[str]) -> Numbers:
    """Return the numbers of words, sorted."""
    return np.unique([lexicon.find(word) for word in sorted(words)]).astype(np.int64)
