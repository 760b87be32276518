"""Where a sentence contains vocabulary terms, and which of them can be its target [RawCorpora, Sec. 2.5]."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from fathom.config.benchmark import Pairs

Offsets = Sequence[tuple[int, int]]
"""Start and end of each token of a sentence, in characters, without special tokens."""

# A space precedes, and no letter, digit, underscore, hyphen or apostrophe follows. The possessive `++` takes
# whole words, so ` state` is not found inside ` states`.
_WORDS = re.compile(r" (\w++)(?!['’-])")


@dataclass(frozen=True, slots=True)
class TermSpan:
    """A term in a sentence, in characters: from its leading space to before `end`."""

    start: int
    end: int

    def split(self, sentence: str) -> tuple[str, str]:
        """Return the prompt, which does not end in a space, and the target, which begins with one."""
        return sentence[: self.start], sentence[self.start : self.end]


def find_terms(sentence: str, words: frozenset[str]) -> list[TermSpan]:
    """Find the words of a vocabulary in a sentence, as whole words.

    Returns
    -------
    list of TermSpan
        In the order of the sentence. Exactly one space precedes each term, and text precedes the space.
    """
    return [
        TermSpan(found.start(), found.end())
        for found in _WORDS.finditer(sentence)
        # a prompt must neither be empty nor end in white space
        if found[1] in words and found.start() and not sentence[found.start() - 1].isspace()
    ]


def find_targets(terms: Sequence[TermSpan], offsets: Offsets, settings: Pairs) -> list[TermSpan]:
    """Return the terms that can be the target: late enough, and not preceded by another term.

    Tokens are counted from 0. A term is at token `n` if `n` tokens end at or before its first letter. Its
    prompt then has `n` tokens, whether or not the tokenizer makes a space part of the next token.

    Parameters
    ----------
    settings : Pairs
        `scan_from`: terms before this token are ignored; `min_tokens`: a target starts at or after this
        token; `earlier_terms`: which earlier terms rule a target out.
    """
    ends = [end for _, end in offsets]
    tokens = [bisect_right(ends, term.start + 1) for term in terms]
    placed = zip(terms, tokens, strict=True)
    scanned = [(term, token) for term, token in placed if token >= settings.scan_from]
    found: list[TermSpan] = []
    for number, (term, token) in enumerate(scanned):
        if settings.earlier_terms == "any":
            ruled_out = number > 0
        else:  # the term before this one ends where this one's space begins
            ruled_out = number > 0 and scanned[number - 1][0].end == term.start
        if token >= settings.min_tokens and not ruled_out:
            found.append(term)
    return found


def count_tokens_until(end: int, offsets: Offsets) -> int:
    """Return the number of tokens that begin before character `end`: the length of a pair that ends there."""
    return sum(1 for start, _ in offsets if start < end)
