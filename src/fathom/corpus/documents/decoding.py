"""Text files in any encoding, by byte order mark, UTF-8, a declaration read as browsers do, or a guess."""

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
_DECLARED = re.compile(
    rb"""<(?:meta\b|\?xml\b)[^<>]{0,300}?(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""",
    re.IGNORECASE,
)
_COMMENTS = re.compile(rb"<!--.*?-->", re.DOTALL)
_HEAD = 4096
_WESTERN, _LITTLE = "cp1252", 0.05
_HIGH = re.compile(rb"[\x80-\xff]+")
_SPARSE = 0.05
"""Up to this share of single bytes beyond ASCII, a text is English with quotes, dashes and names."""
_SAMPLE = 1 << 18
"""Bytes to guess an encoding from."""
_WIDE_SHARE = 0.3
"""Share of zeros among every second byte that shows two-byte characters, as in English UTF-16."""
_FEW_FIRST = 5
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufffd\uffff]")
_FEW = 0.01
_ZEROS = 0.1
"""Largest share of zero bytes in text."""
_BROKEN = 0.1
"""Share of broken characters among multi-byte ones from which a text is not UTF-8."""
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


def decode_text(data: bytes, markup: bool = False) -> str:
    """Return the text of a file's bytes, without zero bytes; every line ends in a line feed.

    Parameters
    ----------
    markup : bool, default=False
        Whether its beginning may declare an encoding, as in HTML and XML. It is read as browsers do
        [WHATWG]: `iso-8859-1` is windows-1252, and a declaration readable as ASCII is not UTF-16.

    Raises
    ------
    InputError
        If the bytes are not text.
    """
    text = _decode(data, markup)
    if text.count("\0") > _ZEROS * len(text):
        raise InputError("not a text file: it contains zero bytes")
    return text.lstrip("\ufeff").replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes, markup: bool) -> str:
    names = [encoding for mark, encoding in _MARKS if data.startswith(mark)][:1] or _find_wide(data)
    # text is rarely valid UTF-8 by chance, but often declares a wrong encoding
    declared = _find_declared(data) if markup else ""
    names += [declared] if declared.startswith("iso2022") else []
    names += ["utf-8", *([declared] if declared else [])]
    for name in names:
        with suppress(UnicodeError):
            return data.decode(name)
    with suppress(UnicodeError):  # surrogates encoded one by one, as Java does
        halves = data.decode("utf-8", errors="surrogatepass")
        return halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le", errors="replace")
    data = data.removeprefix(codecs.BOM_UTF8)
    text = data.decode("utf-8", errors="replace")
    broken = text.count(_UNKNOWN)
    wide = sum(not character.isascii() for character in text) - broken
    return text if broken <= _BROKEN * wide else _guess(data)


def _find_declared(data: bytes) -> str:
    """Return Python's name of the encoding that markup declares; empty if none or unknown."""
    import webencodings

    declared = _DECLARED.search(_COMMENTS.sub(b"", data[:_HEAD]))
    found = webencodings.lookup(declared[1].decode("ascii")) if declared else None
    if found is None or found.name in {"replacement", "x-user-defined"}:
        return ""
    # the declaration was read byte by byte, so each character has one
    return "utf-8" if found.name.startswith("utf-16") else str(found.codec_info.name)


def _find_wide(data: bytes) -> list[str]:
    """Return UTF-16, for files without a mark, if every second byte is often zero, the others hardly ever."""
    sample = data[:_SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    least = _WIDE_SHARE * len(sample) / 2
    # letters of one script lie close together, so few first bytes cover most of them
    firsts = set(sample[odd > even :: 2])
    other = not min(even, odd) and max(even, odd) > _FEW * len(sample) and len(firsts) <= _FEW_FIRST
    if len(sample) < 4 or not (other or max(even, odd) >= least):
        return []
    name = "utf-16-le" if odd > even else "utf-16-be"
    text = sample.decode(name, errors="replace")
    return [name] if len(_CONTROL.findall(text)) <= _FEW * len(text) else []


def _guess(data: bytes) -> str:
    sample = data[:_SAMPLE]
    runs = _HIGH.findall(sample)
    if sum(map(len, runs)) <= _SPARSE * len(sample) and max(map(len, runs), default=0) <= 2:
        with suppress(UnicodeError):
            return data.decode(_WESTERN)
    from charset_normalizer import from_bytes

    found = from_bytes(sample)
    best = found.best()
    if best is None:
        raise InputError("not a text file in any known encoding")
    # few letters are no evidence against the usual encoding of English files other than UTF-8
    western = any(
        _WESTERN in {each.encoding, *each.could_be_from_charset} and each.chaos <= best.chaos + _LITTLE
        for each in found
    )
    return data.decode(_WESTERN if western else best.encoding, errors="replace")
