"""A training that was stopped ends as an undisturbed one, to the byte."""

from typing import Any

import pytest
from tests.models.conftest import StoppedRunError
from tests.refusals import refuses

from fathom.config.models import Adaptation
from fathom.jobs.resume import Resume

ADAPTATION = Adaptation(base="m", paths=[["x"]], steps=12, batch=4, sequence=16, dropout=0.2)


@pytest.fixture
def run(train_until, tmp_path) -> Any:
    """Return what trains from where the last run stopped, up to a step if one is given."""
    return lambda adaptation, stop, **more: train_until(
        adaptation, Resume(tmp_path / "weights", "key"), stop, **more
    )


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
    assert "the state of a stopped run cannot be used" in caplog.text
    assert len(curve) == 12


def test_a_run_that_explodes_keeps_its_last_good_state(run, tmp_path):
    with pytest.raises(StoppedRunError):
        run(ADAPTATION, 5)
    file = Resume(tmp_path / "weights", "key").file
    before = file.read_bytes()
    with refuses("models", "nan", "step 5", "learning_rate"):
        run(ADAPTATION, None, factor=float("nan"))
    assert file.read_bytes() == before
