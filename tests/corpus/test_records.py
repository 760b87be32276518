from hypothesis import given
from hypothesis import strategies as st

from fathom.corpus.records import clean_line

_SIGNS = [
    "  ", *" \n\r\t\x0b\x1c\x85\u00a0\u2028\u3000", *"\x00\x07\x7f\u200b\ufeff", "a", "b c", "é", "\ud800",
]  # fmt: skip


@given(st.lists(st.sampled_from(_SIGNS), max_size=12).map("".join))
def test_a_line_has_single_blanks_and_no_control_characters(text):
    kept = "".join(sign for sign in text if sign.isspace() or sign not in "\x00\x07\x7f")
    assert clean_line(text) == " ".join(kept.split())


def test_control_characters_of_windows_are_its_letters_and_signs():
    assert clean_line("the crew\x92s caf\x81\xe9 \x80") == "the crew’s café €"
