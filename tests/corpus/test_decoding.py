"""Encodings are understood as browsers understand them."""

import pytest
from tests.refusals import refuses

from fathom.corpus.documents.decoding import decode_text

_QUOTE, _OPEN, _DASH = "\N{RIGHT SINGLE QUOTATION MARK}", "\N{LEFT DOUBLE QUOTATION MARK}", "\N{EM DASH}"
_TEXT = (
    f"The pump{_QUOTE}s flow is {_OPEN}small{_DASH}very small, so that the tank is filled within some hours."
)


def _declare(name: str, encoding: str = "cp1252", text: str = _TEXT) -> str:
    return decode_text(f"<html><meta charset='{name}'><p>{text}</p>".encode(encoding), markup=True)


@pytest.mark.parametrize(
    "name",
    [
        "iso-8859-1",
        "latin1",
        "ascii",
        "US-ASCII",
        "windows-1252",
        "x-cp1252",
        "utf-16",
        "unicode",
        "nonsense",
    ],
)
def test_western_names_are_windows_1252(name):
    assert _TEXT in _declare(name)


@pytest.mark.parametrize(
    ("name", "encoding", "text"),
    [
        ("shift_jis", "cp932", "①温度が高い"),
        ("ks_c_5601-1987", "cp949", "온도가 높다"),
        ("iso-8859-9", "cp1254", "sıcaklık “yüksek”"),
        ("tis-620", "cp874", "อุณหภูมิสูง…"),
        ("koi8-r", "koi8-r", "температура"),
        ("iso-2022-jp", "iso2022_jp", "温度が高い"),
        ("utf-16", "utf-8", "температура"),
    ],
)
def test_other_names_are_what_browsers_read(name, encoding, text):
    assert text in _declare(name, encoding, text)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("markup", [False, True])
def test_wide_characters_are_recognised_without_a_mark(encoding, markup):
    text = f"<p>{_TEXT}</p>" * 3
    assert decode_text(text.encode(encoding), markup) == text


def test_stray_zero_bytes_are_dropped_and_many_are_no_text():
    assert decode_text(b"A pump\0 lifts water." * 30) == "A pump lifts water." * 30
    with refuses("zero bytes"):
        decode_text(b"\0\1\2\3" * 99)
    with refuses("zero bytes"):
        decode_text(bytes(1000))


def test_letters_of_another_script_are_recognised_in_two_bytes_without_a_mark():
    text = "Насос поднимает воду в бак, который стоит на крыше. " * 10
    assert decode_text(text.encode("utf-16-le")) == decode_text(text.encode("utf-16-be")) == text


@pytest.mark.parametrize("beside", ["<!-- <meta charset='koi8-r'> -->", "<title>charset=koi8-r</title>", ""])
def test_only_the_declaration_declares(beside):
    text = f"<html><head>{beside}<meta name='a'><meta charset=windows-1251></head>" + "Насос и бак. " * 20
    assert decode_text(text.encode("cp1251"), markup=True) == text


def test_marks_within_and_halves_of_pairs():
    assert decode_text(b"\xef\xbb\xbf\xef\xbb\xbfA pump.") == "A pump."
    assert decode_text(b"\xef\xbb\xbf" + "A “new” pump — it’s good. ".encode("cp1252") * 9).startswith(
        "A “new”"
    )
    assert decode_text("Zürich \ud83d\ude00 ".encode("utf-8", "surrogatepass") * 9) == "Zürich 😀 " * 9


def test_one_broken_byte_leaves_the_rest_of_utf_8_as_it_is():
    data = ("café naïve Zoë " * 30).encode() + b"\xff" + "café".encode()
    assert decode_text(data).startswith("café naïve Zoë café")
