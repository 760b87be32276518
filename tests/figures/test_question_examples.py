"""Examples of questions: one of each form and level, what is right marked, nothing cut by the frame."""

import polars as pl
import pytest
from tests.figures.frames import check_inside, draw_one, draw_twice
from tests.tables import read_delimited

from fathom.io.contracts.questions import QUESTIONS
from fathom.io.tables import make_empty_table, write_table

KINDS = {("open", "create"): 0, ("binary", "memorise"): 2, ("multiple-choice", "understand"): 4,
         ("multiple-answer", "apply"): 8}  # fmt: skip
LONG = "A $SIGN_ AND " + "MANY WORDS " * 90


@pytest.fixture
def table(tmp_path):
    rows = []
    for (form, level), options in KINDS.items():
        for name in ("b", "a"):
            names = [f"{name} {place}" for place in range(options)]
            right = [place == 1 for place in range(options)]
            values = {"question_id": f"{form}-{name}", "level": level, "form": form, "options": names,
                      "question": f"{LONG if form == 'open' else form}?", "right": right,
                      "answer": f"answer {name}"}  # fmt: skip
            empty = {"round": 0, "sources": [], "chunks": [], "bindings": [], "option_iris": []}
            rows.append({**dict.fromkeys(("template", "query", "asked"), ""), **empty, **values})
    schema = make_empty_table(QUESTIONS).schema
    write_table(tmp_path / "q.parquet", pl.DataFrame(rows, schema=schema), QUESTIONS)
    return {"questions": tmp_path / "q.parquet"}


def test_the_first_question_of_each_form_and_level_is_shown(table, tmp_path):
    (numbers,) = draw_twice(tmp_path, "question-examples", table, {"set": "A_$set"})
    rows = read_delimited(numbers, ",")
    assert list(dict.fromkeys(row["question_id"] for row in rows)) == [
        f"{form}-a" for form in ("binary", "multiple-choice", "multiple-answer", "open")
    ]
    assert {row["questions"] for row in rows} == {"2"}
    right = [row["option"] for row in rows if row["right"] == "True"]
    assert right == ["a 1"] * 3 + ["answer a"] and len(rows) == 2 + 4 + 8 + 1


def test_right_options_are_marked_and_long_texts_end_inside_the_frame(table):
    figure = draw_one("question-examples", table, {"set": "courses"})
    (axes,) = figure.axes
    check_inside(figure, axes.texts)
    bold = [text.get_text() for text in axes.texts if text.get_fontweight() == "bold"]
    assert bold == ["\u2605 a 1", "\u2605 B. a 1", "\u2605 B. a 1", "\u2605 answer a"]
    assert any(text.get_text().endswith("…") for text in axes.texts)
