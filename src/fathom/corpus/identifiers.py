"""Canonical arXiv ids."""

import re

# new style: year, month, and a number of four digits until 2014, of five since then
_NEW = re.compile(
    r"(?:0[7-9]|1[0-4])(?:0[1-9]|1[0-2])\.[0-9]{4}|(?:1[5-9]|[2-9][0-9])(?:0[1-9]|1[0-2])\.[0-9]{5}"
)
# old style: hep-th/9901001, math.GT/0309136, or without the slash
_OLD = re.compile(r"([A-Za-z]+(?:-[A-Za-z]+)?)(?:\.[A-Za-z-]+)?/?([0-9]{7})")
_PREFIX = re.compile(r"arxiv:\s*", re.IGNORECASE)
_VERSION = re.compile(r"v[0-9]+$")
_NUMBER = re.compile(r"([0-9]{3,4})\.([0-9]+)")
_NOISE = 11  # from this many digits after the point they are the rounding error of a binary number


def canonical_arxiv_id(text: str) -> str:
    """Return an arXiv id without `arXiv:`, version, subject class or blanks; `ValueError` if it is none.

    Old-style ids are written as in arXiv's own metadata: `math.GT/0309136v2` gives `math/0309136`; `solv-
    int/9901001` stays, because its `v` marks no version.
    """
    bare = text.strip()
    if _NEW.fullmatch(bare):  # nearly all of them
        return bare
    prefix = _PREFIX.match(bare)
    bare = _VERSION.sub("", bare[prefix.end() :] if prefix else bare)
    if _NEW.fullmatch(bare):
        return bare
    old = _OLD.fullmatch(bare)
    if old is None:
        raise ValueError(f"{text[:40]!r} is not an arXiv id")
    return f"{old[1].lower()}/{old[2]}"


def restore_arxiv_id(text: str) -> str:
    """Restore an id that was once read as a number; `ValueError` unless exactly one is possible.

    The length of each half follows from the year. Zeros lost at the front (`704.0001`) or at the end
    (`1709.0336` for `1709.03360`) and rounding errors (`1501.0190300000002`) therefore leave one possible
    id.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match:
        month, number = match[1].zfill(4), match[2]
        width = 4 if month < "1500" else 5
        if len(number) > width:
            rounded = round(int(number), width - len(number))
            near = abs(rounded - int(number)) * 10**7 <= 10 ** len(number)
            number = str(rounded).zfill(len(number))[:width] if len(number) >= _NOISE and near else ""
        restored = f"{month}.{number.ljust(width, '0')}"
        if number and _NEW.fullmatch(restored):
            return restored
    raise ValueError(f"{text[:40]!r} is not an arXiv id")
