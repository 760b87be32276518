"""Open questions that models write: what passes, what is left out and why, and both doors."""

import pytest

from fathom.answering.answerer import Fitted, ModelAnswerer
from fathom.errors import InputError
from fathom.questions.material import read_user_questions
from fathom.questions.writing import read_answers, write_requests, write_with_model

RECORDS = [(f"r{n}", f"Course {n}; credits: {n}") for n in range(6)]


class Writer:
    """Stands in for a model that writes given texts."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts

    def fit(self, prompts):
        return [Fitted(prompt) for prompt in prompts]

    def generate(self, prompts, max_tokens, until=""):
        self.prompts = [prompt.render(chat=False) for prompt in prompts]
        return list(self._texts)


def test_what_a_model_writes_is_checked():
    writer = Writer(
        " How many credits has course 0?\nAnswer: None at all.",
        "Question: Who  teaches course 1?\n\nAnswer:  Nobody.\nQuestion: And 2?", "", "Course 3 is a course.",
        " What of course 4?\nAnswer: I'm sorry, the text does not say.",
        " how many credits has course 0?\nAnswer: None.",
    )  # fmt: skip
    found = write_with_model(writer, RECORDS)
    assert [each[1:] for each in found.valid] == [
        ("How many credits has course 0?", "None at all."), ("Who teaches course 1?", "Nobody.")]  # fmt: skip
    assert [fault[:2] for fault in found.faults] == [
        ("r2", "empty"), ("r3", "no question with an answer"), ("r4", "refused"), ("r5", "asked before"),
    ]  # fmt: skip
    assert writer.prompts[3].endswith("Text: Course 3; credits: 3\nQuestion:")
    with pytest.raises(InputError, match="no question passes: empty, refused"):
        write_with_model(Writer("", " What?\nAnswer: I cannot answer."), RECORDS[:2])


def test_a_small_model_writes_nothing_of_use_and_that_is_said(plain):
    with pytest.raises(InputError, match="no question passes"):
        write_with_model(ModelAnswerer(plain), RECORDS[:2])


def test_requests_and_their_answers():
    requests = write_requests(RECORDS, 4)
    assert len(requests) == 2 and "4 records" in requests[0] and "Record 2:\nCourse 5" in requests[1]
    with pytest.raises(InputError, match="0 records"):
        write_requests([], 4)
    found = read_answers([
        ("a.txt", '```json\n{"record": 1, "question": "Why?", "answer": "So."},\n```\n'),
        ("b.txt", 'I cannot help with record 1.\n'
                  '{"record": 2, "question": "What is in this text?", "answer": "X"}\n'
                  '{"record": 3, "question": "Say why.", "answer": "So."}\n'
                  '{"question": "When?", "answer": ""}\n'
                  '{"question": 5}\n["When?"]\nHere you are'),
    ])  # fmt: skip
    assert [each.question for each in found.valid] == ["Why?"]
    assert [fault[:2] for fault in found.faults] == [
        ("b.txt, line 1", "refused"), ("b.txt, line 5", "no question with an answer"),
        ("b.txt, line 6", "no question with an answer"), ("b.txt, line 7", "not a line of JSON"),
        ("b.txt, line 2", "points to the text"), ("b.txt, line 3", "no question"), ("b.txt, line 4", "empty"),
    ]  # fmt: skip
    with pytest.raises(InputError, match="the answer is empty"):
        read_answers([("c.txt", " \n")])
    with pytest.raises(InputError, match="no question passes: refused"):
        read_answers([("d.txt", "I’m sorry, I can’t do that.")])


def test_the_command_goes_from_records_to_questions_of_a_set(tmp_path, capsys):
    import polars as pl

    from fathom.commands.main import main
    from fathom.io.contracts.questions import CHUNKS
    from fathom.io.tables import write_table

    chunks = pl.DataFrame({"iri": ["a", "b", "c"], "text": ["Course A", "Course B", "Course C"]})
    write_table(tmp_path / "chunks.parquet", chunks, CHUNKS)
    main(["request", "questions", "--chunks", str(tmp_path / "chunks.parquet"), "--count", "2",
          "--output", str(tmp_path / "q.txt")])  # fmt: skip
    request = (tmp_path / "q-01.txt").read_text()
    assert "Course A" in request and "Course C" not in request
    (tmp_path / "answer.txt").write_text(
        '{"record": 1, "question": "What is A?", "answer": "A course."}\nSorry.\n'
    )
    main(["request", "read-questions", "--answer", str(tmp_path / "answer.txt"),
          "--output", str(tmp_path / "written.jsonl"), "--faults", str(tmp_path / "faults.csv")])  # fmt: skip
    (row,) = read_user_questions(tmp_path / "written.jsonl")
    assert (row["question"], row["answer"], row["form"]) == ("What is A?", "A course.", "open")
    assert 'answer.txt, line 2",refused' in (tmp_path / "faults.csv").read_text()
