"""Letters in what models write."""

import pytest

from fathom.answering.asking import parse_letter, parse_letters


@pytest.mark.parametrize(
    ("text", "place"),
    [(" B", 1), ("B.", 1), ("(C) because", 2), ("c) it is", 2), ("**D**", 3), ("A\n\nQuestion", 0),
     ("B because it is so", 1), ("The answer is (A).", 0), ("Answer: C", 2), ("Option B, not A", 1),
     ("It must be D", 3), ("A: the first", 0), ("`B`", 1), ("the correct choice is: D", 3),
     ("A list of words", None), ("Both A and B", None), ("", None), ("E", None), ("none of these", None),
     ("C++ has classes", None), ("a list", None), ("Because of A-level rules", None),
     ("answer is A or B", None), ("A list; the answer is B", 1), ("A is right", 0)],
)  # fmt: skip
def test_a_letter_is_found_where_the_answer_names_one(text, place):
    assert parse_letter(text, 4) == place


def test_letters_beyond_the_options_do_not_count():
    assert parse_letter("C", 2) is None
    assert parse_letter("H", 8) == 7


@pytest.mark.parametrize(
    ("text", "places"),
    [("A, C and D", (0, 2, 3)), (" B", (1,)), ("\n(A); (B)\nC", (0, 1)), ("none", ()), ("ACD", ()),
     ("A list: B, H", (1, 7)), ("A or C", (0, 2)), ("", ())],
)  # fmt: skip
def test_several_letters_are_those_of_the_first_line(text, places):
    assert parse_letters(text, 8) == places
