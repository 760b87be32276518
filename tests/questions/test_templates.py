"""Templates of questions, right and wrong ones."""

import pytest
import yaml
from tests.questions.conftest import COURSES

from fathom.errors import InputError
from fathom.questions.graph import read_templates

ROOT = COURSES.parents[2]
GOOD = {"level": "understand", "form": "multiple-choice", "text": "Who teaches {course}?", "answer": "person",
        "class": "Person", "select": "SELECT ?course ?person { ?course :lecturers ?person }",
        "ask": "ASK { ?course :lecturers ?person }"}  # fmt: skip


def write(path, **changes):
    path.write_text(yaml.safe_dump({"templates": {"who": GOOD | changes}}))
    return path


@pytest.mark.parametrize("name", ["arxiv.yaml", "courses/templates.yaml"])
def test_templates_that_are_shipped_are_right_and_of_all_levels(name):
    found = read_templates([COURSES.parent / name]).values()
    assert {(each.template.level, each.template.form) for each in found} == {
        ("memorise", "binary"), ("understand", "multiple-choice"), ("understand", "multiple-answer"),
        ("apply", "multiple-answer")}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "what"),
    [({"text": "Does {person} teach {course}?"}, "must not occur in a question of the form multiple-choice"),
     ({"form": "binary", "level": "memorise"}, "belongs into a question of the form binary"),
     ({"level": "memorise"}, "binary questions, and no others"),
     ({"level": "apply"}, "multiple choice is of level understand"),
     ({"text": "Who teaches?"}, "it names no entity"),
     ({"text": "Who teaches {course} in {term}?"}, r"\?term is missing"),
     ({"ask": "ASK { :x :lecturers ?person }"}, r"\?course is missing"),
     ({"select": "SELECT ?course { ?course :lecturers ?person }"}, r"\?person is missing"),
     ({"form": "open"}, "form = 'open'"),
     ({"levle": "apply"}, "unknown key templates.who.levle")],
)  # fmt: skip
def test_wrong_templates_are_refused(tmp_path, changes, what):
    with pytest.raises(InputError, match=what) as error:
        read_templates([write(tmp_path / "t.yaml", **changes)])
    assert "t.yaml" in str(error.value)


def test_two_templates_of_one_name_are_refused(tmp_path):
    with pytest.raises(InputError, match="two templates have this name"):
        read_templates([write(tmp_path / "a.yaml"), write(tmp_path / "b.yaml")])
