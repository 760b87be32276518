"""Vocabulary terms in a sentence, and those among them that may be its target [RawCorpora, Sec. 2.5]."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from fathom.config.benchmark import Pairs

Offsets = Sequence[tuple[int, int]]
"""Start and end, in characters, of each token of a sentence, without special tokens."""

# A blank precedes, and no letter, digit, underscore, hyphen or apostrophe follows. The word is taken whole
# (`++`), so that ` state` is not found inside ` states`.
_WORDS = re.compile(r" (\w++)(?!['’-])")


@dataclass(frozen=True, slots=True)
class Match:
    """A term in a sentence: `start` is the place of its leading blank, `end` is behind its last character."""

    start: int
    end: int

    def split(self, sentence: str) -> tuple[str, str]:
        """Return the prompt, without a blank at its end, and the target, with one at its start."""
        return sentence[: self.start], sentence[self.start : self.end]


def find_terms(sentence: str, words: frozenset[str]) -> list[Match]:
    """Return where a word of a vocabulary stands in a sentence as a whole word, in order.

    Parameters
    ----------
    sentence : str
        A cleaned sentence, words separated by single blanks.
    words : frozenset of str
        Terms without their leading blanks.

    Returns
    -------
    list of Match
        Matches behind exactly one blank, which other text precedes.
    """
    return [
        Match(found.start(), found.end())
        for found in _WORDS.finditer(sentence)
        # a prompt must neither be empty nor end with white space
        if found[1] in words and found.start() and not sentence[found.start() - 1].isspace()
    ]


def find_targets(terms: Sequence[Match], offsets: Offsets, settings: Pairs) -> list[Match]:
    """Return the terms that may be the target: late enough, and no other term before them.

    Tokens are counted from 0. A term stands at token `n` if `n` tokens end at or before its first letter: so
    its prompt has `n` tokens, whether the tokenizer counts blanks as parts of tokens or not.

    Parameters
    ----------
    terms : sequence of Match
        What :func:`find_terms` found, in order.
    offsets : sequence of (int, int)
        The sentence's tokens.
    settings : Pairs
        `scan_from`: the first pass notes terms from this token on; `min_tokens`: a target starts at or after
        this token; `earlier_terms`: which noted terms before it rule it out.

    Returns
    -------
    list of Match
        In order; empty where there is none.
    """
    ends = [end for _, end in offsets]
    places = [bisect_right(ends, term.start + 1) for term in terms]
    noted = [(term, place) for term, place in zip(terms, places, strict=True) if place >= settings.scan_from]
    found: list[Match] = []
    for number, (term, place) in enumerate(noted):
        if settings.earlier_terms == "any":
            ruled_out = number > 0
        else:  # a term that ends where this one's blank begins
            ruled_out = number > 0 and noted[number - 1][0].end == term.start
        if place >= settings.min_tokens and not ruled_out:
            found.append(term)
    return found


def count_tokens_until(end: int, offsets: Offsets) -> int:
    """Return how many tokens begin before character `end`: the length of a pair that ends there."""
    return sum(1 for start, _ in offsets if start < end)
