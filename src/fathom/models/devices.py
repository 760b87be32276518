"""Devices that models run on."""

import os
import re
import warnings
from collections.abc import Sequence
from typing import Any

from fathom.errors import InputError
from fathom.running.gpus import claim_gpus
from fathom.running.program import log

_HINT = "auto, cpu, cuda or cuda:N; N counts from 0 among the GPUs that CUDA_VISIBLE_DEVICES leaves"


def count_gpus() -> int:
    """Return how many GPUs PyTorch sees.

    Raises
    ------
    InputError
        If there is a GPU, but its driver is too old for this PyTorch.
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
            raise InputError(
                f"the GPU's driver is too old for PyTorch {torch.__version__}",
                "scoring.device",
                "renew the driver, install a PyTorch that was built for it, or set device to cpu",
            )
        log.info("CUDA: %s", problem.splitlines()[0])
    return count


def pick_devices(device: str, gpus: int = 1) -> list[str]:
    """Return the devices to run on; `auto`: up to `gpus` visible GPUs, or the CPU.

    A job that was given GPUs by `CUDA_VISIBLE_DEVICES` sees these alone, numbered from 0.

    Raises
    ------
    InputError
        If there is no such device, or the GPU's driver is too old.
    """
    if device != "auto":
        return [pick_device(device)]
    found = [f"cuda:{index}" for index in claim_gpus(count_gpus(), gpus)]
    if 0 < len(found) < gpus:
        log.info("%s GPUs were requested, %s are visible", gpus, len(found))
    return found or ["cpu"]


def pick_device(device: str) -> str:
    """Return the device to run on; `auto`: the first visible GPU, or the CPU.

    Raises
    ------
    InputError
        If there is no such device, or the GPU's driver is too old.
    """
    if device == "auto":
        return pick_devices(device)[0]
    if device == "cpu":
        return device
    named = re.fullmatch(r"cuda(?::(\d+))?", device)
    if not named:
        raise InputError(f"no device {device!r}", "scoring.device", _HINT)
    count = count_gpus()
    if int(named[1] or 0) >= count:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        why = "" if visible is None else f" (CUDA_VISIBLE_DEVICES={visible})"
        raise InputError(
            f"no device {device!r}: {count or 'no'} GPU{'' if count == 1 else 's'} visible{why}",
            "scoring.device",
            _HINT,
        )
    return device


def describe_device(device: Any) -> dict[str, str]:
    """Describe what computes, for a report or the key of a saved state: device type, GPU, versions.

    Field `gpu` is the GPU's model, or empty on the CPU.
    """
    import torch
    import transformers

    device = torch.device(device)
    return {
        "device": device.type,
        "gpu": torch.cuda.get_device_name(device) if device.type == "cuda" else "",
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def check_dtype(dtype: str, devices: Sequence[str]) -> None:
    """Raise `InputError` if a GPU lacks a data type."""
    import torch

    if dtype != "bfloat16" or torch.version.hip:
        return
    for device in devices:
        if device.startswith("cuda") and torch.cuda.get_device_capability(device) < (8, 0):
            raise InputError(
                f"{torch.cuda.get_device_name(device)} ({device}) has no bfloat16",
                "scoring.dtype",
                "use float16 or float32; GPUs from Ampere on (A100, H100) have it",
            )


def find_input_device(model: Any) -> Any:
    """Return the device that a model takes its tokens on: that of its input embedding."""
    return next(model.get_input_embeddings().parameters()).device
