"""`fathom build`: what it finds, what it writes, and what it refuses."""

import os
from pathlib import Path

import polars as pl
import pytest
from tests.refusals import refuses

from fathom.commands import main as command
from fathom.config.whole import read_config
from fathom.config.yaml_files import parse_yaml
from fathom.planning.building import (
    choose_domains,
    look_at,
    make_configuration,
    name_run,
    resolve_models,
    write_configuration,
)

MODELS = ["SmolLM2-135M-Instruct-Q4_1", "gemma-3-270m-Q4_K_M", "gpt2", "gpt2-medium"]


def write_folder(folder: Path) -> Path:
    for name, count in (("law", 60), ("medicine", 50), ("rest", 2)):
        for number in range(count):
            path = folder / "texts" / name / f"{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"The court of number {number} hears the appeal of the plaintiff.\n")
    return folder / "texts"


def test_a_folder_becomes_a_configuration_that_is_valid_and_kept(tmp_path):
    found = look_at(str(write_folder(tmp_path)), {})
    assert found.documents == 112
    assert abs(found.words - 112 * 11) < 5  # estimated by size
    assert found.groups == {"law": 60, "medicine": 50, "rest": 2}
    domains, _ = choose_domains(found)
    assert domains == {"law": ["law.*"], "medicine": ["medicine.*"]}
    path = tmp_path / "own.yaml"
    assert not write_configuration(path, "own", found, MODELS[:2])
    config = read_config(parse_yaml(path.read_text(), str(path)), str(path))
    assert config.corpus.source == "folder"
    assert config.pairs.tokenizer == MODELS[0]
    assert config.models.score == MODELS[:2]
    path.write_text(path.read_text() + "# a note\n")
    assert write_configuration(path, "own", found, MODELS[:2])
    assert path.read_text().endswith("# a note\n")
    path.write_text(path.read_text().replace('"count": 60', '"count": 61'))
    with refuses("own.yaml", "edited", "--run"):
        write_configuration(path, "own", found, MODELS[:2])
    assert '"count": 61' in path.read_text()


def test_tables_say_their_columns_and_topics(tmp_path):
    rows = [{"body": "Some words here", "topic": "a" if number % 2 else "b"} for number in range(500)]
    pl.DataFrame(rows).write_csv(tmp_path / "t.csv")
    found = look_at(str(tmp_path / "t.csv"), {})
    assert found.corpus["columns"] == {"text": "body", "categories": "topic"}
    assert (found.documents, found.words) == (500, 1500)
    assert sorted(choose_domains(found)[0]) == ["a", "b"]
    text = make_configuration("t", found, MODELS[:1])
    assert read_config(parse_yaml(text, "t"), "t").corpus.columns.text == "body"
    pl.DataFrame({"x": ["y"]}).write_csv(tmp_path / "no.csv")
    with refuses("no.csv", "there are x"):
        look_at(str(tmp_path / "no.csv"), {})
    pl.DataFrame({"body": ["y"], "content": ["z"]}).write_csv(tmp_path / "two.csv")
    with refuses("two.csv", "body, content", "--text"):
        look_at(str(tmp_path / "two.csv"), {})
    assert look_at(str(tmp_path / "two.csv"), {"text": "content"}).corpus["columns"]["text"] == "content"


def test_models_by_short_names():
    assert resolve_models(["smollm2", "gemma3-270m", "GPT2"], MODELS, "x") == [*MODELS[:2], "gpt2"]
    with refuses("gtp2", "gpt2"):
        resolve_models(["gtp2"], MODELS, "x")
    with refuses("several", "gpt2, gpt2-medium"):
        resolve_models(["gpt"], MODELS, "x")


def test_names_of_runs(tmp_path):
    (tmp_path / "a b.csv").touch()
    assert name_run(str(tmp_path / "a b.csv")) == "a-b"
    assert name_run("hub:owner/set.v1") == "set-v1"


def test_what_is_not_there_is_refused(tmp_path, monkeypatch):
    with refuses("nothere", "hub:"):
        look_at(str(tmp_path / "nothere"), {})
    (tmp_path / "empty").mkdir()
    with refuses("empty", "no document"):
        look_at(str(tmp_path / "empty"), {})
    with refuses("hub:a:b:c", "OWNER/NAME"):
        look_at("hub:a:b:c", {})
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with refuses("hub:owner/set", "hub cannot be reached"):
        look_at("hub:owner/set", {})


def test_without_a_terminal_it_needs_yes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path)
    with pytest.raises(SystemExit), Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        command.main(["build", "texts", "--models", "smollm2"])
    assert "--yes" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.yaml"))
