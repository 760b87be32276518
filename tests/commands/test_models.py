"""`fathom models`: what is in the table, what a name stands for, whether the hub gives it."""

import json
from pathlib import Path

import pytest
from tests.programs import run_command
from tests.refusals import refuses
from tests.tables import write_models

from fathom.commands.main import main
from fathom.models.registry import read_registry
from fathom.planning.rehearsal.hub_stub import serve_hub

CONFIG = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 2,
          "vocab_size": 100, "dtype": "float16"}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder with a model of its own."""
    (tmp_path / "my-model").mkdir()
    (tmp_path / "my-model" / "config.json").write_text(json.dumps(CONFIG))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_models_are_listed_by_words(folder, capsys):
    main(["models", "list", "SMOLLM2", "gemma-3-270m"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["name", "parameters", "kind", "cutoff", "source"]
    assert {line.split()[0] for line in lines[1:]} == {"SmolLM2-135M-Instruct-Q4_1", "gemma-3-270m-Q4_K_M"}
    with pytest.raises(SystemExit):
        main(["models", "list", "nosuchmodel"])
    assert "nosuchmodel" in capsys.readouterr().err


def test_a_model_is_described_then_added_to_the_table_once(folder, capsys):
    main(["models", "describe", "./my-model", "gpt2-xl"])
    said = capsys.readouterr().out
    assert str(folder / "my-model") in said and "float16" in said and "openai-community/gpt2-xl" in said
    assert not (folder / "config").exists()
    shipped = read_registry(Path(__file__).resolve().parents[2] / "config" / "models.tsv")
    main(["models", "add", "./my-model"])
    added = read_registry(folder / "config" / "models.tsv")
    assert list(added) == [*shipped, "my-model"] and added["gpt2"] == shipped["gpt2"]
    before = (folder / "config" / "models.tsv").read_bytes()
    main(["models", "add", "./my-model", "gpt2"])
    assert (folder / "config" / "models.tsv").read_bytes() == before
    assert "nothing new" in capsys.readouterr().out


def test_the_hub_is_asked_for_what_is_named(folder):
    with serve_hub() as hub:
        hub.add("org/there", {"config.json": b"{}"})
        write_models(
            folder / "config" / "models.tsv",
            {"name": "there", "source": "org/there"},
            {"name": "gone", "source": "org/gone"},
            {"name": "own", "source": "../my-model"},
        )
        online = {"HF_ENDPOINT": hub.address, "HF_HUB_OFFLINE": "0"}
        done = run_command("models", "check", "there", "own", folder=folder, environment=online)
        assert "the hub offers everything: 1 repository" in done.stdout
        done = run_command("models", "check", "own", folder=folder, environment=online)
        assert "the hub offers everything: 0 repositories" in done.stdout
        with refuses("1 of 2 repositories cannot be fetched", "gone"):
            run_command("models", "check", folder=folder, environment=online)
