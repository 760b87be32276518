"""Addresses of models behind a server: `http://localhost:8000/v1#NAME`."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from fathom.errors import InputError
from fathom.io.bounded_requests import clean_text

KEY_VARIABLE = "FATHOM_SERVER_KEY"
"""The variable that a server's key is taken from: no other service's key is sent to an address by mistake."""


_SECRET = re.compile(r"[?@;]")
"""What a login or a query has, and no plain address or name of a model."""
_SECRET_ENDING = re.compile(r"[?#;].*", re.DOTALL)


class Address(NamedTuple):
    """Where a model is served: URL without a slash at its end, and the model's name at the server."""

    url: str
    name: str


def is_address(source: str) -> bool:
    """Say whether the source of a model is the address of a server."""
    return re.match(r"https?://", source, re.IGNORECASE) is not None


def hide_secrets(source: str) -> str:
    """Return a source as messages may show it: of an address with a login or a query, server and path alone.

    Examples
    --------
    >>> hide_secrets("https://me:secret@host/v1?api_key=secret#model")
    'https://host/v1'
    >>> hide_secrets("owner/model")
    'owner/model'
    """
    scheme, mark, rest = source.partition("://")
    if not mark or not _SECRET.search(rest.replace("#", "?")):
        return source
    # a password may hold any of the marks
    shown = _SECRET_ENDING.sub("", rest.rpartition("@")[2])
    return clean_text(f"{scheme}://{shown}")


def parse_address(source: str) -> Address:
    """Return the parts of an address; raise `InputError` if it holds a password or a query."""
    url, _, name = source.partition("#")
    try:
        parts = urlsplit(url)
        fits = bool(parts.hostname) and parts.port != 0 and not _SECRET.search(url) and "?" not in name
    except ValueError:
        fits = False
    if not fits:
        raise InputError(
            "not the address of a server",
            hide_secrets(source),
            f"such as http://localhost:8000/v1#NAME; a key is given by the variable {KEY_VARIABLE}",
        )
    return Address(url.rstrip("/"), name)
