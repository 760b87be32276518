"""How large a share words have of what follows the word before them, or the two before them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.benchmark.word_counts import Numbers, Rest, Tally, Words

ORDERS = (1, 2)
"""Words before a term that are looked at, nearest last."""

_MIX = np.uint64(0x9E3779B97F4A7C15)

Floats = NDArray[np.float64]


class Places(NamedTuple):
    """Content words that have as many words before them in their sentence as are looked at.

    Attributes
    ----------
    contexts, joined : array of int64 of shape (n_places,)
        One number for the words before, and one for these and the word itself.
    targets : array of int64 of shape (n_places,)
        Number of the word.
    places : array of int64 of shape (n_places,)
        Its place among the words.
    """

    contexts: Numbers
    joined: Numbers
    targets: Numbers
    places: Numbers


def list_places(words: Words, order: int) -> Places:
    """List every content word that has `order` words before it in its sentence, whatever they are."""
    inside = words.sentences[order:] == words.sentences[:-order]
    places = np.flatnonzero(words.content[order:] & inside) + order
    contexts = words.numbers[places - order]
    for step in range(order - 1, 0, -1):
        contexts = mix(contexts, words.numbers[places - step])
    targets = words.numbers[places]
    return Places(contexts, mix(contexts, targets), targets, places)


def mix(first: Numbers, second: Numbers) -> Numbers:
    """Return one number for two, in this order; of 64 bits, so that no two pairs of a corpus meet."""
    return (first.astype(np.uint64) * _MIX + second.astype(np.uint64)).view(np.int64)


class Located(NamedTuple):
    """Words, and the number of the document that each stands in."""

    words: Words
    documents: Numbers


class Continuations:
    """How often terms, and all content words, follow the same words.

    Parameters
    ----------
    terms : array of int64, optional
        Numbers of the words whose uses are counted; nothing: of all content words.
    """

    def __init__(self, terms: Numbers | None = None) -> None:
        self._terms = terms
        self._uses = [Tally() for _ in ORDERS]
        self._sizes = [Tally() for _ in ORDERS]

    def add(self, words: Words) -> None:
        """Count the words of some sentences."""
        for order, uses, sizes in zip(ORDERS, self._uses, self._sizes, strict=True):
            found = list_places(words, order)
            sizes.add(found.contexts)
            uses.add(
                found.joined if self._terms is None else found.joined[np.isin(found.targets, self._terms)]
            )

    def merge(self, least: int) -> "Continuations":
        """Add up what was counted, and drop what was counted less than `least` times."""
        for tally in (*self._uses, *self._sizes):
            tally.merge()
            tally.keep(least)
        return self

    @classmethod
    def of(cls, words: Words, least: int) -> "Continuations":
        """Return the counts of some sentences."""
        found = cls()
        found.add(words)
        return found.merge(least)

    def measure(self, located: "Located", own: "Located", least: int) -> Floats:
        """Measure which share of what follows the words before it each word has, without its own document.

        It is the larger of the shares after the last word and after the last two, each count lessened by its
        standard error; 0 for what is counted less than `least` times, and for what is no content word.

        Parameters
        ----------
        located : Located
            Words of sentences.
        own : Located
            All words of their documents, each distinct sentence of a document once, as they were counted.
        least : int
            Fewest uses in other documents.
        """
        words, documents = located
        best = np.zeros(len(words.numbers))
        for order, uses, sizes in zip(ORDERS, self._uses, self._sizes, strict=True):
            counted, found = list_places(own.words, order), list_places(words, order)
            where = own.documents[counted.places]
            together = Rest(uses, where, counted.joined).find(documents[found.places], found.joined)
            all_uses = Rest(sizes, where, counted.contexts).find(documents[found.places], found.contexts)
            shares = _divide(together, all_uses, least)
            best[found.places] = np.maximum(best[found.places], shares)
        return best

    def measure_all(self, words: Words, least: int) -> Floats:
        """Measure as :meth:`measure` does in text that the words are not part of."""
        best = np.zeros(len(words.numbers))
        for order, uses, sizes in zip(ORDERS, self._uses, self._sizes, strict=True):
            found = list_places(words, order)
            shares = _divide(uses.find(found.joined), sizes.find(found.contexts), least)
            best[found.places] = np.maximum(best[found.places], shares)
        return best


def _divide(together: Numbers, sizes: Numbers, least: int) -> Floats:
    """Return the share that counts, lessened by their standard error, have of others; 0 below `least`."""
    counted = (together >= least) & (sizes > 0)
    return np.where(counted, (together - np.sqrt(np.maximum(together, 0))) / np.maximum(sizes, 1), 0.0)
