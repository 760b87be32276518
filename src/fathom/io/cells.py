"""The text in a cell of a table or a data set: cells that are lists or objects hold it in named fields.

Nothing is ever written in Python's notation: values without text are reported by the reader.
"""

import ast
import json
import math
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

FIELDS = ("text", "content", "value", "name", "label", "title")
"""Fields of an object that hold its text; the first one that is not empty counts."""
_DEEPEST = 8
_PRINTED = {"[": "]", "{": "}", "(": ")", "b": "'\""}
"""Beginnings and ends of lists, objects and bytes that a program printed into a cell."""
_FEWEST_WORDS = 4
"""From so many entries without a space, a list has the words of one text."""
_LONGEST_PRINTED = 1_000_000


def find_text(value: Any, joint: str = "\n\n") -> str | None:
    """Return the text of a cell; empty if it is empty, None if it holds none.

    Text stands in one of :data:`FIELDS` of an object; `joint` joins a list's; NaN and None are empty.
    """
    return _find(value, joint, 0)


def spell_value(value: Any, joint: str = "\n\n") -> str | None:
    """Like :func:`find_text`, but also write out numbers, truth values and dates, for labels and ids."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, int | float | Decimal | UUID) and not _is_empty(value):
        return str(value)
    return find_text(value, joint)


def name_kind(value: Any) -> str:
    """Describe the value of a cell without text."""
    kinds = {
        bool: "truth values",
        int: "numbers",
        float: "numbers",
        Decimal: "numbers",
        bytes: "bytes",
        date: "days",
        datetime: "days",
        list: "lists without text",
    }
    other = "objects without a field of text" if isinstance(value, Mapping) else "values of other kinds"
    return kinds.get(type(value), other)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _find(value: Any, joint: str, depth: int) -> str | None:
    if _is_empty(value):
        return ""
    if isinstance(value, str):
        return value if depth else _find_printed(value, joint)
    if depth > _DEEPEST:
        return None
    if isinstance(value, Mapping):
        there = [_find(value[name], joint, depth + 1) for name in FIELDS if name in value]
        return next((text for text in there if text), there[0] if there else None)
    if isinstance(value, list | tuple):
        texts = [_find(each, joint, depth + 1) for each in value]
        known = [text for text in texts if text is not None]
        words = len(known) >= _FEWEST_WORDS and not any(" " in text.strip() for text in known)
        joined = (" " if words else joint).join(filter(None, known))
        return joined if len(known) == len(texts) else None
    return None


def read_printed(text: str) -> Any:
    """Return the list, the object or the bytes that JSON or Python printed into a cell; else its text."""
    bare = text.strip()
    closing = _PRINTED.get(bare[:1], "")
    if not bare or len(bare) > _LONGEST_PRINTED or bare[-1] not in closing:
        return text
    try:
        return json.loads(bare)
    except (ValueError, RecursionError):
        pass
    try:
        value = ast.literal_eval(bare)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value


def _find_printed(text: str, joint: str) -> str:
    """Return the text in a cell with a possibly printed value; a printed value without text is unchanged."""
    value = read_printed(text)
    return text if value is text else _find(value, joint, 1) or text
