"""Files of questions, and what is wrong with them."""

import pytest
from tests.refusals import refuses

from fathom.answering.choice_files import make_items, read_choice_folder, read_choice_rows
from fathom.errors import InputError
from fathom.io.contracts.answering import CHOICE_QUESTIONS
from fathom.io.tables import check_table

GOOD = 'Which, "here"?,a,"b, c",d,e,B\n"two\nlines?",1,2,3,4,D\n'.replace(
    'Which, "here"?', '"Which, ""here""?"'
)


def _write(folder, test: str, dev: str = GOOD):
    for split, text in (("test", test), ("dev", dev)):
        (folder / f"set_{split}.csv").write_text(text, encoding="utf-8")
    return folder


def test_questions_and_examples_are_read(tmp_path):
    table = read_choice_folder(_write(tmp_path, f"question,A,B,C,D,answer\n{GOOD}"), "set")
    check_table(table.to_arrow(), CHOICE_QUESTIONS)
    assert table["split"].to_list() == ["dev", "dev", "test", "test"]
    items = make_items(table, "things", 2, "set")
    assert items[0].question == 'Which, "here"?'
    assert items[0].options == ("a", "b, c", "d", "e")
    assert (items[0].right, items[1].right) == ((1,), (3,))
    assert [each.question for each in items[1].examples] == ['Which, "here"?', "two\nlines?"]
    with refuses("2 examples"):
        make_items(table, "things", 5, "set")


def test_what_stands_twice_is_left_out_and_logged(tmp_path, caplog):
    twice = GOOD + "Which?,a,b,a,c,A\n" + GOOD
    with caplog.at_level("INFO", logger="fathom"):
        table = read_choice_folder(_write(tmp_path, twice), "set")
    assert len(table.filter(split="test")) == 2
    assert [record.getMessage().partition("left out, ")[2] for record in caplog.records] == [
        "the right option stands twice", "the question stands twice", "the question stands twice"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [("Which?,a,b,c,d,e,A\n", "line 1: 5 options, questions have 4 options"),
     (GOOD + "Which?,a,b,c,B\n", "line 4: 3 options, questions have 4 options"),
     ("Which?;a;b;c;d;A\n", "line 1: 1 columns, questions have 4 options"),
     ("Which?,a,b,c,d\n", "line 1: 5 columns, questions have 4 options"),
     ("Which?,a,b,c,d,\n", "line 1: the answer is missing"),
     ("Which?,a,b,c,d,E\n", "line 1: the answer is 'E', no letter from A to D"),
     ("Which?,a,b,c,d,2\n", "line 1: the answer is '2', no letter from A to D"),
     ("Which?,a, ,c,d,A\n", "line 1: option B is empty"),
     (",a,b,c,d,A\n", "line 1: the question is empty"),
     ('"Which?,a,b,c,d,A\n', "line 1: not CSV"),
     ("", "there are no questions")],
)  # fmt: skip
def test_bad_files_get_one_message(tmp_path, text, message):
    with refuses(message, "Hint"):
        read_choice_folder(_write(tmp_path, text), "set")


def test_a_missing_file_is_named(tmp_path):
    with refuses("no such file", "set_dev.csv"):
        read_choice_folder(tmp_path, "set")


def test_rows_of_the_hub_are_read_and_checked():
    good = {"question": "Which?", "choices": ["a", "b", "c", "d"], "answer": 2, "subject": "x"}
    assert list(read_choice_rows([good], "org/set")) == [
        ("org/set, row 1", ("Which?", ["a", "b", "c", "d"], 2))
    ]
    for change, message in (({"choices": ["a", "b", "c", "d", "e"]}, "questions have 4 options"),
                            ({"answer": 4}, "no number from 0 to 3"),
                            ({"answer": None}, "the answer is missing"),
                            ({"choices": ["a", "b", "", "d"]}, "option C is empty")):  # fmt: skip
        with pytest.raises(InputError, match=message):
            list(read_choice_rows([good | change], "org/set"))
    with refuses("answer"):
        list(read_choice_rows([{"question": "x", "choices": []}], "org/set"))
