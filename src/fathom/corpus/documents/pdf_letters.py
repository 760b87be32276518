"""The letters of a PDF; those that their fonts do not identify make a word unreadable."""

import re
import unicodedata
from collections.abc import Sequence

from fathom.corpus.characters import UNREADABLE_LETTER

_HYPHENS = {0xFFFE, 2}
_BLANKS = {9, 10, 13}
_NO_LETTER = 0xFFFD
_MANY, _FEW = 0.2, 0.05
_TEX = {
    **dict(zip(range(11, 16), "ﬀﬁﬂﬃﬄ", strict=True)), **dict(zip(range(27, 32), "ﬀﬁﬂﬃﬄ", strict=True)),
    16: "“", 17: "”", 21: "–", 22: "—",
}  # fmt: skip
"""Signs by their code in TeX's encodings OT1 and T1."""
_COMBINING = {
    "`": "\u0300", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "¯": "\u0304", "˘": "\u0306", "˙": "\u0307",
    "¨": "\u0308", "˚": "\u030a", "˝": "\u030b", "ˇ": "\u030c", "¸": "\u0327",
}  # fmt: skip
"""Accents by their form that stands alone; the first is also a quotation mark."""
_ACCENTS = "".join(_COMBINING)
_ACCENTED = re.compile(
    rf"(?:(?<=[^\W\d_])[{_ACCENTS}]|(?<!\w)[{_ACCENTS[1:]}](?=[^\W\d_]{{3}}))(?P<letter>[^\W\d_])"
)
"""An accent before its letter, as TeX's encoding OT1 has it; of short words it may be a formula's."""


def forget_unnamed(codes: Sequence[int], unnamed: Sequence[int]) -> Sequence[int]:
    """Return the codes of a page, with U+FFFD for letters that its fonts do not identify.

    PDFium gives the number of such a letter in its font. Where a font names no letter at all, as bitmaps of
    TeX's do not, these are letters if blanks are blanks, and ligatures by the encodings of TeX.

    Parameters
    ----------
    codes : sequence of int
        As PDFium gives them.
    unnamed : sequence of int
        Whether PDFium found no letter for each: not 0.
    """
    if not any(unnamed):
        return codes
    found = [code for code, missing in zip(codes, unnamed, strict=True) if missing]
    control = sum(code < 32 for code in found)
    if len(found) > _MANY * len(codes) and control < _FEW * len(found):
        return [
            ord(_TEX.get(code, chr(code))) if missing else code
            for code, missing in zip(codes, unnamed, strict=True)
        ]
    return [_NO_LETTER if missing else code for code, missing in zip(codes, unnamed, strict=True)]


def to_text(codes: Sequence[int]) -> str:
    """Return the text of a line.

    What PDFium puts for a hyphen at a line's end becomes a soft hyphen. An accent before its letter, as TeX's
    old fonts have it (`Erd˝os`), becomes one character with it. A code without a letter (0, other
    control codes, private use, U+FFFD) becomes U+FFFD inside a word; elsewhere it is a bullet, and a blank.

    Parameters
    ----------
    codes : sequence of int
        As PDFium gives them.
    """
    if all(32 <= code < 0x7F for code in codes):
        return "".join(map(chr, codes))
    text = "".join(_to_character(codes, place) for place in range(len(codes)))
    return _ACCENTED.sub(_compose, text)


def _compose(match: re.Match[str]) -> str:
    letter = match["letter"].replace("ı", "i")
    composed = unicodedata.normalize("NFC", letter + _COMBINING[match[0][0]])
    return composed if len(composed) == 1 else match[0]


def _to_character(codes: Sequence[int], place: int) -> str:
    code = codes[place]
    if code in _HYPHENS:
        return "\xad"
    control = (code < 32 and code != 0) or 0x7F <= code < 0xA0
    unnamed = code in {0, _NO_LETTER} or 0xE000 <= code <= 0xF8FF
    if 0xD800 <= code <= 0xDFFF or code in _BLANKS:
        return " "
    if not control and not unnamed:
        return chr(code)
    before = place > 0 and _is_letter(codes[place - 1])
    after = place + 1 < len(codes) and _is_letter(codes[place + 1])
    small = after and chr(codes[place + 1]).islower()
    # a bullet may stand right before the first word of its item
    inside = (before and after) or (unnamed and (before or small))
    return UNREADABLE_LETTER if inside else " "


def _is_letter(code: int) -> bool:
    return code == _NO_LETTER or (not 0xD800 <= code <= 0xDFFF and chr(code).isalpha())
