"""GPUs are counted without PyTorch, and jobs side by side take different ones."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fathom.jobs import devices
from fathom.jobs.devices import claim_gpus, count_machine_gpus


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
