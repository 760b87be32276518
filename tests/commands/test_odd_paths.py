"""Paths, names and numbers that no program should get: one message each, no traceback, no waiting."""

import os
import re

import orjson
import pytest

from fathom.commands.main import main
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io.contracts.jobs import MODELS
from fathom.io.delimited import write_rows
from fathom.io.files import hash_file, open_decompressed
from fathom.jobs.program import run_logged
from fathom.models.arriving import describe_tensors, find_lack, read_step

BAD = "caf\udce9"
"""A name that is no UTF-8, as Python has it."""


def end(capsys, *words: object) -> str:
    """Return what a command says that ends with an error."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    said = capsys.readouterr()
    assert ended.value.code in (1, 2) and "Traceback" not in said.err
    return said.err


@pytest.mark.parametrize("verb", [["build", "x"], ["plan"], ["rehearse"], ["score", "m", "p"]])
@pytest.mark.parametrize("number", ["0", "-1", "1.5", "9" * 5000])
def test_no_command_takes_less_than_one_core(capsys, verb, number):
    option = "--threads" if verb[0] == "score" else "--cores"
    assert option in end(capsys, *verb, option, number)


@pytest.mark.parametrize("verb", ["page", "summary", "export", "questions"])
def test_links_that_loop_and_names_that_are_too_long_are_named(tmp_path, capsys, verb):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    output = ["--output", tmp_path / "out"] if verb == "export" else []
    for path in (tmp_path / "a", tmp_path / ("x" * 300), tmp_path / "a" / "c"):
        assert "Error: " in end(capsys, verb, path, *output)


def test_an_error_of_a_path_is_a_message(tmp_path, capsys):
    import argparse

    (tmp_path / "a").symlink_to(tmp_path / "a")
    for path in (tmp_path / "a", tmp_path / ("x" * 300)):
        with pytest.raises(SystemExit) as ended:
            run_logged(lambda _, path=path: path.open(), argparse.Namespace(log=None), "it")
        said = capsys.readouterr().err
        assert ended.value.code == 1 and str(path) in said and "Hint: " in said


@pytest.mark.parametrize(
    "words",
    [["build", BAD, "--models", "gpt2"], ["build", "docs", "--models", BAD],
     ["plan", "--config", f"run={BAD}"], ["build", "docs", "--models", "gpt2", "--run", BAD],
     ["page", BAD], ["page", "docs", "--output", BAD],
     ["score", BAD, "p.jsonl"], ["score", "m", BAD], ["watch", BAD, "--pairs", "p.jsonl"],
     ["bits", BAD, "--models", "m"], ["export", "docs", "--output", BAD], ["models", "add", BAD]],
)  # fmt: skip
def test_an_argument_that_is_no_utf8_is_refused_and_nothing_is_written(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    said = end(capsys, *words)
    assert r"caf\udce9" in said and "rename" in said
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]


def test_a_working_folder_that_is_no_utf8_starts_no_run(tmp_path, monkeypatch, capsys):
    folder = tmp_path / BAD
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.txt").write_text("One. " * 40)
    monkeypatch.chdir(folder)
    for words in (["build", "docs", "--models", "smollm2-135m-instruct"], ["plan"], ["run", "-n"]):
        assert r"caf\udce9" in end(capsys, *words)
    assert [path.name for path in folder.iterdir()] == ["docs"]


def test_a_checkpoint_whose_name_is_no_utf8_is_refused(tmp_path):
    (tmp_path / BAD).mkdir()
    (tmp_path / BAD / "config.json").write_text("{}")
    with pytest.raises(InputError, match="no UTF-8"):
        find_lack(tmp_path / BAD)


def test_a_checkpoint_whose_name_is_too_long_for_its_scores_is_refused(tmp_path):
    folder = tmp_path / ("c" * 230)
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    with pytest.raises(InputError, match="bytes"):
        find_lack(folder)


def test_a_table_with_a_path_that_is_no_utf8_is_not_left_half_written(tmp_path):
    rows = [dict.fromkeys(MODELS.names, "") | {"kind": "base", "source": f"/disk/{BAD}"}]
    with pytest.raises(UnicodeEncodeError):  # which programs turn into a message
        write_rows(tmp_path / "models.tsv", rows, MODELS)
    assert not list(tmp_path.iterdir())


def test_a_pipe_is_refused_where_a_file_is_read(tmp_path):
    path = tmp_path / "p.jsonl"
    os.mkfifo(path)
    for read in (hash_file, open_decompressed):
        with pytest.raises(InputError, match="regular file"):
            read(path)


def test_weights_that_are_a_pipe_are_refused(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    os.mkfifo(tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="regular file"):
        find_lack(tmp_path)


def write_header(folder, header) -> None:
    """Write weights whose header says something."""
    content = orjson.dumps(header)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(len(content).to_bytes(8, "little") + content)


@pytest.mark.parametrize(
    "tensor",
    [[1], 3, "x", None, {}, {"shape": [1]}, {"data_offsets": [0, 0]},
     {"shape": [1], "data_offsets": ["a", "b"]}, {"shape": [1], "data_offsets": [0]},
     {"shape": [1], "data_offsets": 4}, {"shape": "x", "data_offsets": [0, 0]},
     {"shape": [1], "data_offsets": [0, -4]}],
)  # fmt: skip
def test_a_header_that_says_something_else_is_no_whole_file(tmp_path, tensor):
    write_header(tmp_path, {"w": tensor})
    assert "header cannot be read" in find_lack(tmp_path)
    with pytest.raises(InputError, match="header cannot be read"):
        describe_tensors(tmp_path)


@pytest.mark.parametrize("named", [["a"], {"a": 1}, 5, None])
def test_weights_named_by_what_is_no_text_are_those_of_the_folder(tmp_path, named):
    write_header(tmp_path, {})
    (tmp_path / "config.json").write_bytes(orjson.dumps({"transformers_weights": named}))
    assert find_lack(tmp_path, tokenizer=False) == ""


def test_a_step_is_one_that_tables_hold():
    assert read_step("checkpoint-1200") == 1200
    assert read_step("checkpoint-" + "9" * 20) == read_step("x" * 240 + "9" * 240) == 0


@pytest.mark.parametrize(
    ("values", "where"),
    [({"run": "r" * 300}, "run"), ({"models": {"adapt": [{"base": "m", "paths": [[]]}]}}, "paths")],
)
def test_names_that_make_no_files_and_empty_paths_are_refused(values, where):
    with pytest.raises(ValueError, match=re.escape(where)):
        Config.model_validate(values)
