"""Files of questions, and what is wrong with them."""

import io
import json

import polars as pl
import pytest
from tests.programs import DATASETS, find_program, run_program
from tests.refusals import refuses

from fathom.answering.choice_files import make_items, read_choice_folder, read_choice_rows
from fathom.errors import InputError
from fathom.io.contracts.answering import CHOICE_QUESTIONS
from fathom.io.tables import check_table, read_table
from fathom.planning.rehearsal.hub_stub import serve_hub

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
        "repeated right option", "repeated question", "repeated question"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [("Which?,a,b,c,d,e,A\n", "line 1: 5 options, questions have 4 options"),
     (GOOD + "Which?,a,b,c,B\n", "line 4: 3 options, questions have 4 options"),
     ("Which?;a;b;c;d;A\n", "line 1: 1 column, questions have 4 options"),
     ("Which?,a,b,c,d\n", "line 1: 5 columns, questions have 4 options"),
     ("Which?,a,b,c,d,\n", "line 1: the answer is missing"),
     ("Which?,a,b,c,d,E\n", "line 1: the answer is 'E', no letter from A to D"),
     ("Which?,a,b,c,d,2\n", "line 1: the answer is '2', no letter from A to D"),
     ("Which?,a, ,c,d,A\n", "line 1: option B is empty"),
     (",a,b,c,d,A\n", "line 1: the question is empty"),
     ('"Which?,a,b,c,d,A\n', "line 1: not CSV"),
     ("", "no questions")],
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


ROW = {"question": "Which?", "subject": "x", "choices": ["a", "b", "c", "d"], "answer": 2}
SETS = {"anatomy": [ROW, ROW | {"question": "What?", "answer": 0}],
        "columns": [{"question": "Which?", "options": ["a", "b", "c", "d"], "answer": "C"}],
        "missing": [ROW, ROW | {"question": "What?", "answer": None}],
        "hidden": [ROW | {"answer": -1}],
        "five": [ROW | {"choices": ["a", "b", "c", "d", "e"]}],
        "letters": [ROW | {"answer": "C"}],
        "mixed": [{"question": "Which?", "options": ["a", "b", "c", "d"], "answer": 1}],
        "blank": [ROW | {"choices": ["a", "b", " ", "d"]}]}  # fmt: skip
# not datasets itself: it reads where the hub is when it is imported
ASK = """
import json, sys

sys.path.append(sys.argv[2])
from read_choices import fetch_choices
from fathom.errors import InputError

for hub, revision, name in json.loads(sys.argv[1]):
    try:
        print(json.dumps([name, fetch_choices(hub, revision, name)["question"].to_list()]))
    except InputError as error:
        print(json.dumps([name, str(error)]))
"""


def make_data_set(sets) -> dict[str, bytes]:
    """Return the files of a data set with a subset for each set of questions, as `cais/mmlu` has them."""
    files, cards = {}, []
    for name, rows in sets.items():
        cards.append(f"- config_name: {name}\n  data_files:")
        example = (rows[0] if name in ("columns", "letters") else ROW) | {"question": "An example?"}
        for split, some in (("test", rows), ("dev", [example])):
            cards.append(f"  - split: {split}\n    path: {name}/{split}-*")
            buffer = io.BytesIO()
            pl.DataFrame(some).write_parquet(buffer)
            files[f"{name}/{split}-00000-of-00001.parquet"] = buffer.getvalue()
    return files | {"README.md": "\n".join(["---", "configs:", *cards, "---", ""]).encode()}


def test_questions_of_the_hub_come_from_the_pinned_commit_and_bad_ones_get_one_message(tmp_path):
    changed = {"anatomy": [ROW | {"question": "Changed?"}]}
    with serve_hub() as hub:
        pinned, last = hub.add("org/mmlu", make_data_set(SETS), make_data_set(changed))
        environment = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "0",
                       "HF_HUB_DISABLE_XET": "1"}  # fmt: skip
        output = tmp_path / "questions.parquet"
        done = run_program(
            "read_choices", "--set", "anatomy", "--hub", "org/mmlu", "--revision", pinned,
            "--questions", output, environment=environment, imports=DATASETS,
        )  # fmt: skip
        table = read_table(output, CHOICE_QUESTIONS)
        assert table["question"].to_list() == ["An example?", "Which?", "What?"]
        assert table["split"].to_list() == ["dev", "test", "test"] and table["right"].to_list() == [2, 2, 0]
        assert not any(last in path for _, path, _ in hub.asked)

        script = tmp_path / "ask.py"
        script.write_text(ASK)
        wanted = [("org/mmlu", last, "anatomy"),
                  *(("org/mmlu", pinned, name) for name in SETS if name != "anatomy"),
                  ("org/mmlu", pinned, "geography"),
                  ("org/mmlu", "0" * 40, "anatomy"),
                  ("org/nothing", pinned, "anatomy")]  # fmt: skip
        done = run_program(
            script,
            json.dumps(wanted),
            find_program("read_choices").parent,
            environment=environment,
            imports=DATASETS,
        )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, _ in found] == [name for *_, name in wanted]
    other, columns, missing, hidden, five, letters, mixed, blank, subset, revision, unknown = (
        each for _, each in found
    )
    assert other == ["An example?", "Changed?"]
    assert "org/mmlu, columns, dev, row 1: missing columns: choices" in columns
    assert "needed: question, choices, answer" in columns
    assert "org/mmlu, missing, test, row 2: the answer is missing" in missing
    assert "org/mmlu, hidden, test, row 1: the answer is -1, no number from 0 to 3" in hidden
    assert "row 1: choices are ['a', 'b', 'c', 'd', 'e'], questions have 4 options" in five
    assert "row 1: the answer is 'C', no number from 0 to 3" in letters
    assert "org/mmlu cannot be read: Couldn't cast\nHint: its splits and files need the same columns" in mixed
    assert "row 1: option C is empty" in blank
    assert "org/mmlu cannot be read: BuilderConfig 'geography' not found" in subset
    assert f"org/mmlu has no revision {'0' * 40}" in revision
    assert "org/nothing is not on the hub, or is private" in unknown
