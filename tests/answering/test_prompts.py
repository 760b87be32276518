"""What a model reads, and which letters it names."""

import pytest
from tests.answering.conftest import make_item

from fathom.answering.answerer import parse_letter, parse_letters
from fathom.answering.prompts import EXAM, Item, Style, make_prompt, reorder


def test_examples_stand_before_the_question_as_in_mmlu():
    item = Item("x", "1 + 1?", ("1", "2"), (1,), subject="sums")
    asked = item._replace(question="2 + 2?", options=("4", "5"), right=(0,), examples=(item,))
    assert make_prompt(asked, head=EXAM).render(chat=False) == (
        "The following are multiple choice questions (with answers) about sums.\n\n"
        "1 + 1?\nA. 1\nB. 2\nAnswer: B\n\n2 + 2?\nA. 4\nB. 5\nAnswer:"
    )


def test_a_style_fills_subject_and_question_and_leaves_braces_alone():
    item = Item("x", "What is {subject}{}?", ("{question}", "%s"), (0,), subject="sets")
    prompt = make_prompt(item, Style("On {subject}:", "Pick one.\n{question}\nNow, {subject}!"))
    question = "Pick one.\nWhat is {subject}{}?\nA. {question}\nB. %s\nNow, sets!"
    assert prompt.render(chat=True) == question
    assert prompt.system == "On sets:"
    assert prompt.render(chat=False) == f"On sets:\n\n{question}\nAnswer:"


def test_context_comes_first_and_open_and_multiple_answers_are_spelt_out():
    example = Item("y", "Which?", ("a", "b", "c"), (0, 2), context="Record.")
    asked = Item("x", "What?", answer="that", examples=(example, Item("z", "Who?", answer="she")))
    assert make_prompt(asked).render(chat=True) == (
        "Record.\nWhich?\nA. a\nB. b\nC. c\nAnswer: A, C\n\nWho?\nAnswer: she\n\nWhat?\nAnswer:"
    )


def test_an_order_moves_the_right_option_along():
    item = make_item("France")
    moved = reorder(item, (3, 2, 1, 0))
    assert moved.options == item.options[::-1]
    assert moved.options[moved.right[0]] == "Paris"


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
