"""A check, and how it runs: in its own process, so that none can stop or disturb another."""

import importlib
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fathom.commands.gpu.gpu_models import Shape, Sizes
from fathom.io.files import read_json, write_json
from fathom.jobs.program import log

Earlier = Mapping[str, Mapping[str, float]]
"""What earlier checks of a shape measured, by name."""
Verdict = Literal["met", "fell short", "failed", "crashed", "not run", "measured"]
LIMIT = 120.0
"""Seconds after which a check is stopped."""
WHOLE = 690.0
"""Seconds after which no check starts, so that everything takes at most twelve minutes."""
_ERROR = re.compile(r"^[\w.]*(?:Error|Exception|Interrupt|Exit)\b.*", re.M)


class Place(NamedTuple):
    """Where checks run.

    `folder`: for logs and files of the checks.
    """

    device: str
    sizes: Sizes
    folder: Path

    @property
    def low_precision(self) -> str:
        """Number format of fast products: bfloat16 on a GPU."""
        return "float32" if self.device == "cpu" else "bfloat16"


class Measured(NamedTuple):
    """Result of a check.

    `met`: whether the goal was met; None: nothing to compare with.
    """

    value: str
    met: bool | None
    numbers: Mapping[str, float]


class Check(NamedTuple):
    """One check.

    `name`, `goal`: what is measured, and what it should be. `run` takes a place, a shape, and what earlier
    checks of that shape measured, by name. `proves`: whether missing the goal means wrong results, not only
    less speed or precision. `bytes_each`: GPU memory needed, in bytes for each parameter of the model.
    """

    name: str
    goal: str
    run: Callable[[Place, Shape, Earlier], Measured]
    proves: bool = False
    packages: tuple[str, ...] = ()
    bytes_each: float = 4.0


class Line(NamedTuple):
    """One line of the table."""

    check: str
    shape: str
    goal: str
    measured: str
    verdict: Verdict
    numbers: Mapping[str, float]


def import_before(packages: Mapping[str, str]) -> None:
    """Import once what most checks need, but nothing that starts threads: they do not survive a fork."""
    names = ["torch", "transformers.models.gpt2.modeling_gpt2", "transformers.models.llama.modeling_llama"]
    names += ["pyarrow.parquet", "pydantic", "safetensors.torch"]
    # without NVML, PyTorch initialises the GPU to see whether there is one
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    optional = {"peft": "peft", "accelerate": "transformers.trainer"}
    for name in [*names, *(module for package, module in optional.items() if packages[package])]:
        importlib.import_module(name)


def run_checks(
    jobs: Sequence[tuple[Check, Shape]],
    place: Place,
    packages: Mapping[str, str],
    free: float | None,
    seconds: float = WHOLE,
) -> list[Line]:
    """Run checks one after the other, each in its own process; return the lines of the table.

    Parameters
    ----------
    free : float or None
        Bytes of free GPU memory; None: do not care.
    seconds : float
        For all checks; those that have not begun by then do not run.
    """
    lines: list[Line] = []
    end = time.monotonic() + seconds
    for check, shape in jobs:
        reason = _find_obstacle(check, shape, packages, free)
        left = end - time.monotonic()
        if left <= 0:
            reason = f'no time left; run it with --only "{check.name}"'
        if reason:
            line = Line(check.name, shape.name, check.goal, reason, "not run", {})
        else:
            earlier = {line.check: line.numbers for line in lines if line.shape == shape.name}
            line = _run_check(check, shape, place, earlier, min(left, LIMIT))
        log.info("%s, %s: %s (%s)", line.check, line.shape, line.measured, line.verdict)
        lines.append(line)
    return lines


def _find_obstacle(check: Check, shape: Shape, packages: Mapping[str, str], free: float | None) -> str:
    missing = [name for name in check.packages if not packages[name]]
    if missing:
        return f"not installed: {', '.join(missing)}"
    needed = check.bytes_each * shape.parameters + 3e9  # activations, logits, and CUDA's own memory
    if free is not None and needed > free:
        return f"needs about {needed / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} GB are free"
    return ""


def _run_check(
    check: Check, shape: Shape, place: Place, earlier: Mapping[str, Mapping[str, float]], seconds: float
) -> Line:
    """Run one check; a crash is a failure if the check proves something."""
    name = re.sub(r"\W+", "-", f"{check.name} {shape.name}")
    found, reason = run_apart(
        lambda: check.run(place, shape, earlier)._asdict(), place.folder / name, seconds
    )
    if found is None:
        return Line(check.name, shape.name, check.goal, reason, "failed" if check.proves else "crashed", {})
    measured = Measured(**found)
    verdict: Verdict = "measured"
    if measured.met is not None:
        verdict = "met" if measured.met else "failed" if check.proves else "fell short"
    return Line(check.name, shape.name, check.goal, measured.value, verdict, measured.numbers)


def run_apart(task: Callable[[], Any], stem: Path, seconds: float = LIMIT) -> tuple[Any, str]:
    """Run a task in its own process, which may use the GPU, run out of memory, or be killed.

    Parameters
    ----------
    task : callable
        Returns a JSON value.
    stem : Path
        Path of result and log, without their endings `.json` and `.log`.

    Returns
    -------
    value
        None if the task did not end.
    reason : str
        Why it did not.

    Raises
    ------
    RuntimeError
        If this process has initialised the GPU, which a fork does not survive.
    """
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        raise RuntimeError("a process that uses the GPU cannot fork")
    # forked, so that packages are imported once
    process = multiprocessing.get_context("fork").Process(target=_write_result, args=(task, stem))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        process.join()
        return None, f"stopped after {seconds:.0f} seconds; see {stem.name}.log"
    if process.exitcode == 0:
        return read_json(stem.with_suffix(".json")), ""
    text = stem.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    errors = _ERROR.findall(text)
    reason = errors[-1] if errors else f"ended with exit code {process.exitcode}"
    return None, f"{reason[:200]}; see {stem.name}.log"


def _write_result(task: Callable[[], Any], stem: Path) -> None:
    descriptor = os.open(stem.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    sys.stdout = sys.stderr = os.fdopen(descriptor, "w", buffering=1)
    write_json(stem.with_suffix(".json"), task())
