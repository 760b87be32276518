"""Text of others in messages: no terminal obeys it, and it shows no secret."""

import pytest

from fathom.errors import InputError
from fathom.io.shown_text import show_text


@pytest.mark.parametrize(
    "address",
    [
        "https://me:SECRET@host/v1#m", "http://SECRET@host", "http://host/v1?api_key=SECRET#m",
        "ftp://me:SECRET@host", "//me:SECRET@host/v1", "https:/me:SECRET@host/v1", "https://me:SE/SECRET@host",
        "git+https://host/x?a=1&Access_Token=SECRET",
    ],
)  # fmt: skip
def test_no_login_or_key_of_an_address_is_shown(address):
    shown = show_text(f"{address} is no model")
    assert "SECRET" not in shown and "host" in shown and shown.endswith(" is no model")


@pytest.mark.parametrize(
    "text",
    ["owner/name@main", "http://localhost:8000/v1#owner/name@main", "/a/b@c", "me@host: 1\n\t2", "caf\xe9"],
)
def test_other_text_stays(text):
    assert show_text(text) == text


def test_signs_that_steer_a_terminal_are_escaped():
    assert show_text("a\x1b[2J\r\x07\u202eb\u2066") == "a\\x1b[2J\\r\\x07\\u202eb\\u2066"
    assert str(InputError("wrong", "a\nError: b", "c")) == "a\\nError: b: wrong\nHint: c"
