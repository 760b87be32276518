"""Bounded requests, for services that answer too much or ask to wait too long."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from fathom.errors import InputError

if TYPE_CHECKING:
    import httpx2

_SHOWN = 500
"""Most characters of a service's text in a message."""
_PIECE = 8
"""Fewest characters of a secret that are secret themselves."""
_WAITS = {"retry-after": 1.0, "retry-after-ms": 1000.0}
"""Headers by which a service says how long to wait, and their parts of a second."""


class BoundError(Exception):
    """A service or a call went beyond a bound; the text says which."""


class Bounds(NamedTuple):
    """Bounds on a service: `size` of an answer in bytes, `seconds` of a request, `wait` between attempts.

    A request includes all attempts and waits. A wait is no longer, whatever the service asks for.
    """

    size: int
    seconds: float
    wait: float


def bound_response(response: "httpx2.Response", bounds: Bounds) -> None:
    """Hold a response to its bounds, before its body is read: an event hook of a client.

    Raises
    ------
    BoundError
        If the body is compressed, which was not requested and hides its size.
    """
    encoding = response.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        raise BoundError(f"the answer is compressed ({clean_text(encoding)}), which was not requested")
    for name, parts in _WAITS.items():
        if name in response.headers:
            response.headers[name] = f"{_read_wait(response.headers[name], bounds.wait * parts):g}"
    response.stream = _make_stream(response.stream, bounds.size)


def _read_wait(text: str, longest: float) -> float:
    """Return what a service asks to wait, at most the longest; a date and other text count as the longest."""
    try:
        asked = float(text)
    except ValueError:
        return longest
    return asked if 0 <= asked <= longest else longest


def _make_stream(stream: object, size: int) -> "httpx2.SyncByteStream":
    import httpx2

    if not isinstance(stream, httpx2.SyncByteStream):
        raise TypeError(f"not a stream that can be bounded: {type(stream).__name__}")
    inner = stream

    class _Bounded(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            read = 0
            for chunk in inner:
                read += len(chunk)
                if read > size:
                    raise BoundError(f"the answer is longer than {size:,} bytes")
                yield chunk

        def close(self) -> None:
            inner.close()

    return _Bounded()


def _hide(text: str, secret: str) -> str:
    found, place = [], 0
    while place < len(text):
        size = _PIECE
        if text[place : place + size] not in secret or place + size > len(text):
            found.append(text[place])
            place += 1
            continue
        while place + size < len(text) and text[place : place + size + 1] in secret:
            size += 1
        found.append("***")
        place += size
    return "".join(found)


def clean_text(text: str, *secrets: str) -> str:
    """Return text of a service for messages: one line, without control characters and secrets.

    Pieces of a secret are removed as well, as a service may cut what it repeats.
    """
    for secret in filter(None, secrets):
        text = _hide(text.replace(secret, "***"), secret)
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} ..."


def read_key(variable: str) -> str:
    """Return a key from the environment, empty if there is none; raise `InputError` if it cannot be a key."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InputError("not a key: spaces or non-ASCII characters", variable, "copy the key again")
    return key
