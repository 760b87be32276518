"""A training that was stopped ends as an undisturbed one, to the byte."""

from typing import Any

import pytest
import torch
from tests.refusals import refuses

from fathom.config.models import Adaptation, Adapter
from fathom.jobs import resume
from fathom.jobs.resume import Resume
from fathom.models import training
from fathom.models.building import build_model
from fathom.models.training import sum_losses, train

ADAPTATION = Adaptation(base="m", paths=[["x"]], steps=12, batch=4, sequence=16, dropout=0.2)
STOPS = (1, 2, 5, 8, 12)


class StoppedRunError(Exception):
    """What stops a run in the test."""


@pytest.fixture
def run(tokenizer, texts, settings, monkeypatch, tmp_path) -> Any:
    """Return what trains from where the last run stopped, up to a step if one is given."""
    monkeypatch.setattr(resume, "INTERVAL", 0)

    def train_until(adaptation: Adaptation, stop: int | None, full: int = 0, factor: float = 1.0) -> Any:
        calls = [0]

        def interrupt(model: Any, batch: torch.Tensor) -> torch.Tensor:
            calls[0] += model.training
            if full and calls[0] > full and len(batch) > 2:
                raise torch.OutOfMemoryError
            if calls[0] == stop:
                raise StoppedRunError
            return sum_losses(model, batch) * factor

        monkeypatch.setattr(training, "PACKED", training.PACKED._replace(sum_losses=interrupt))
        model = build_model(settings, tokenizer)
        curve = train(model, tokenizer, texts, adaptation, resume=Resume(tmp_path / "weights", "key"))
        return curve, model.state_dict()

    return train_until


@pytest.mark.parametrize("lora", [None, Adapter()])
def test_a_run_that_is_stopped_at_five_points_ends_as_an_undisturbed_one(run, tmp_path, lora):
    adaptation = ADAPTATION.model_copy(update={"lora": lora})
    expected, weights = run(adaptation, None)
    Resume(tmp_path / "weights", "key").remove()
    done = 0
    for stop in STOPS:
        with pytest.raises(StoppedRunError):
            run(adaptation, stop - done)
        done = stop - 1
    curve, found = run(adaptation, None)
    assert curve == expected
    assert all(torch.equal(found[name], weights[name]) for name in weights)


def test_a_halved_micro_batch_stays_halved(run, tmp_path, caplog):
    adaptation = ADAPTATION.model_copy(update={"dropout": 0.0, "checkpointing": "never"})
    with pytest.raises(StoppedRunError):
        run(adaptation, 9, full=3)
    saved = Resume(tmp_path / "weights", "key").load()
    assert saved.values["tokens"] == 32
    caplog.clear()
    with caplog.at_level("INFO", "fathom"):
        curve, _ = run(adaptation, None, full=1)
    assert "out of GPU memory" not in caplog.text
    assert f"resuming a stopped run after step {saved.values['step']}" in caplog.text
    assert len(curve) == 12


def test_recomputed_activations_stay_so(run, tmp_path):
    with pytest.raises(StoppedRunError):
        run(ADAPTATION.model_copy(update={"checkpointing": "always"}), 3)
    assert Resume(tmp_path / "weights", "key").load().values["recomputes"]


def test_half_a_state_is_not_used(run, tmp_path, caplog):
    with pytest.raises(StoppedRunError):
        run(ADAPTATION, 5)
    file = Resume(tmp_path / "weights", "key").file
    file.write_bytes(file.read_bytes()[:-100])
    with caplog.at_level("INFO", "fathom"):
        curve, _ = run(ADAPTATION, None)
    assert "starting afresh, the state of a stopped run is not used" in caplog.text
    assert len(curve) == 12


def test_a_run_that_explodes_keeps_its_last_good_state(run, tmp_path):
    with pytest.raises(StoppedRunError):
        run(ADAPTATION, 5)
    file = Resume(tmp_path / "weights", "key").file
    before = file.read_bytes()
    with refuses("models", "nan", "step 5", "learning_rate"):
        run(ADAPTATION, None, factor=float("nan"))
    assert file.read_bytes() == before
