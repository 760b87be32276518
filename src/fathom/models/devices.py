"""Devices that models run on."""

from typing import Any

from fathom.errors import InputError
from fathom.running.gpus import claim_gpus
from fathom.running.program import log


def pick_devices(device: str, gpus: int = 1) -> list[str]:
    """Return the devices to run on; `auto`: up to `gpus` visible GPUs, or the CPU."""
    import torch

    if device != "auto":
        return [pick_device(device)]
    found = [f"cuda:{index}" for index in claim_gpus(torch.cuda.device_count(), gpus)]
    if 0 < len(found) < gpus:
        log.info("%s GPUs were requested, %s are visible", gpus, len(found))
    return found or ["cpu"]


def pick_device(device: str) -> str:
    """Return the device to run on; `auto`: the first visible GPU, or the CPU."""
    import torch

    if device == "auto":
        return pick_devices(device)[0]
    if device != "cpu" and not (device.startswith("cuda") and torch.cuda.is_available()):
        raise InputError(f"no device {device!r}", "scoring.device", "auto, cpu, cuda or cuda:N")
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
