"""Addresses of models behind a server: `http://localhost:8000/v1#NAME`."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from fathom.errors import InputError
from fathom.io.bounded_requests import clean_text

KEY_VARIABLE = "FATHOM_SERVER_KEY"
"""The variable that a server's key is taken from: no other service's key is sent to an address by mistake."""


class Address(NamedTuple):
    """Where a model is served.

    Attributes
    ----------
    url : str
        Without a slash at its end.
    name : str
        Name of the model at the server.
    """

    url: str
    name: str


def is_address(source: str) -> bool:
    """Say whether the source of a model is the address of a server."""
    return re.match(r"https?://", source) is not None


def parse_address(source: str) -> Address:
    """Return the parts of an address; raise `InputError` if it holds a password or a query."""
    url, _, name = source.partition("#")
    try:
        parts = urlsplit(url)
        fits = bool(parts.hostname) and not (parts.query or parts.username or parts.password)
    except ValueError:
        fits = False
    if not fits:
        raise InputError(
            "not the address of a server",
            clean_text(url.rpartition("@")[2]),
            f"such as http://localhost:8000/v1#NAME; a key is given by the variable {KEY_VARIABLE}",
        )
    return Address(url.rstrip("/"), name)
