"""Bytes of text files in whatever encoding: a mark, what they declare, UTF-8, else the likeliest."""

import codecs
import re
from contextlib import suppress

from fathom.errors import InputError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
_HEAD = 4096
_WESTERN, _LITTLE = "cp1252", 0.05
_SAMPLE = 1 << 18
"""Bytes that an encoding is guessed from."""


def decode_text(data: bytes, markup: bool = False) -> str:
    """Return the text of a file's bytes; every line ends in a line feed.

    Parameters
    ----------
    data : bytes
        The whole file.
    markup : bool, default=False
        Whether its beginning may declare an encoding, as that of HTML and XML may.

    Raises
    ------
    InputError
        If the bytes are no text.
    """
    text = _decode(data, markup)
    if "\0" in text:
        raise InputError("the file is no text: it holds zero bytes")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes, markup: bool) -> str:
    """Decode with the first encoding that fits."""
    names = [encoding for mark, encoding in _MARKS if data.startswith(mark)][:1]
    declared = _DECLARED.search(data[:_HEAD]) if markup else None
    # what is valid UTF-8 by chance is rare; what wrongly declares something else is not
    names += ["utf-8", *([declared[1].decode("ascii")] if declared else [])]
    for name in names:
        with suppress(UnicodeError, LookupError):
            return data.decode(name)
    from charset_normalizer import from_bytes

    found = from_bytes(data[:_SAMPLE])
    best = found.best()
    if best is None:
        raise InputError("the file is no text in any encoding that is known")
    # few letters are no evidence against what most English files that are no UTF-8 are in
    western = any(
        _WESTERN in {each.encoding, *each.could_be_from_charset} and each.chaos <= best.chaos + _LITTLE
        for each in found
    )
    return data.decode(_WESTERN if western else best.encoding, errors="replace")
