"""Which devices a setting names, and what is said where there is none; GPUs are pretended."""

import warnings
from collections.abc import Callable

import pytest
import torch
from tests.refusals import refuses

from fathom.errors import InputError
from fathom.jobs.devices import describe_device, name_gpu, pick_device, pick_devices

Pretend = Callable[[int], None]


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Pretend:
    """Return a function that pretends some GPUs."""

    def set_gpus(count: int) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"Pretended {device}")

    return set_gpus


def test_a_device_that_does_not_exist(pretend: Pretend, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(2)
    assert pick_device("cuda:1", "here") == "cuda:1"
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with refuses("here", "'cuda:2'", "2 GPUs"):
        pick_device("cuda:2", "here")
    # a job that was given GPU 5 sees it as cuda:0
    pretend(1)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5")
    assert pick_devices("auto", "here", 1) == ["cuda:0"]
    with refuses("'cuda:5'", "1 GPU", "CUDA_VISIBLE_DEVICES=5"):
        pick_device("cuda:5", "here")
    for name in ("cudax", "tpu"):
        with pytest.raises(InputError, match=f"here: no device '{name}'"):
            pick_device(name, "here")


def test_devices_that_are_visible(pretend: Pretend, caplog: pytest.LogCaptureFixture) -> None:
    pretend(0)
    assert pick_devices("auto", "here", 4) == ["cpu"]
    pretend(2)
    assert pick_devices("auto", "here") == ["cuda:0"]
    assert pick_devices("auto", "here", 0) == pick_devices("cpu", "here", 2) == ["cpu"]
    assert pick_devices("cuda:1", "here", 2) == ["cuda:1"]
    with caplog.at_level("INFO", "fathom"):
        assert pick_devices("auto", "here", 4) == ["cuda:0", "cuda:1"]
    assert "4 GPUs were requested, 2 are visible" in caplog.text


@pytest.mark.parametrize("way", ["warning", "error"])
def test_a_driver_that_is_too_old(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "CUDA initialization: The NVIDIA driver on your system is too old (found version 11040)."

    def fail() -> bool:
        if way == "error":
            raise RuntimeError(text)
        warnings.warn(text, stacklevel=1)
        return False

    monkeypatch.setattr(torch.cuda, "is_available", fail)
    for device in ("auto", "cuda"):
        message = r"here: the GPU's driver is too old for PyTorch .*\nHint: renew"
        with pytest.raises(InputError, match=message):
            pick_devices(device, "here")
    assert pick_devices("cpu", "here") == ["cpu"]


def test_what_computes_is_described(pretend: Pretend) -> None:
    pretend(1)
    assert (name_gpu("cpu"), name_gpu("cuda:0")) == ("", "Pretended cuda:0")
    found = describe_device("cuda:0")
    assert (found["device"], found["gpu"], found["torch"]) == ("cuda", "Pretended cuda:0", torch.__version__)
    assert describe_device("cpu")["gpu"] == ""


def test_an_apple_gpu_is_taken_only_where_there_is_one(monkeypatch):
    with refuses("no device 'mps'", "scoring.device"):
        pick_device("mps", "scoring.device")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pick_devices("mps", "scoring.device", 2) == ["mps"]
