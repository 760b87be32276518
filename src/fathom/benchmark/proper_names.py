"""Phrases that are names of people, places and firms: their words hardly ever begin with a small letter."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from fathom.benchmark.word_kinds import find_kinds

_WORD = re.compile(r"[^\W\d_]+")
# from keywords of six manuals, read: of 8 names of people this finds 5, of 656 terms none
_SHARE = 0.9


def find_names(texts: Iterable[str], phrases: Iterable[str]) -> list[str]:
    """Find phrases of which nearly every use of every word, also outside the phrase, is written as a name.

    A name begins with a capital and goes on in small letters, which no acronym does. `Martin Landa` is one:
    no table of English words has `landa`, and `martin` can only be a noun. `Orthogonal Matching Pursuit` is
    none.

    Parameters
    ----------
    phrases : iterable of str
        In lower case, without accents; words separated by one blank.
    """
    parts = {phrase: words for phrase in phrases if _may_be_name(words := _WORD.findall(phrase))}
    wanted = {word for words in parts.values() for word in words}
    uses: Counter[str] = Counter()
    as_name: Counter[str] = Counter()
    for text in texts:
        for word in _WORD.findall(_drop_accents(text)):
            lower = word.lower()
            if lower in wanted:
                uses[lower] += 1
                as_name[lower] += word.istitle()
    names = {word for word, count in uses.items() if as_name[word] >= _SHARE * count}
    return [phrase for phrase, words in parts.items() if names.issuperset(words)]


def _may_be_name(words: Iterable[str]) -> bool:
    kinds = [find_kinds(word) for word in words]
    return frozenset() in kinds and all(each <= {"noun"} for each in kinds)


def _drop_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
