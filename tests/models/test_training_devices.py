"""Training, adapters and tuning find their tensors on one device, shown without a GPU."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.layers.plain import make_model
from tests.models.fake_cuda import TRAINER, FakeTensorDeviceMismatchError, fake_cuda, move_to_fake_cuda

from fathom.config.adapter import Adapter
from fathom.config.models import Adaptation
from fathom.config.tuning import Lora
from fathom.jobs import devices
from fathom.models import parallel, training
from fathom.models.adapters import add_adapter
from fathom.models.parallel import SingleProcess
from fathom.models.steps import CLIP, Stepper
from fathom.models.tokens import EncodedPair
from fathom.tuning.fine_tuning import make_stepper as make_tuning_stepper

ADAPTATION = Adaptation(base="m", paths=[["x"]], batch_tokens=10)
PAIRS = [EncodedPair([3, 4, 5, 6], 2, False), EncodedPair([3, 4], 1, False), EncodedPair([5, 6], 1, False)]


def test_processes_of_one_training_take_gpus_that_no_other_job_has(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(devices.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(devices, "_held", {})
    monkeypatch.setattr(parallel, "count_torch_gpus", lambda where: 4)
    monkeypatch.setattr(
        parallel.subprocess, "run",
        lambda command, env: started.append(env) or SimpleNamespace(returncode=0),
    )  # fmt: skip
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
    monkeypatch.setenv(devices.SHARED, "1")
    assert devices._lock("4")
    with devices._held.pop("4"), pytest.raises(SystemExit):  # another job has it
        parallel.start_processes(2, "auto")
    for stream in devices._held.values():
        stream.release()
    assert started[0]["CUDA_VISIBLE_DEVICES"] == "5,6"
    assert devices.SHARED not in started[0]  # each process takes the one that the launcher gives it


def take_step(stepper: Stepper, batch: Any) -> None:
    """Do what a step does, but for reading the loss, which fake tensors do not have."""
    losses = stepper.accumulate(batch, 8)
    assert {loss.device for loss in losses} == {TRAINER}
    torch.nn.utils.clip_grad_norm_(stepper.weights.values(), CLIP)
    stepper.optimizer.step()
    assert {weight.grad.device for weight in stepper.weights.values()} == {TRAINER}
    for weight in stepper.weights.values():
        assert stepper.optimizer.state[weight]["exp_avg"].device == TRAINER


@pytest.mark.parametrize("lora", [None, Adapter()])
@pytest.mark.parametrize("kind", ["gpt2", "llama", "gemma2"])
def test_adaptation(kind, lora):
    model = make_model(kind)
    if lora is not None:
        add_adapter(model, lora)
    with fake_cuda():
        move_to_fake_cuda(model, TRAINER)
        stepper = training.make_stepper(model, ADAPTATION, SingleProcess(str(TRAINER)))
        take_step(stepper, torch.zeros((4, 5), dtype=torch.long, device=TRAINER))


@pytest.mark.parametrize("kind", ["gpt2", "llama", "gemma2"])
def test_tuning(kind):
    model = make_model(kind)
    add_adapter(model, Lora())
    with fake_cuda():
        move_to_fake_cuda(model, TRAINER)
        take_step(make_tuning_stepper(model, Lora(batch_tokens=5), 4), PAIRS)


def test_a_planted_mistake_is_found(monkeypatch):
    plain = training.sum_losses
    planted = training.PACKED._replace(sum_losses=lambda model, batch: plain(model, batch.cpu()))
    monkeypatch.setattr(training, "PACKED", planted)
    model = make_model("llama")
    with fake_cuda():
        stepper = training.make_stepper(
            move_to_fake_cuda(model, TRAINER), ADAPTATION, SingleProcess(str(TRAINER))
        )
        with pytest.raises(FakeTensorDeviceMismatchError):
            stepper.accumulate(torch.zeros((4, 5), dtype=torch.long, device=TRAINER), 16)
