"""Fingerprints of text: 64-bit hashes of words, sentences and whole documents, equal on every machine.

Text is compared without case, punctuation and white space: only letters and digits count.
"""

import hashlib
import re
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

BANDS, ROWS = 16, 8
"""Near-duplicates share one of the bands, each made of some minimal hashes [MinHash].

Documents with 80 % of their sequences of five words in common share a band with probability 0.95, with 50 %
0.06, with 30 % 0.001.
"""
_WORDS_TOGETHER = 5
_FEWEST = 16
"""Fewest sequences of words to compare a document as a whole."""

_TOKEN = re.compile(r"[^\W_]+|[.!?](?=\s|$)|\n[^\S\n]*\n")
_FACTOR = 0x9E3779B97F4A7C15
_REMEMBERED = 1 << 20
_AT_ONCE = 2048


class _WordHashes(dict[str, int]):
    """Hashes of words, 0 at the end of a sentence; computed once for each distinct word."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        found = 0
        if word[0].isalnum():
            found = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little") or 1
        self[word] = found
        return found


_HASHES = _WordHashes()


class Sentences(NamedTuple):
    """Distinct sentences of a text: hashes and numbers of words, both of shape (n_sentences,)."""

    hashes: Hashes
    words: NDArray[np.int64]


def hash_tokens(text: str) -> Hashes:
    """Return the hashes of a text's words, with 0 at the end of each sentence and paragraph."""
    tokens = _TOKEN.findall(text.lower())
    return np.fromiter(map(_HASHES.__getitem__, tokens), dtype=np.uint64, count=len(tokens))


def hash_words(text: str) -> Hashes:
    """Return the hashes of a text's words."""
    tokens = hash_tokens(text)
    return np.compress(tokens != 0, tokens)


def hash_sentences(tokens: Hashes, min_words: int) -> Sentences:
    """Return the distinct sentences of some tokens that have at least `min_words` words."""
    is_word = tokens != 0
    numbers = np.cumsum(~is_word)[is_word]
    words = tokens[is_word]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    lengths = np.diff(starts, append=len(words))
    if not len(starts):
        return Sentences(words, lengths)
    places = np.arange(len(words)) - np.repeat(starts, lengths)
    sums = np.add.reduceat(words * _powers(_round_up(int(lengths.max())))[places], starts)
    long = lengths >= min_words
    hashes, first = np.unique(_mix(sums[long]), return_index=True)
    return Sentences(hashes, lengths[long][first])


def hash_windows(words: Hashes, size: int) -> Hashes:
    """Return the hashes of all sequences of `size` words, of shape (max(0, n_words - size + 1),)."""
    count = max(0, len(words) - size + 1)
    sums = np.zeros(count, dtype=np.uint64)
    for place, power in enumerate(_powers(_round_up(size))[:size]):
        sums += words[place : place + count] * power
    return _mix(sums)


def hash_bands(words: Hashes) -> Hashes:
    """Return the hashes of a document's bands, of shape (BANDS,), or (0,) if it is too short."""
    windows = np.unique(hash_windows(words, _WORDS_TOGETHER))
    if len(windows) < _FEWEST:
        return windows[:0]
    salts, factors = _permutations()
    smallest = np.full(BANDS * ROWS, np.iinfo(np.uint64).max, dtype=np.uint64)
    for start in range(0, len(windows), _AT_ONCE):
        some = (windows[start : start + _AT_ONCE, None] ^ salts) * factors
        np.minimum(smallest, some.min(axis=0), out=smallest)
    bands = (smallest.reshape(BANDS, ROWS) * _powers(ROWS)).sum(axis=1, dtype=np.uint64)
    return _mix(bands + np.arange(BANDS, dtype=np.uint64))


def _mix(values: Hashes) -> Hashes:
    """Return well-mixed hashes, one to one: the last step of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _round_up(count: int) -> int:
    """Round up to a power of two, so that few tables are kept."""
    return 1 << max(0, count - 1).bit_length()


@cache
def _powers(count: int) -> Hashes:
    """Return powers of an odd number modulo 2^64, which distinguish the places of words."""
    return np.cumprod(np.full(count, _FACTOR, dtype=np.uint64), dtype=np.uint64)


@cache
def _permutations() -> tuple[Hashes, Hashes]:
    """Return the constants of the hash functions whose minima are taken."""
    counter = np.arange(1, 2 * BANDS * ROWS + 1, dtype=np.uint64) * np.uint64(_FACTOR)
    salts, factors = _mix(counter).reshape(2, -1)
    return salts, factors | np.uint64(1)
