"""The text in a cell of a table or a data set: cells that are lists or objects hold it in named fields.

Nothing is ever written in Python's notation: what holds no text is no text, and whoever reads says so.
"""

import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

FIELDS = ("text", "content", "value", "name", "label", "title")
"""Fields of an object that hold its text; the first one that is there counts."""
_DEEPEST = 8


def find_text(value: Any, joint: str = "\n\n") -> str | None:
    """Return the text of a cell; empty if it is empty, None if it holds none.

    Text stands in one of :data:`FIELDS` of an object; `joint` joins a list's; NaN and None are empty.
    """
    return _find(value, joint, 0)


def spell_value(value: Any, joint: str = "\n\n") -> str | None:
    """Do as :func:`find_text`; numbers, truth values and days are written out, too, as labels and ids are."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, int | float) and not _is_empty(value):
        return str(value)
    return find_text(value, joint)


def name_kind(value: Any) -> str:
    """Return what a cell that holds no text holds, in words."""
    kinds = {
        bool: "truth values",
        int: "numbers",
        float: "numbers",
        bytes: "bytes",
        list: "lists without text",
    }
    other = "objects without a field of text" if isinstance(value, Mapping) else "no text"
    return kinds.get(type(value), other)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _find(value: Any, joint: str, depth: int) -> str | None:
    """Return the text of a value at some depth."""
    if _is_empty(value):
        return ""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return None
    if isinstance(value, Mapping):
        field = next((name for name in FIELDS if name in value), None)
        return None if field is None else _find(value[field], joint, depth + 1)
    if isinstance(value, list):
        texts = [_find(each, joint, depth + 1) for each in value]
        known = [text for text in texts if text is not None]
        return joint.join(text for text in known if text) if len(known) == len(texts) else None
    return None
