"""Paragraphs of a text: all of them, or those that it begins with."""

import re
from collections.abc import Iterator
from itertools import accumulate

from fathom.corpus.records import clean_line

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+|\f")
_ABSTRACT = 2000
"""Characters of a beginning, as many as an abstract has."""


def iterate_paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text, which end at blank lines and form feeds."""
    start = 0
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    for end in _PARAGRAPH_END.finditer(text):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]


def read_beginning(text: str) -> str:
    """Return as many of a text's first paragraphs as fit into 2,000 characters, on one line.

    A first paragraph that is longer is truncated between words.
    """
    paragraphs = [line for each in iterate_paragraphs(text[: 10 * _ABSTRACT]) if (line := clean_line(each))]
    fitting = sum(end <= _ABSTRACT + 1 for end in accumulate(len(each) + 1 for each in paragraphs))
    if fitting or not paragraphs:
        return " ".join(paragraphs[:fitting])
    cut = paragraphs[0][: _ABSTRACT + 1].rpartition(" ")[0]
    return cut or paragraphs[0][:_ABSTRACT]
