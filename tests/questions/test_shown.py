"""Questions as people read them."""

import pytest

from fathom.commands.main import main
from fathom.io.contracts.questions import QUESTIONS
from fathom.io.tables import write_table
from fathom.questions.shown import show_questions


def test_questions_are_shown_by_form_and_level_with_right_answers_marked(questions):
    blocks = show_questions(questions, 1, 100)
    heads = [block.splitlines()[0] for block in blocks]
    assert heads[0].startswith("binary, memorise: ") and heads[-1] == "open, create: 3 questions"
    row = questions.filter(form="multiple-choice").sort("question_id").row(0, named=True)
    (block,) = [each for each in blocks if each.startswith("multiple-choice")]
    marked = [line.split(". ", 1)[1] for line in block.splitlines() if line.startswith("    * ")]
    assert row["question"] in block and marked == [row["answer"]]


@pytest.mark.parametrize("verb", ["questions", "summary"])
def test_a_run_of_questions_alone_is_shown(questions, tmp_path, capsys, verb):
    (tmp_path / "questions" / "courses").mkdir(parents=True)
    write_table(tmp_path / "questions" / "courses" / "questions.parquet", questions, QUESTIONS)
    (tmp_path / "sizes.csv").write_text("of,quantity,here,paper\ncourses,questions,64,18000\n")
    main([verb, str(tmp_path)])
    assert "multiple-answer, apply" in capsys.readouterr().out
