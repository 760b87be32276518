"""Where sentences begin, after spaCy's sentencizer: quotes, brackets, abbreviations and initials.

The sentencizer ends a sentence at every full stop that is a token, and gives the marks that follow to the
sentence before: `He left. "` and `Go," she said.` It never ends one after an abbreviation: `in the U.S. The`.
"""

import re

from fathom.config.language import ENGLISH
from fathom.corpus.characters import GAP

_OPENING = "\"'“‘«([{"
_CLOSING = "\"'”’»)]"
_BEFORE_SMALL = "?!\"'”’»)]"
_BEGINNING = re.compile(rf"[{re.escape(_OPENING)}]*(?:{'|'.join(ENGLISH.beginnings.split())})\b(?!\.)")
_BEFORE_NUMBERS = frozenset(ENGLISH.before_numbers.split())
_BEFORE_NAMES = frozenset(ENGLISH.before_names.split())
_AT_ENDS = frozenset(ENGLISH.at_ends.split())
_MAY_END = _AT_ENDS | {"etc.", "a.m.", "p.m.", "..."}
_STOP = re.compile(
    rf"\.(?:[{re.escape(_CLOSING)}]{{1,3}}|(?P<notes>(?:\[\d{{1,3}}(?:[,–-] ?\d{{1,3}})*\])+))? "
)
_LETTER = re.compile(rf"(?:.*[^A-Za-z])?[A-Z]\.|[a-z]\.|.*{GAP}s\.")
_ITEM = re.compile(r"[ivxl]+\.|\d{1,2}\)\.")
_LONGEST = 16
"""Characters of the longest abbreviation, with marks around it."""


def correct_starts(text: str, starts: list[int]) -> list[int]:
    """Return where sentences of a paragraph begin, given where the sentencizer begins them, 0 first."""
    corrected = set(starts[:1])
    for start in starts[1:]:
        moved = start if text[start - 1] == " " else _move_before_opening(text, start)
        if not (_is_inside_name(text, moved) or _continues(text, moved)):
            corrected.add(moved)
    for stop in _STOP.finditer(text):
        place = stop.end()
        if place not in corrected and place < len(text) and _is_missed(text, place, stop):
            corrected.add(place)
    return sorted(corrected)


def _move_before_opening(text: str, start: int) -> int:
    """Return the start of a sentence with the quote or bracket that opens right before it."""
    place = start
    while place > 0 and text[place - 1] in _OPENING:
        place -= 1
    return place if place < start and place > 0 and text[place - 1] == " " else start


def _read_word(text: str, end: int) -> str:
    """Return the last word before a place, with its full stop and without marks around it."""
    begin = text.rfind(" ", max(0, end - _LONGEST), end)
    return text[max(begin + 1, end - _LONGEST) : end].lstrip(_OPENING).rstrip(_CLOSING)


def _is_inside_name(text: str, start: int) -> bool:
    """Say whether a place is inside a name or code, `os.PathLike`, `!=`: few sentences lack a blank."""
    following = text[start : start + 1]
    inside = text[start - 1] in ".?!" and following.isascii() and following not in _OPENING
    return inside and _BEGINNING.match(text, start) is None


def _continues(text: str, start: int) -> bool:
    """Say whether the sentence before goes on: after speech, brackets, an item's number, an abbreviation."""
    end = start - 1 if text[start - 1] == " " else start
    small = text[start : start + 1].islower()
    if small and text[end - 1 : end] in _BEFORE_SMALL:
        return True
    word = _read_word(text, end)
    if not word.endswith("."):
        return False
    if small and (word in _MAY_END or _ITEM.fullmatch(word)):
        return True
    if text[start : start + 1].isdigit() and word in _BEFORE_NUMBERS:
        return True
    return (word in _BEFORE_NAMES or word in _AT_ENDS or _is_initial(word)) and not _BEGINNING.match(
        text, start
    )


def _is_initial(word: str) -> bool:
    return len(word) == 2 and word[0].isupper()


def _is_missed(text: str, place: int, stop: re.Match[str]) -> bool:
    """Say whether a sentence ends where the sentencizer knows no end.

    That is after an abbreviation that may end one, a single letter, as of an initial, a unit or a formula,
    an ellipsis, a gap in the plural or the numbers of notes.
    """
    word = _read_word(text, stop.start() + 1)
    if _BEGINNING.match(text, place) is None or stop.start() < len(word):  # the letter of an item
        return False
    return (
        stop["notes"] is not None or word in _MAY_END or word.endswith("...") or bool(_LETTER.fullmatch(word))
    )
