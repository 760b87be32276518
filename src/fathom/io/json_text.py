"""JSON as people's programs write it: also with NaN, Infinity and halves of surrogates, which is not strict.

What cannot be read is a `ValueError` that says why; keys that stand twice in one object are such a fault.
"""

import json
from typing import Any

import orjson

DEEPEST = 200
"""Levels of lists and objects in each other that are read."""
_LONGEST = 300  # characters of a whole number; Python reads 4,300, and JSON of no program has as many


def parse_json(content: bytes, distinct: bool = False) -> Any:
    """Return what JSON says; half of a surrogate becomes U+FFFD; `ValueError` if it is none, or too deep.

    With `distinct`, keys that stand twice in an object are a fault, too: it takes four times as long.
    """
    value = _parse(content)
    if distinct:
        _require_distinct_keys(content)
    return value


def _parse(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        strict = error
    try:
        value = json.loads(content, parse_int=_parse_whole)
    except RecursionError:
        raise ValueError("lists and objects are nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason} at byte {error.start + 1:,}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {strict}") from error
    return _mend(value, 0)


def parse_object(content: bytes) -> dict[str, Any]:
    """Return the JSON object of a line, each of whose keys stands there once; else raise `ValueError`."""
    value = parse_json(content)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    # most lines have each key once in all their text, unescaped; only others are looked at closely
    escaped = b"\\u00" in content
    if escaped or any(content.count(b'"%b"' % key.encode("utf-8", "replace")) > 1 for key in value):
        _require_distinct_keys(content)
    return value


def _require_distinct_keys(content: bytes) -> None:
    def note(pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        if len({*keys}) < len(keys):
            raise ValueError(f"duplicate keys: {', '.join(sorted({k for k in keys if keys.count(k) > 1}))}")

    try:
        json.loads(content, object_pairs_hook=note, parse_int=_parse_whole)
    except RecursionError:
        raise ValueError("lists and objects are nested too deeply") from None


def _parse_whole(text: str) -> int | float:
    """Return a whole number; one of very many digits as a float, which may be infinite."""
    return int(text) if len(text) <= _LONGEST else float(text)


def _mend(value: Any, depth: int) -> Any:
    if depth > DEEPEST:
        raise ValueError("lists and objects are nested too deeply")
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_mend(each, depth + 1) for each in value]
    if isinstance(value, dict):
        return {_mend(key, depth): _mend(each, depth + 1) for key, each in value.items()}
    return value
