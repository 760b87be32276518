"""Tasks for lm-evaluation-harness: their data, and what the harness itself reads."""

import importlib.util
import runpy
from itertools import product

import numpy as np
import polars as pl
import pytest
import yaml
from tests.programs import find_program
from tests.questions.conftest import SOME, pose

from fathom.io.contracts.questions import CHUNKS, QUESTIONS
from fathom.io.files import hash_file, read_json_lines
from fathom.io.tables import write_table
from fathom.questions.material import make_open
from fathom.questions.question_rounds import tabulate_questions


class _Loader(yaml.SafeLoader):
    """Knows the harness's tag for a function."""


_Loader.add_constructor("!function", lambda loader, node: f"function {node.value}")


@pytest.fixture(scope="module")
def rows(catalogue):
    found = [*pose(catalogue, *SOME), make_open("faq.csv", 'Why "this"?', "Because.", "faq.csv, line 2")]
    return [{**row, "round": 0, "records": []} for row in found]


def test_each_form_and_level_is_a_task_whose_data_are_the_questions(rows, tmp_path, monkeypatch):
    write_table(tmp_path / "q.parquet", tabulate_questions(rows, []), QUESTIONS)
    chunks = pl.DataFrame({"iri": list("abcdef"), "text": [f"Record {name}." for name in "abcdef"]})
    write_table(tmp_path / "c.parquet", chunks, CHUNKS)
    np.save(tmp_path / "c.npy", np.eye(6, dtype=np.float32))
    np.save(tmp_path / "q.npy", np.eye(6, dtype=np.float32)[np.arange(len(rows)) % 6])
    options = {"--questions": tmp_path / "q.parquet", "--vectors": tmp_path / "q.npy",
               "--chunks": tmp_path / "c.parquet", "--embeddings": tmp_path / "c.npy", "--set": "courses",
               "--tasks": tmp_path / "lm-eval"}  # fmt: skip
    monkeypatch.setattr("sys.argv", ["export", *(str(part) for pair in options.items() for part in pair)])
    for _ in range(2):  # the second time over the first
        runpy.run_path(str(find_program("export_questions")), run_name="__main__")
    tasks = {path.stem: path for path in (tmp_path / "lm-eval").glob("*.yaml")}
    kinds = {"binary_memorise": ("multiple_choice", ["acc"], 22),
             "multiple-choice_understand": ("multiple_choice", ["acc"], 22),
             "multiple-answer_understand": ("multiple_choice", ["acc", "f1"], 8 * 6),
             "multiple-answer_apply": ("multiple_choice", ["acc", "f1"], 8 * 5),
             "open_create": ("generate_until", ["bleu"], 1)}  # fmt: skip
    assert set(tasks) == {f"fathom_courses_{name}_{prompt}" for name in kinds for prompt in ("plain", "rag")}
    for (name, (output, metrics, count)), prompt in product(kinds.items(), ("plain", "rag")):
        path = tasks[f"fathom_courses_{name}_{prompt}"]
        values = yaml.load(path.read_text(), _Loader)  # noqa: S506 -- a safe loader
        data = path.with_suffix(".jsonl")
        assert values["output_type"] == output and values["task"] == path.stem
        assert [each["metric"] for each in values["metric_list"]] == metrics
        assert values["dataset_kwargs"] == {"file": data.name}
        assert values["metadata"]["questions_sha256"] == hash_file(data)
        assert len(read_json_lines(data)) == count
    by_id = {row["question_id"]: row for row in rows}
    for each in read_json_lines(
        tmp_path / "lm-eval" / "fathom_courses_multiple-choice_understand_plain.jsonl"
    ):
        row = by_id[each["question_id"]]
        assert each["options"] == list("ABCD") and row["question"] in each["prompt"]
        assert f"\n{'ABCD'[each['gold']]}. {row['answer']}\n" in each["prompt"]
    for each in read_json_lines(tmp_path / "lm-eval" / "fathom_courses_multiple-answer_apply_plain.jsonl"):
        answers = by_id[each["question_id"]]["answer"].split("; ")
        option = each["prompt"].split("\n")[1].removeprefix("Proposed answer: ")
        assert each["options"][each["gold"]] == ("yes" if option in answers else "no")
    (each,) = read_json_lines(tmp_path / "lm-eval" / "fathom_courses_open_create_rag.jsonl")
    first = "abcdef"[(len(rows) - 1) % 6]
    others = [name for name in "abcdef" if name != first][:4]
    lines = [f"Record {name}." for name in (first, *others)]
    assert each["prompt"] == "\n".join([*lines, "", 'Question: Why "this"?', "Answer:"])
    pytest.importorskip("datasets")
    file = tmp_path / "lm-eval" / "load_questions.py"
    specification = importlib.util.spec_from_file_location("load_questions", file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    found = module.load_questions(file="fathom_courses_open_create_plain.jsonl", version=1.0)[
        "test"
    ].to_list()
    assert [(each["prompt"], each["answer"]) for each in found] == [
        ('Question: Why "this"?\nAnswer:', "Because.")
    ]
