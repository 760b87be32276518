"""Checkpoints of a training: the same whether or not it was stopped, and none changes what is learned."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.models.conftest import StoppedRunError
from tests.programs import MODELS, run_program

from fathom.config.adapter import Adapter
from fathom.config.models import Adaptation
from fathom.io.contracts.corpus import TEXTS
from fathom.io.tables import write_table
from fathom.jobs import resume
from fathom.models.building import build_model
from fathom.models.checkpoints import Checkpoints
from fathom.models.folders import load_tokenizer, save_model
from fathom.models.loading import Pointer, check_fingerprint, load_model, read_pointer

ADAPTATION = Adaptation(base="m", paths=[["x"]], steps=12, batch=4, sequence=16, dropout=0.2, checkpoints=3)


@pytest.fixture
def run(tokenizer, settings, train_until, tmp_path) -> Any:
    """Return what trains from where the last run stopped, up to a step if one is given, and publishes."""

    def train_and_publish(adaptation: Adaptation, name: str, stop: int | None = None) -> Any:
        start, steps = Pointer("m", tmp_path / "base"), adaptation.list_checkpoints()
        save_model(start.path, build_model(settings, tokenizer), tokenizer)
        kept = Checkpoints(tmp_path / name / "weights", "key", steps, start, tokenizer)
        trained = train_until(adaptation, kept, stop)
        kept.publish(tmp_path / name / "checkpoints", "m+x")
        kept.remove()
        return trained

    return train_and_publish


def read_bytes(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.mark.parametrize("lora", [None, Adapter()])
def test_a_stopped_training_gives_the_same_checkpoints_and_none_changes_what_is_learned(run, tmp_path, lora):
    adaptation = ADAPTATION.model_copy(update={"lora": lora})
    expected = run(adaptation, "whole")
    done = 0
    for stop in (2, 5, 7, 12):
        with pytest.raises(StoppedRunError):
            run(adaptation, "stopped", stop - done)
        done = stop - 1
    found = run(adaptation, "stopped")
    whole, stopped = (read_bytes(tmp_path / name / "checkpoints") for name in ("whole", "stopped"))
    assert {name.split("/")[0] for name in whole} == {
        f"step{n}{end}" for n in (3, 6, 9) for end in ("", ".json")
    }
    assert whole == stopped
    file = "adapter_model.safetensors" if lora else "model.safetensors"
    assert len({whole[f"step{step}/{file}"] for step in (3, 6, 9)}) == 3
    assert not list((tmp_path / "stopped").glob(".weights*"))
    without = run(adaptation.model_copy(update={"checkpoints": None}), "without")
    for curve, weights in (found, without):
        assert curve == expected[0]
        assert all(torch.equal(weights[name], weight) for name, weight in expected[1].items())


def test_a_checkpoint_is_a_model_like_any_other(run, tmp_path):
    _, final = run(ADAPTATION, "m+x")
    pointer = read_pointer(tmp_path / "m+x" / "checkpoints" / "step9.json")
    assert (pointer.name, pointer.path.name) == ("m+x@step9", "step9")
    assert check_fingerprint(pointer) == pointer.fingerprint
    model, _ = load_model(pointer)
    assert model.state_dict().keys() == final.keys()
    assert any(not torch.equal(weight, final[name]) for name, weight in model.state_dict().items())


def test_a_state_without_its_checkpoints_is_not_used(run, tmp_path, caplog):
    with pytest.raises(StoppedRunError):
        run(ADAPTATION, "m", 6)
    shutil.rmtree(tmp_path / "m" / ".weights.partial" / "step3")
    with caplog.at_level("INFO", "fathom"):
        run(ADAPTATION, "m")
    assert "starting afresh: the checkpoint of step 3 is missing" in caplog.text
    assert (tmp_path / "m" / "checkpoints" / "step3" / "model.safetensors").is_file()


def test_checkpoints_are_copied_where_there_are_no_links(run, tmp_path, monkeypatch):
    def refuse(*_: Any) -> None:
        raise OSError

    run(ADAPTATION, "linked")
    monkeypatch.setattr(os, "link", refuse)
    run(ADAPTATION, "copied")
    assert read_bytes(tmp_path / "linked") == read_bytes(tmp_path / "copied")


def test_processes_that_train_together_keep_checkpoints_but_no_state(tmp_path, tokenizer, monkeypatch):
    monkeypatch.setattr(resume, "INTERVAL", 0)
    kept = Checkpoints(tmp_path / "weights", "key", [3], Pointer("m", tmp_path), tokenizer, resumes=False)
    assert not kept.is_due() and kept.load() is None


def test_the_program_writes_checkpoints_only_where_it_is_asked_to(texts, settings, tokenizer, tmp_path):
    write_table(tmp_path / "texts.parquet", texts, TEXTS)
    save_model(tmp_path / "base", build_model(settings, tokenizer), tokenizer)
    (tmp_path / "base" / "chat_template.jinja").write_text("{{ messages }}")
    found = []
    for name, more in (("a", {"checkpoints": 2}), ("b", {})):
        folder = tmp_path / name
        values = Adaptation(base="base", paths=[["x"]], steps=5, batch=4, sequence=16, **more)
        asked = ("--checkpoints", folder / "checkpoints") if more else ()
        run_program(
            "adapt_model", "--texts", tmp_path / "texts.parquet", "--settings", values.model_dump_json(),
            "--base", tmp_path / "base", "--model", "base+x", "--weights", folder / "weights", *asked,
            "--pointer", folder / "model.json", "--curve", folder / "training.csv", imports=MODELS,
        )  # fmt: skip
        found.append(read_bytes(folder / "weights"))
        assert not list(folder.glob(".*"))
    assert found[0] == found[1]
    assert not (tmp_path / "b" / "checkpoints").exists()
    steps = sorted(path.name for path in (tmp_path / "a" / "checkpoints").iterdir())
    assert steps == ["step2", "step2.json", "step4", "step4.json"]
    for folder in (tmp_path / "a" / "weights", tmp_path / "a" / "checkpoints" / "step2"):
        assert load_tokenizer(folder).chat_template == "{{ messages }}"
    assert read_pointer(tmp_path / "a" / "checkpoints" / "step2.json").base == "base"
