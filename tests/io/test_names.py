"""Paths that are made of what data say stay in their folder; text of others in messages shows no secret."""

import re

import pytest
from tests.refusals import refuses

from fathom.config.model_names import ModelName
from fathom.errors import InputError
from fathom.io.names import MODEL_FORM, NAME_FORM, place_inside, show_count, show_text


@pytest.mark.parametrize("parts", [("a.csv",), ("a", "b.csv"), ("..", "run", "a.csv"), ("..x", "a")])
def test_a_path_inside_is_made(tmp_path, parts):
    assert place_inside(tmp_path / "run", *parts) == (tmp_path / "run").joinpath(*parts)


@pytest.mark.parametrize(
    "parts", [("../x",), ("a", "../../x"), ("/etc/x",), ("a", "/x"), (".",), ("out", "x")]
)
def test_a_path_outside_is_refused(tmp_path, parts):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "out").symlink_to(tmp_path)
    with refuses(tmp_path / "run", "leads out of the folder"):
        place_inside(tmp_path / "run", *parts)


def test_a_folder_that_is_a_link_holds_its_files(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk")
    assert place_inside(tmp_path / "run", "a") == tmp_path / "run" / "a"


def test_names_of_models_that_are_made_have_the_form():
    for name in (
        ModelName("gpt2"),
        ModelName("toy-gpt2", ("cs.AI", "law"), "terms-only", seed=-1, step=100),
        ModelName("a", ("study",), stage=2, seed=0, chat=True),
    ):
        assert re.fullmatch(MODEL_FORM.pattern, str(name))
    for wrong in ("", "../x", "a/b", "a+../b", "a+", "a@../x", ".a", "a\n", "a b"):
        assert not re.fullmatch(MODEL_FORM.pattern, wrong)
        assert not re.fullmatch(NAME_FORM.pattern, wrong)


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


def test_one_thing_has_no_plural():
    assert [show_count(number, "core") for number in (0, 1, 2000)] == ["0 cores", "1 core", "2,000 cores"]
    assert [show_count(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]
