"""Reference benchmarks: every fault is listed with its line; valid files become a benchmark."""

import json
from functools import partial
from pathlib import Path

import pytest
from tests.programs import run_program
from tests.refusals import refuses

from fathom.benchmark.reference import ReferencePair, contains_answer, find_faults, read_entries
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import read_json
from fathom.io.tables import read_table

GOOD = {"category": "Deep Learning", "prompt": "Stacked machines are named after", "target": " Boltzmann"}


run = partial(run_program, "import_reference")


def write_lines(path: Path, *rows: object) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(("changes", "rule"), [
    ({"category": " "}, "empty"),
    ({"prompt": ""}, "empty"),
    ({"target": " "}, "empty"),
    ({"target": "Boltzmann"}, "target blank"),
    ({"target": "  Boltzmann"}, "target blank"),
    ({"target": " Boltzmann "}, "target blank"),
    ({"target": "\tBoltzmann"}, "target blank"),
    ({"prompt": "They are named after "}, "prompt end"),
    ({"prompt": "The BOLTZMANN machine is named after"}, "answer"),
])  # fmt: skip
def test_each_fault_is_found(changes, rule):
    entry = ReferencePair(7, **{**GOOD, **changes})
    assert [(fault.line, fault.rule) for fault in find_faults([entry])] == [(7, rule)]
    assert find_faults([ReferencePair(7, **GOOD)]) == []


@pytest.mark.parametrize(
    ("name", "text", "twice"),
    [
        ("a.csv", "category,prompt,Prompt,target\nc,p,q, t\n", "duplicate columns: prompt"),
        ("a.jsonl", '{"category": "c", "prompt": "p", "target": " t", "target": " u"}\n', "keys: target"),
    ],
)
def test_what_stands_twice_is_a_fault(tmp_path, name, text, twice):
    (tmp_path / name).write_text(text)
    entries, (fault,) = read_entries(tmp_path / name)
    assert entries == [] and fault.line == 1 and twice in fault.text


def test_every_fault_of_an_entry_is_named():
    found = find_faults([ReferencePair(1, "c", "He said that word ", "word")])
    assert [fault.rule for fault in found] == ["prompt end", "target blank", "answer"]


def test_duplicates_name_the_first_line():
    (fault,) = find_faults([ReferencePair(1, **GOOD), ReferencePair(9, **{**GOOD, "target": " BOLTZMANN"})])
    assert (fault.line, fault.rule, fault.entry) == (9, "duplicate", 2) and "line 1" in fault.text


@pytest.mark.parametrize(("prompt", "answer", "holds"), [
    ("the state of art", "state", True),
    ("a state-of-the-art state", "state", True),
    ("state-of-the-art and stately", "state", False),
    ("the agent's", "agent", False),
    ("reward model", "reward model", True),
    ("C++ is", "C++", True),
])  # fmt: skip
def test_answers_are_whole_words(prompt, answer, holds):
    assert contains_answer(prompt, answer) == holds


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_good_file_becomes_a_benchmark(tmp_path, ending):
    other = {**GOOD, "category": "Graphs, large", "prompt": 'Cut "now", or keep the', "target": " tree"}
    if ending == "jsonl":
        path = write_lines(tmp_path / "expert.jsonl", GOOD, "", other)
    else:
        text = "\ufeffPrompt,keyword,target,source\n"
        text += f"{GOOD['prompt']},Deep  learning, Boltzmann,Prince 2023\n"
        text += '"Cut ""now"", or keep the","Graphs, large", tree,\n'
        (path := tmp_path / "expert.csv").write_text(text)
    run("--entries", path, "--title", "Deep | learning", "--folder", tmp_path / "reference")
    pairs = read_table(tmp_path / "reference" / "pairs.parquet", PAIRS)
    assert pairs["keyword"].to_list() == ["deep learning", "graphs, large"]
    assert pairs["prompt"].to_list() == [GOOD["prompt"], other["prompt"]]
    assert set(pairs["variant"]) == {"reference"} and pairs["pair_id"].is_unique().all()
    assert pairs["doc_id"].to_list() == (["Prince 2023", ""] if ending == "csv" else ["", ""])
    report = read_json(tmp_path / "reference" / "pairs.json")
    assert report["pairs"] == 2 and report["categories"] == {"deep learning": 1, "graphs, large": 1}
    card = (tmp_path / "reference" / "README.md").read_text()
    assert "| deep learning |" in card and "Deep \\| learning" in card
    assert len((tmp_path / "reference" / "pairs.jsonl").read_text().splitlines()) == 2


def test_all_faults_are_named_with_their_lines_and_nothing_is_written(tmp_path):
    path = write_lines(
        tmp_path / "e.jsonl", GOOD, "{no json", {**GOOD, "target": "x"}, [1], {"prompt": 3}, GOOD
    )
    with refuses("line 2", "line 3: target", "line 4", "line 5", "line 6: duplicate", "line 1"):
        run("--entries", path, "--folder", tmp_path / "reference")
    assert not (tmp_path / "reference").exists()


@pytest.mark.parametrize(("name", "content", "message"), [
    ("e.csv", b"prompt;target\n", "header"),
    ("e.csv", b"category,prompt,target\na,b\n", "2 fields"),
    ("e.csv", b'category,prompt,target\n"a,b\n', "not CSV"),
    ("e.jsonl", b"", "no pairs"),
    ("e.jsonl", b"\xff", "UTF-8"),
    ("e.txt", b"", "ends in .jsonl or .csv"),
])  # fmt: skip
def test_other_files_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with refuses(message):
        run("--entries", tmp_path / name, "--folder", tmp_path / "out")


def test_records_of_several_lines_are_named_by_their_first(tmp_path):
    text = 'category,prompt,target\na,"one\ntwo", x\nb,,y\n'
    (tmp_path / "e.csv").write_text(text)
    entries, faults = read_entries(tmp_path / "e.csv")
    assert [entry.line for entry in entries] == [2, 4] and not faults


def test_a_missing_file(tmp_path):
    with refuses("no such file"):
        read_entries(tmp_path / "e.csv")


def test_the_folder_loads_as_a_data_set(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    path = write_lines(tmp_path / "e.jsonl", GOOD)
    run("--entries", path, "--folder", tmp_path / "reference")
    (tmp_path / "reference" / "lm-eval").mkdir()
    write_lines(tmp_path / "reference" / "lm-eval" / "pairs.jsonl", {"other": 1})
    loaded = datasets.load_dataset(str(tmp_path / "reference"), split="test", cache_dir=str(tmp_path / "c"))
    (row,) = loaded.to_list()
    assert (row["prompt"], row["target"], row["variant"]) == (GOOD["prompt"], GOOD["target"], "reference")
