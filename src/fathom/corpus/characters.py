"""The characters that sentences may have, and ASCII for typographic ones."""

import re
import unicodedata
from string import printable

_QUOTES = {"'": "‘’‚‛ʼʻ′‵＇‹›", '"': "“”„‟″‶«»＂"}
_DASHES = {"-": "‐‑‒–−﹣－", " - ": "—―⸺"}
_BLANKS = {
    " ": "\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
}
_NOTHING = {
    "": "\xad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
}
_LINES = {"\n": "\u2028", "\n\n": "\u2029"}
_OTHERS = {"...": "…", "..": "‥", "/": "⁄∕", "*": "∗", "|": "∣", "~": "∼˜", "^": "ˆ", "<": "〈⟨", ">": "〉⟩"}
_LIGATURES = {"ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ", "ffi": "ﬃ", "ffl": "ﬄ", "st": "ﬅﬆ"}


CODE_MARK = "\N{INVISIBLE SEPARATOR}"
"""Marks words set as code in an abstract, as no keyword runs from prose into code."""

GAP = "<ref>"
"""Stands for what is not text in a sentence: a reference, a formula, a picture."""

TYPOGRAPHIC = {
    each: plain
    for table in (_QUOTES, _DASHES, _BLANKS, _NOTHING, _LINES, _OTHERS, _LIGATURES)
    for plain, characters in table.items()
    for each in characters
}
"""ASCII for each typographic character."""
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""A control character that is no white space."""


def read_control(found: re.Match[str]) -> str:
    """Return what browsers show for a control character: that of windows-1252, else nothing."""
    shown = found[0].encode("latin-1").decode("cp1252", errors="ignore")
    return shown if shown.isprintable() else ""


_TABLE = str.maketrans(TYPOGRAPHIC)
_OTHER = re.compile(f"[^{re.escape(printable)}À-ÖØ-öø-ɏḀ-ỿ]")
"""Neither ASCII nor a Latin letter, with or without accents."""
_GREEK = re.compile("[\xaa\xb5\xba\u0370-\u03ff\u1f00-\u1fff]")
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST_TOKENS = 8
_MOST_SYMBOLS = 2
"""A sentence with more symbols is a formula or a row of a table; Greek letters are symbols."""

SCRIPT, SYMBOLS, UNREADABLE = "dropped_script", "dropped_symbols", "dropped_unreadable"
UNREADABLE_LETTER = "\N{REPLACEMENT CHARACTER}"
"""Stands for a letter unknown to a font or an encoding."""


def spell_plainly(text: str) -> str:
    """Return text with typographic quotes, dashes, ellipses, ligatures and spaces as ASCII.

    Letters keep their accents, composed into one character; invisible characters, such as soft hyphens and
    control characters, are removed, but those of windows-1252 become its letters and signs.
    """
    if not text.isprintable():
        text = CONTROL.sub(read_control, text)
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_TABLE))


def find_foreign(text: str) -> str:
    """Return why a sentence has characters that no prompt may have; empty if it has none.

    Reasons: letters of scripts other than Latin and Greek, an unreadable letter, more than two symbols
    beyond ASCII, more gaps than words, no word, or spaced letters, as of code in a PDF.
    """
    words, gaps, tokens = len(_WORD.findall(text.replace(GAP, " "))), text.count(GAP), text.split()
    apart = len(tokens) >= _FEWEST_TOKENS and 2 * sum(len(each) == 1 for each in tokens) > len(tokens)
    is_formula = not words or apart or (gaps > _MOST_SYMBOLS and gaps > words)
    if text.isascii():
        return SYMBOLS if is_formula else ""
    if UNREADABLE_LETTER in text:
        return UNREADABLE
    others = _OTHER.findall(text)
    symbols = [each for each in others if unicodedata.category(each)[0] not in "LM" or _GREEK.match(each)]
    if len(symbols) < len(others):
        return SCRIPT
    return SYMBOLS if is_formula or len(symbols) > _MOST_SYMBOLS else ""
