"""Plain values as people write them: which are numbers, which are dates, and which neither is clear of."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from fathom.errors import InputError

_GAP = "[ \u00a0\u2009\u202f]"
_WHOLE = rf"(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}}(?:{_GAP}\d{{3}})+|\d{{1,3}}(?:['’]\d{{3}})+|\d+)"
_NUMBER = re.compile(rf"([-+\u2212]?)({_WHOLE}(?:\.\d+)?|\.\d+)([eE][-+\u2212]?\d{{1,2}})?( ?%)?", re.ASCII)
_BETWEEN = re.compile(rf"{_GAP}|[,'’]")
_MEANT = re.compile(r"[^A-Za-z]*\d[^A-Za-z]*")
_APPROXIMATE = re.compile(r"[~≈<>≤≥±]|(?:ca?|about|approx)\b", re.IGNORECASE)
_DAYS = {
    "%Y-%m-%d": r"\d{4}-\d\d-\d\d",
    "%d %B %Y": r"\d\d? [A-Za-z]+ \d{4}",
    "%d %b %Y": r"\d\d? [A-Za-z]{3} \d{4}",
    "%B %d, %Y": r"[A-Za-z]+ \d\d?, \d{4}",
    "%b %d, %Y": r"[A-Za-z]{3} \d\d?, \d{4}",
}

NUMBER, PERCENT, DATE, UNCLEAR = "number", "percent", "date", "unclear"


class Value(NamedTuple):
    """A plain value: its text, and its kind in XML Schema; empty for text."""

    text: str
    kind: str = ""


class Cell(NamedTuple):
    """A field of a column that is not empty, and where it stands."""

    text: str
    where: str


def read_column(name: str, cells: Sequence[Cell]) -> list[Value]:
    """Return the values of a column: all numbers, all dates, or all text.

    A comma, a blank or an apostrophe may stand between thousands; the point is decimal.

    Raises
    ------
    InputError
        If some cells are numbers or dates and one is not, or not in the same way; it names the first.
    """
    read = [_read(cell.text) for cell in cells]
    kinds = [kind for kind, _ in read]
    known = [kind for kind in kinds if kind not in ("", UNCLEAR)]
    if not known and UNCLEAR not in kinds:
        return [Value(cell.text) for cell in cells]
    # the kind of most cells is the column's; of equally many that of the first
    wanted = max(dict.fromkeys(known), key=known.count) if known else NUMBER
    for place, (cell, kind) in enumerate(zip(cells, kinds, strict=True)):
        if kind != wanted:
            alone = not place and len(cells) > 2 and set(kinds[1:]) == {wanted}
            raise _refuse(name, cell, wanted, is_header=alone and not kind)
    return [value for _, value in read]


def _read(text: str) -> tuple[str, Value]:
    """Return the kind of a field, and its value; the kind is empty for text."""
    found = _NUMBER.fullmatch(text)
    if found:
        sign, digits, power, percent = found.groups(default="")
        number = Decimal(f"{sign}{_BETWEEN.sub('', digits)}{power}".replace("\u2212", "-"))
        written = format(number, "f")
        value = Value(written, "decimal" if "." in written else "integer")
        return PERCENT if percent else NUMBER, value
    day = _find_day(text)
    if day:
        return DATE, Value(day, "date")
    meant = _MEANT.fullmatch(text) or (_APPROXIMATE.match(text) and text[-1:].isdigit())
    return UNCLEAR if meant else "", Value(text)


def _find_day(text: str) -> str:
    """Return the day that `1789-07-14`, `14 July 1789` or `July 14, 1789` names in ISO form, else nothing."""
    for form, shape in _DAYS.items():
        if re.fullmatch(shape, text, re.ASCII):
            try:
                return datetime.strptime(text, form).replace(tzinfo=UTC).date().isoformat()
            except ValueError:
                continue
    return ""


def _refuse(name: str, cell: Cell, wanted: str, is_header: bool) -> InputError:
    """Return what to say of a cell that is not of the kind of its column."""
    place = f"{cell.where}, column {name}"
    if is_header:
        what = f"{cell.text!r} in column {name}, where all other rows have numbers: a second header line?"
        return InputError(what, place, "remove this line: one header is needed")
    kind = {NUMBER: "number", PERCENT: "number in percent, as in the other rows", DATE: "date"}[wanted]
    hint = "leave the cell empty if the value is unknown; if it is text, make the column a link"
    if _APPROXIMATE.match(cell.text):
        hint = "an approximate value decides no comparison: write a number, or leave the cell empty"
    elif wanted == DATE:
        hint = "write 1789-07-14 or 14 July 1789, or leave the cell empty"
    elif re.search(r"\d[.,]\d", cell.text):
        hint = "the point is decimal, and commas stand between thousands: write 1234.5 or 1,234.5"
    return InputError(f"{cell.text!r} is no {kind}", place, hint)
