"""Which devices a setting names, and what is said where there is none; GPUs are pretended."""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from tests.refusals import refuses

from fathom.errors import InputError
from fathom.jobs import devices
from fathom.jobs.devices import (
    claim_gpus,
    count_machine_gpus,
    describe_device,
    name_gpu,
    pick_device,
    pick_devices,
)

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
        message = r"here: the GPU's driver is too old for PyTorch .*\nHint: "
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


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands for the driver's; there is no `nvidia-smi` and no lock yet."""
    monkeypatch.setattr(devices, "DRIVER", tmp_path / "gpus")
    monkeypatch.setattr(devices.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process hold no GPU before and after a test."""
    monkeypatch.setattr(devices, "_held", {})
    yield
    for lock in devices._held.values():
        lock.release()


@pytest.mark.parametrize(
    ("visible", "count"),
    [(None, 3), ("0", 1), ("2,1", 2), ("GPU-8932f937,GPU-1", 2), ("0,-1,1", 1), ("-1", 0), ("", 0)],
)
def test_the_driver_and_the_visible_ones_are_counted(machine, monkeypatch, visible, count):
    for number in range(3):
        (machine / "gpus" / f"0000:0{number}:00.0").mkdir(parents=True)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert count_machine_gpus() == count


def test_without_the_drivers_folder_its_command_is_asked(machine, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert count_machine_gpus() == 0  # no driver at all
    command = machine / "bin" / "nvidia-smi"
    command.parent.mkdir()
    lines = ("GPU 0: NVIDIA A100 (UUID: GPU-1)", "  MIG 1g.5gb Device 0: (UUID: MIG-1)")
    command.write_text("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines))
    command.chmod(0o755)
    assert count_machine_gpus() == 2
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert count_machine_gpus() == 1


def test_a_process_takes_what_others_left_and_shares_when_nothing_is(machine, held, monkeypatch):
    monkeypatch.setenv(devices.SHARED, "1")
    code = "from fathom.jobs.devices import claim_gpus; print(claim_gpus(3, 1), flush=True); input()"
    other = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(machine)},
    )  # fmt: skip
    assert other.stdout is not None
    assert other.stdout.readline() == "[0]\n"
    assert claim_gpus(3, 1) == [1]
    assert claim_gpus(3, 1) == [1]  # the same for a process's second model
    assert claim_gpus(3, 2) == [1, 2]
    assert claim_gpus(1, 1) == claim_gpus(1, 4) == [0]  # used by both
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7,0")
    assert claim_gpus(2, 1) == [0]  # number 7
    other.communicate("\n")
    assert claim_gpus(0, 1) == []


def test_by_hand_the_first_are_taken(machine, monkeypatch):
    monkeypatch.delenv(devices.SHARED, raising=False)
    assert (claim_gpus(4, 2), claim_gpus(1, 2), claim_gpus(0, 2)) == ([0, 1], [0], [])
    assert not list(machine.glob("*.lock"))
