"""Which sentences of a paragraph of a PDF are whole: nothing cut off before or after, no entries of lists."""

import re
from collections.abc import Iterator, Sequence

from fathom.config.language import ENGLISH
from fathom.corpus.characters import GAP

ENDS = (".", "!", "?", ":", '."', ".”", ".)", ".’")
_END = re.compile(r"[.!?:][)\]\"'”’]*(?=\s|$)")
_NEXT = re.compile(r"[.!?][)\]\"'”’]*\s+(?=[^\Wa-z]|[(\[\"'“‘])")
"""The end of a first sentence that has no beginning."""
_SIGNS = frozenset("-–—=<>:;,{}\\&|+*%@~^_!?)]»”•▷►▸●○■□")
"""What begins options, code and the rest of a line, but no sentence."""
_LABELLED = re.compile(r"\[[\w+:.-]{1,16}\]\s")
"""The label of an entry in a list of references."""
_DASH = re.compile(r"\S+(?:\s\S+){0,3}?(?:\s[-–—]\s|—(?=[a-z]))")
_ENTRY = re.compile(
    r"(?:[a-z][\w-]*\s){0,2}[a-z][\w-]*:\s|\S*[(=<_/]\S*:\s|\w[\w-]*[=<]\S*\s(?=[a-z])|"
    r"(?![AI]\s)[A-Z]\s(?=[A-Za-z][a-z]+\s)|\((?:[a-z]+\s|[\d.]+\)\s)"
)
"""A term with its colon, a setting, the letter that a formula uses, what goes on in brackets."""
_SUBJECT = re.compile(
    r"\S+\s(?:(?:is|are|was|were|has|have|can|may|must|will|does|should)(?:n?['’]t)?|(?!as\b|its\b|this\b)[a-z]{2,}s)\s"
)
"""A first word that its verb follows: the name of a program."""
_LABEL = re.compile(r"(?:\S+\s)?\S+:")
_NOTE = re.compile(r"\d{1,2}(?=(?:[A-Z][a-z]{2,}|A[nst]?|By|I[fnt]|No|On|So|To|We)\s)")
"""The number of a footnote, which stands right before its first word."""
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2})+\.?\s+[A-Z]|\d{1,2}(?:\.\d{1,2}){2,}\.?\s")
_NUMBER = re.compile(r"\d{1,4}\s+(?=([A-Z][a-z]*)\b)")
"""The number of an item, of an error, of a page."""
_CODE_NAME = re.compile(r"\w*[A-Z\d]_\w*|[A-Z\d]{4,}")
_CAPTION = re.compile(
    r"(?:Figure|Fig\.|Table|Listing|Algorithm|Plate)\s[\w.-]{1,6}\s?(?:[:–—]|(?<=[.:])\s)\s*", re.IGNORECASE
)
_BEGINNING = frozenset(ENGLISH.beginnings.split())
_ABBREVIATIONS = frozenset(ENGLISH.abbreviations.split())


def keep_whole_sentences(text: str, is_cut: bool) -> str:
    """Return a paragraph without a first sentence that has no beginning and a last one that has no end.

    Parameters
    ----------
    text : str
        The paragraph on one line.
    is_cut : bool
        Whether something was left out right before it, or it is an item: a small letter then goes on with
        what is not there; elsewhere it may be the name of a program.
    """
    if _LABELLED.match(text):
        return ""
    text = text[note.end() :] if (note := _NOTE.match(text)) else text
    number = _NUMBER.match(text)
    text = text[number.end() :] if number and number[1] in _BEGINNING else text
    if _LABEL.fullmatch(text):
        return ""
    while text and _lacks_beginning(text, is_cut):
        text = text[next(_find_ends(_NEXT, text), len(text)) :]
        is_cut = False
    if text.endswith((*ENDS, GAP)):
        return text
    return text[: max(_find_ends(_END, text), default=0)]


def drop_caption(text: str) -> str:
    """Return a caption without its first phrase, which names a figure; any other text as it is."""
    label = _CAPTION.match(text)
    return text[next(_find_ends(_NEXT, text[label.end() :]), len(text)) + label.end() :] if label else text


def _find_ends(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    """Yield where matches end that are no full stop of an abbreviation."""
    for match in pattern.finditer(text):
        word = text[: match.start() + 1].rpartition(" ")[2].lstrip("([")
        if word not in _ABBREVIATIONS:
            yield match.end()


def _lacks_beginning(text: str, is_cut: bool) -> bool:
    """Say whether a paragraph goes on with something else, or begins with the term of an entry."""
    if text[0] in _SIGNS or _ENTRY.match(text) or _NUMBER.match(text) or _SECTION.match(text):
        return True
    dash = _DASH.match(text)
    if dash and not re.search(r"\s[-–—]\s", text[dash.end() :].partition(". ")[0]):
        return True
    first = text.split(maxsplit=1)[0].rstrip(",;.")
    small = first[:1].islower() and first.replace("-", "").isalpha()
    return small and (is_cut or first.capitalize() in _BEGINNING or not _SUBJECT.match(text))


def count_term(words: Sequence[str], fonts: Sequence[str]) -> int:
    """Return how many words are a term or heading before a sentence on its line, set in another font.

    Parameters
    ----------
    words : sequence of str
        Of the line.
    fonts : sequence of str
        Of the first letters of its first words.
    """
    for count, (word, font) in enumerate(zip(words, fonts, strict=False)):
        if count and font != fonts[0] and font == fonts[-1]:
            named = word in _BEGINNING or (word[:1].isupper() and _CODE_NAME.fullmatch(words[0]))
            is_term = named and words[count - 1][-1] not in ".,;"
            return count if is_term and fonts[0] not in fonts[count:] else 0
    return 0
