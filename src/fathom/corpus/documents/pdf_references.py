"""Lists of references to other places, as TeX prints them: `See also: Section 2 [Beams], page 7`."""

import re

from fathom.corpus.characters import GAP

_REFERENCE = (
    r"(?:(?:(?:Section|Chapter|Appendix)\s[\w.]{1,12}\s)?\[[^\[\]]{1,90}\],\spage\s\d{1,4}"
    r"|(?:[^\s:]{1,50}\s)?[^\s:]{1,50}\s\(page\s\d{1,4}\)"
    r"|(?:Section|Chapter|Appendix)\s[“\"][^“”\"]{1,90}[”\"]\sin\s[^.,:;]{1,60})"
)
_LIST = re.compile(
    rf"(?:^|(?<=[.!?,]\s))[^.!?:]{{1,80}}:\s{_REFERENCE}(?:[,;]?\s(?:and\s)?(?:{_REFERENCE}|{GAP}))*+"
    r"(?:[.;]\s+|,?\s+(?=[A-Z])|[.,;]?\s*$)"
)
"""Ends where a sentence does; possessive, as `and` may be read in two ways."""


def drop_lists(text: str) -> tuple[str, int]:
    """Return a paragraph without lists of references after a label, and the number of lists.

    A reference inside a sentence stays.
    """
    text, count = _LIST.subn("", text)
    return text.strip(), count
