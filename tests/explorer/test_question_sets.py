"""What a page shows of questions: scores by form and level, every question, what each model answered."""

import json

import polars as pl
import pytest
from tests.explorer.runs import SETTINGS, write_questions
from tests.explorer.test_data import unpack

from fathom.explorer.analyses import describe_set, list_questions
from fathom.explorer.data import collect_data
from fathom.explorer.reader import read_run
from fathom.explorer.run import QUESTION_SCORES, Named


@pytest.fixture
def folder(tmp_path):
    return write_questions(tmp_path / "asked")


def test_an_optional_model_that_the_run_goes_without_is_named(folder):
    assert read_run(folder, SETTINGS, Named(left_out=["gone"])).missing == [
        "gone and all models adapted from it are left out: not fetched."
    ]


def read(folder):
    run = read_run(folder, SETTINGS)
    (found,) = run.questions
    return run, found


def test_scores_are_those_of_all_templates_by_form_and_level(folder):
    run, found = read(folder)
    told = describe_set(found, run.rows[QUESTION_SCORES])
    assert (told["id"], told["count"], run.missing) == ("courses", 5, [])
    assert told["kinds"] == [
        ["binary", "memorise", 2, "accuracy", 0.5],
        ["multiple-choice", "understand", 1, "accuracy", 0.25],
        ["multiple-answer", "apply", 1, "F1", None],
        ["open", "create", 1, "BLEU-4", None],
    ]
    assert len(told["rows"]) == 2 * 2 * 5
    assert told["rows"][0] == ["alpha", "plain", 0, "accuracy", 1.0, 0.5, 1.0, 1, 0]
    assert describe_set(found, [])["rows"] == []


def test_questions_come_with_what_is_right_and_what_was_answered(folder):
    told = list_questions(read(folder)[1])
    assert told["ids"] == ["q0", "q1", "q2", "q3", "q4"] and told["kind"] == [0, 0, 1, 2, 3]
    assert told["right"] == [0b01, 0b10, 0b100, 0b11, 0]
    assert told["keys"] == ["yes", "no", "Cy", "a; b", "Because"]
    assert [told["queries"][place] for place in told["query"]][2:] == [
        "ASK { ?mu :here true }", "ASK { ?mu :here true }", ""
    ]  # fmt: skip
    # those with other thresholds are not among them, and the first question was shown
    assert told["answers"][0] == ["alpha", "plain", [-1, 0b10, 0b100, 0b101, 0], [*[""] * 4, "of alpha"]]
    assert [each[:3] for each in told["answers"][1:]] == [
        ["alpha", "rag", [-1, 0b10, 0b100, 0b11, 0]],
        ["beta", "plain", [-1, 0b01, 0b010, 0, 0]],
        ["beta", "rag", [-1, 0b10, 0b010, 0, 0]],
    ]


def test_answers_to_other_questions_are_left_out_and_named(folder):
    path = folder / "questions" / "courses" / "answers" / "beta.parquet"
    table = pl.read_parquet(path)
    table.with_columns(question_id=pl.lit("other")).write_parquet(path)
    run, found = read(folder)
    assert list(found.answers) == ["alpha"]
    assert run.missing == ["courses: the answers of beta belong to other questions and are left out."]
    table.with_columns(chosen=[True]).write_parquet(path)
    assert list(read(folder)[1].answers) == ["alpha"]


def test_a_set_that_is_too_large_for_the_page_is_named(folder, monkeypatch):
    run, _ = read(folder)
    data = collect_data(run, SETTINGS)
    assert json.loads(unpack(data.blocks[data.overview["questions"]["courses"]]))["ids"][0] == "q0"
    monkeypatch.setattr("fathom.explorer.data.LIMIT", 10)
    data = collect_data(run, SETTINGS)
    assert data.overview["questions"] == {} and "questions-0" not in data.blocks
    assert any("courses: its questions are left out" in each for each in data.overview["missing"])


def test_questions_that_no_model_answered_have_a_page(folder):
    for path in (folder / "question-scores.csv", *(folder / "questions/courses/answers").iterdir()):
        path.unlink()
    run, found = read(folder)
    assert found.answers == {} and collect_data(run, SETTINGS).overview["analyses"] == ["questions"]
