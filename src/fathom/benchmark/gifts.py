"""Gifts: terms that the words before them give to a reader without knowledge of the field.

A term is a gift if it is hardly more frequent in the field than outside, if a small model of text outside has
it among its first guesses, or if general English has it after the word before it. No language model is asked.
"""

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.benchmark.background import load_background
from fathom.benchmark.outside_guess import OutsideGuess
from fathom.benchmark.word_counts import SHIFT, Lexicon, Numbers, Tally, Words

OWN_TERM = 3.0
"""Times as frequent as outside, from which a term is a field's own."""

# chosen on pairs of cs.CV, quant-ph, eess.SP and math.NA, read: docs/results/gifts.md
_OWN_BESIDE_ENGLISH = 8.0
_GUESSES = 3
_TERMS_TO_A_GUESS = 10  # of few terms, chance guesses one in three
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
    outside : Words, optional
        Text outside the field; nothing: too little to tell, and general English stands in its place.
    general : array of int64
        Numbers of words that papers of every field use; beside general English alone they have to be twice as
        much the field's own.
    own_terms : array of int64
        Terms that are the field's own, sorted.
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
