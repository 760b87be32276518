"""Open questions: files of people's own, and pairs of a benchmark."""

import polars as pl
import pytest

from fathom.errors import InputError
from fathom.questions.material import make_open_from_pairs, read_user_questions


@pytest.mark.parametrize(
    ("name", "text"),
    [("faq.csv", 'Question,Answer,by\n"What, then?"," This. ",Ana\n\nAnd who?,Bo,Cy\n'),
     ("faq.jsonl",
      '{"question": "What, then?", "answer": "This."}\n\n{"question": "And who?", "answer": "Bo"}\n')],
)  # fmt: skip
def test_questions_of_users_become_open_questions(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    rows = read_user_questions(tmp_path / name)
    assert [(row["question"], row["answer"]) for row in rows] == [
        ("What, then?", "This."),
        ("And who?", "Bo"),
    ]
    assert [row["sources"] for row in rows] == [[f"{name}, line {2 if name[-1] == 'v' else 1}"],
                                                [f"{name}, line {4 if name[-1] == 'v' else 3}"]]  # fmt: skip
    assert {(row["form"], row["level"], row["template"], row["query"]) for row in rows} == {
        ("open", "create", name, "")
    }


@pytest.mark.parametrize(
    ("name", "text", "where", "what"),
    [("f.csv", 'question,answer\n"Who?,Bo\n', "f.csv, line 2", "not CSV"),
     ("f.csv", "question,reply\nWho?,Bo\n", "f.csv, line 1", "the header is question, reply"),
     ("f.csv", "question,answer\nquestion,answer\nWho?,Bo\n", "f.csv, line 2",
      "repeated header"),
     ("f.csv", "question,answer\nWho?\n", "f.csv, line 2", "1 field where the header has 2"),
     ("f.csv", "question,answer\nWho?, \n", "f.csv, line 2", "missing or empty"),
     ("f.csv", "question,answer\nWho?,Bo\nwho?,Cy\n", "f.csv, line 3", "the same question as in line 2"),
     ("f.csv", "question,answer\n", "f.csv", "there are no questions"),
     ("f.jsonl", '{"question": "Who?"}\n', "f.jsonl, line 1", "missing or empty"),
     ("f.jsonl", '{"question": "Who?", "answer": 3}\n', "f.jsonl, line 1", "missing or empty"),
     ("f.jsonl", "[1]\n", "f.jsonl, line 1", "not a JSON object"),
     ("f.jsonl", '{"question"\n', "f.jsonl, line 1", "not valid JSON"),
     ("f.jsonl", '{"question": "Who?", "answer": "a", "answer": "b"}\n', "line 1", "duplicate keys: answer"),
     ("f.csv", "question,answer,Answer\nWho?,a,b\n", "f.csv, line 1", "duplicate columns: answer"),
     ("f.txt", "Who?", "f.txt", "ends in .csv or .jsonl")],
)  # fmt: skip
def test_bad_files_are_refused_with_file_and_line(tmp_path, name, text, where, what):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        read_user_questions(tmp_path / name)
    assert error.value.where.endswith(where) and what in error.value.what


def test_pairs_become_open_questions():
    pairs = pl.DataFrame(
        {"pair_id": ["p2", "p1"], "prompt": ["Trees have", "A rank is"], "target": [" leaves", " one"]}
    )
    first, second = make_open_from_pairs(pairs, "near/tf")
    assert (first["question"], first["answer"], first["sources"]) == ("A rank is", "one", ["pair p1"])
    assert second["template"] == "near/tf" and first["question_id"] != second["question_id"]
