"""Devices for programs: which exist, which one a setting names, a GPU for each job."""

import os
import re
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.errors import InputError
from fathom.io.files import hash_text
from fathom.io.names import show_count
from fathom.jobs.program import log

if TYPE_CHECKING:
    from filelock import BaseFileLock


_HINT = "auto, cpu, cuda, cuda:N or mps; N counts from 0 among the GPUs that CUDA_VISIBLE_DEVICES leaves"


def count_torch_gpus(where: str) -> int:
    """Return how many GPUs PyTorch sees.

    Raise `InputError` if there is a GPU, but its driver is too old for this PyTorch.
    """
    import torch

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            count = torch.cuda.device_count() if torch.cuda.is_available() else 0
            problems = [str(each.message) for each in caught]
        except RuntimeError as error:  # from the first call that needs the driver
            count, problems = 0, [str(error)]
    for problem in problems:
        if "driver" in problem and "too old" in problem:
            hint = "update the driver, install a PyTorch built for it, or set device to cpu"
            raise InputError(f"the GPU's driver is too old for PyTorch {torch.__version__}", where, hint)
        log.info("CUDA: %s", problem.splitlines()[0])
    return count


def pick_devices(device: str, where: str, gpus: int = 1) -> list[str]:
    """Return the devices to run on; `auto`: up to `gpus` visible GPUs, or the CPU.

    A job with `CUDA_VISIBLE_DEVICES` sees only these GPUs, numbered from 0. Raise `InputError`
    if there is no such device, or the GPU's driver is too old. `device`: auto, cpu, cuda, cuda:N or mps.
    """
    if device != "auto":
        return [pick_device(device, where)]
    found = [f"cuda:{index}" for index in claim_gpus(count_torch_gpus(where), gpus)]
    if 0 < len(found) < gpus:
        log.info("%s GPUs were requested, %s are visible", gpus, len(found))
    return found or ["cpu"]


def pick_device(device: str, where: str) -> str:
    """Return the device to run on, see :func:`pick_devices`; `auto`: one GPU, or the CPU."""
    if device == "auto":
        return pick_devices(device, where)[0]
    if device == "mps":
        import torch

        if not torch.backends.mps.is_available():
            raise InputError("no device 'mps': PyTorch sees no GPU of Apple's", where, _HINT)
    if device in ("cpu", "mps"):
        return device
    named = re.fullmatch(r"cuda(?::(\d+))?", device)
    if not named:
        raise InputError(f"no device {device!r}", where, _HINT)
    count = count_torch_gpus(where)
    if int(named[1] or 0) >= count:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        why = "" if visible is None else f" (CUDA_VISIBLE_DEVICES={visible})"
        raise InputError(f"no device {device!r}: {show_count(count, 'GPU')} visible{why}", where, _HINT)
    return device


def describe_device(device: Any) -> dict[str, str]:
    """Describe the device for a report or the key of a saved state: device type, GPU, versions.

    Field `gpu` is the GPU's model, or empty on the CPU and on Apple's GPUs.
    """
    import torch
    import transformers

    device = torch.device(device)
    return {
        "device": device.type,
        "gpu": name_gpu(device),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def name_gpu(device: Any) -> str:
    """Return the model of a GPU of CUDA; empty for others."""
    if not str(device).startswith("cuda"):
        return ""
    import torch

    return str(torch.cuda.get_device_name(device))


DRIVER = Path("/proc/driver/nvidia/gpus")
"""Folder with an entry for each GPU that the driver knows."""

SHARED = "FATHOM_SHARED_GPUS"
"""Variable of the environment: parallel jobs share the GPUs of this machine."""

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
    # CUDA sees those before the first missing one
    return next((place for place, name in enumerate(names) if name in ("", "-1")), len(names))


def _count_by_command() -> int:
    """Return how many GPUs `nvidia-smi` lists; containers and Windows' Linux have no folder of the driver."""
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return sum(line.startswith("GPU ") for line in done.stdout.splitlines())


def claim_gpus(visible: int, count: int) -> list[int]:
    """Return the visible GPUs that a process takes: the first ones, unless other jobs share them.

    Jobs of a run of the workflow on one machine (`SHARED` is in their environment) take GPUs that none of
    them has claimed, until they end. If fewer are free, the first others follow: they are used by several.
    Returned: their numbers among the visible ones, at most `count`.
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
    except (Timeout, OSError):  # locked by another process, or another user's file
        return False
    _held[name] = lock
    return True
