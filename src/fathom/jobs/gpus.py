"""GPUs of this machine: how many there are, and one for each job that shares it."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.io.files import hash_text

if TYPE_CHECKING:
    from filelock import BaseFileLock

DRIVER = Path("/proc/driver/nvidia/gpus")
"""Folder with an entry for each GPU that the driver knows."""

SHARED = "FATHOM_SHARED_GPUS"
"""Variable of the environment: jobs side by side share the GPUs of this machine."""

_held: "dict[str, BaseFileLock]" = {}  # locks of this process, until it ends


def count_machine_gpus() -> int:
    """Return how many GPUs the programs of this machine see, without importing PyTorch.

    `CUDA_VISIBLE_DEVICES` is obeyed; without a driver there is none, whatever it says.
    """
    found = len(list(DRIVER.iterdir())) if DRIVER.is_dir() else _count_by_command()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if not found or visible is None:
        return found
    names = [name.strip() for name in visible.split(",")]
    # CUDA sees those before the first that there is not
    return next((place for place, name in enumerate(names) if name in ("", "-1")), len(names))


def _count_by_command() -> int:
    """Return how many GPUs `nvidia-smi` lists; containers and Windows' Linux have no folder of the driver."""
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return sum(line.startswith("GPU ") for line in done.stdout.splitlines())


def claim_gpus(visible: int, count: int) -> list[int]:
    """Return which of the visible GPUs a process takes: the first ones, unless other jobs share them.

    Jobs of a run of the workflow on one machine (`SHARED` is in their environment) take GPUs that none of
    them has claimed, until they end. If fewer are free, the first others follow: they are used by several.

    Returns
    -------
    list of int
        Their numbers among the visible ones, at most `count`.
    """
    numbers = list(range(visible))
    if SHARED not in os.environ:
        return numbers[:count]
    own: list[int] = []
    for number in sorted(numbers, key=lambda number: name_visible(number) not in _held):
        if len(own) < count and (name_visible(number) in _held or _lock(name_visible(number))):
            own.append(number)
    return [*own, *(number for number in numbers if number not in own)][:count]


def name_visible(number: int) -> str:
    """Return the name of a visible GPU in `CUDA_VISIBLE_DEVICES`, by which all processes of a run know it."""
    names = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    return names[number].strip() if number < len(names) and names[number] else str(number)


def _lock(name: str) -> bool:
    from filelock import FileLock, Timeout

    path = Path(tempfile.gettempdir(), f"fathom-gpu-{os.getuid()}-{hash_text(name)[:16]}.lock")
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except (Timeout, OSError):  # another process's, or a file of someone else
        return False
    _held[name] = lock
    return True
