"""JSON of people's programs: what is not strict is read, what is no JSON ends with a reason."""

import math

import pytest

from fathom.io.json_text import parse_json, parse_object


def test_what_is_not_strict_is_read():
    found = parse_object(
        b'{"a": NaN, "b": -Infinity, "c": "x\\ud835y", "d": [{"\\udc00": "\\ud83d\\ude00"}]}'
    )
    assert math.isnan(found["a"]) and found["b"] == -math.inf and found["c"] == "x\ufffdy"
    assert found["d"] == [{"\ufffd": "\U0001f600"}]
    assert parse_json(b'{"n": NaN, "long": ' + b"9" * 5000 + b"}")["long"] == math.inf


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"[" * 100_000, "deep"), (b'{"a": NaN, "b": ' + b"[" * 5000 + b"]" * 5000 + b"}", "deep"),
     (b'{"a": "caf\xe9"}', "UTF-8"), (b'{"a": 1', "not valid JSON"), (b"[1]", "not a JSON object"),
     (b'{"a": 1, "b": 2, "a": 3}', "duplicate keys: a"), (b"", "not valid JSON"),
     (b'{"a": 1, "\\u0061": 2}', "duplicate keys: a")],
    ids=["levels", "levels after NaN", "Latin-1", "cut", "list", "twice", "empty", "twice, escaped"],
)  # fmt: skip
def test_what_cannot_be_read_has_a_reason(content, reason):
    with pytest.raises(ValueError, match=reason):
        parse_object(content)


def test_a_key_that_stands_in_inner_objects_and_texts_too_is_there_once():
    content = b'{"text": "it says \\"text\\": 1", "inner": {"text": 1, "list": [{"text": 2}]}}'
    assert parse_object(content)["text"] == 'it says "text": 1'


@pytest.mark.parametrize(
    "content", [b'{"a": {"b": 1, "b": 1}}', b'[{"b": NaN, "b": 2}]', b"[" * 1010 + b"]" * 1010]
)
def test_whole_files_have_each_key_once_at_all_levels(content):
    with pytest.raises(ValueError, match=r"duplicate keys: b|deep"):
        parse_json(content, distinct=True)
