"""GPU, driver, memory and packages of a machine, found without importing the packages."""

import platform
import shutil
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

from fathom.errors import InputError


def ask_machine(device: str, folder: Path) -> dict[str, Any]:
    """Run :func:`describe_machine` in its own process, as the GPU must not be initialised in this one."""
    from fathom.commands.gpu.checks import run_apart

    def describe() -> dict[str, Any]:
        try:
            return describe_machine(device)
        except InputError as error:
            return {"wrong": [error.what, error.where, error.hint]}

    found, reason = run_apart(describe, folder / "machine")
    if found is None:
        raise InputError(f"the device cannot be used: {reason}", "--device", "check the driver: nvidia-smi")
    if "wrong" in found:
        raise InputError(*found["wrong"])
    return cast(dict[str, Any], found)


def describe_machine(device: str) -> dict[str, Any]:
    """Describe the device of the checks, in a process that may initialise the GPU.

    Returns
    -------
    dict
        `device`, `name`, `driver`, `memory` and `free` in bytes (None on the processor), `python`.

    Raises
    ------
    InputError
        If there is no such device; with `auto`, if no GPU is visible.
    """
    import torch

    from fathom.jobs.devices import pick_device

    found = {"python": platform.python_version(), "driver": _read_driver(), "cuda": torch.version.cuda or ""}
    chosen = pick_device(device, "--device")
    if device == "auto" and chosen == "cpu":
        why = "this PyTorch is built without CUDA" if not torch.version.cuda else "PyTorch sees no GPU"
        driver = found["driver"] or "nvidia-smi finds none"
        raise InputError(
            f"no GPU to check: {why}; driver: {driver}",
            "--device",
            "`--device cpu --quick` runs the checks on the processor, with tiny models",
        )
    if chosen == "cpu":
        name = platform.processor() or platform.machine()
        return {**found, "device": chosen, "name": name, "memory": None, "free": None}
    free, memory = torch.cuda.mem_get_info(chosen)
    name = torch.cuda.get_device_name(chosen)
    return {**found, "device": chosen, "name": name, "memory": memory, "free": free}


def _read_driver() -> str:
    if not shutil.which("nvidia-smi"):
        return ""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0].strip() if done.returncode == 0 else ""


def describe_lines(machine: Mapping[str, Any], packages: Mapping[str, str]) -> list[str]:
    """Return lines on what the machine has, what is missing, and what is therefore not measured."""
    memory = (
        f", {machine['free'] / 1e9:.0f} of {machine['memory'] / 1e9:.0f} GB free" if machine["free"] else ""
    )
    lines = [
        f"device {machine['device']}: {machine['name']}{memory}",
        f"driver {machine['driver'] or 'none'}, CUDA of PyTorch {machine['cuda'] or 'none'}, "
        f"Python {machine['python']}",
        ", ".join(f"{name} {found}" for name, found in packages.items() if found),
    ]
    missing = [f"{name} (for {purpose})" for name, purpose in OPTIONAL.items() if not packages[name]]
    return [*lines, f"not installed: {', '.join(missing)}"] if missing else lines


REQUIRED = {
    "torch": "2.8", "transformers": "5.10", "numpy": "", "orjson": "", "polars": "", "pyarrow": "",
    "pydantic": "", "safetensors": "", "tokenizers": "", "tqdm": "", "snowballstemmer": "",
    "spacy-lookups-data": "",
}  # fmt: skip
"""Packages that everything needs, with the oldest version that works."""
OPTIONAL = {"peft": "LoRA", "accelerate": "the Hugging Face Trainer", "lm_eval": "lm-evaluation-harness"}
"""Packages that some checks need, and what for."""


def list_packages() -> dict[str, str]:
    """Return the installed versions of these packages; empty if not installed."""
    return {name: _find_version(name) for name in (*REQUIRED, *OPTIONAL)}


def _find_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def check_packages(packages: Mapping[str, str]) -> None:
    """Raise `InputError` that names all missing or outdated packages."""
    wrong = [
        f"{name} {packages[name] or 'is missing'}" + (f" ({oldest} or later is needed)" if oldest else "")
        for name, oldest in REQUIRED.items()
        if not packages[name] or _split(packages[name]) < _split(oldest)
    ]
    if wrong:
        names = " ".join(line.split()[0] for line in wrong)
        raise InputError("; ".join(wrong), "packages", f"python -m pip install --upgrade {names}")


def _split(text: str) -> tuple[int, ...]:
    parts = text.partition("+")[0].split(".")[:2]
    return tuple(int(part) for part in parts if part.isdecimal())
