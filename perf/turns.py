"""Helpers of the measurements: take turns, measure processor time and memory, print and note results."""

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "results" / "demo"
"""The finished run that measurements read by default."""


def clock(task: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a task and its child processes, and its result."""
    gc.collect()
    start = _read_clock()
    found = task()
    return _read_clock() - start, found


def _read_clock() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def take_turns(
    ways: Mapping[str, Callable[[], Any]], rounds: int = 3
) -> tuple[dict[str, float], dict[str, Any]]:
    """Alternate between ways for several rounds; return the median seconds and last result of each."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    results = {}
    for _ in range(rounds):
        for name, task in ways.items():
            spent, results[name] = clock(task)
            seconds[name].append(spent)
    return {name: statistics.median(each) for name, each in seconds.items()}, results


def print_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table in Markdown, each row as soon as it is there."""
    for row in chain([header, ["---"] * len(header)], rows):
        print("| " + " | ".join(str(value) for value in row) + " |", flush=True)


def note(
    stage: str, against: str, found: str, goal: str, met: bool | None, *, exact: str = "", share: str = ""
) -> None:
    """Add a line to the one table that `make perf` prints at its end; print nothing.

    Parameters
    ----------
    stage, against : str
        What was measured, and the peer or the limit that it was measured against.
    found, goal : str
        A ratio or another figure, and what it has to be.
    met : bool or None
        Whether the goal is met; None where it could not be told.
    exact : str
        How far results equal the peer's.
    share : str
        What part of the machine's limit is used.
    """
    if path := os.getenv("PERF_LINES"):
        line = [stage, against, found, exact, share, goal, met]
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")


def measure_memory(*arguments: str) -> int:
    """Return the peak memory in MB of this program, run again with other arguments."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, *name_program(*arguments)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(found.stdout.split()[-1]) // 1024


def name_program(*arguments: object) -> list[str]:
    """Return the command that runs this program again, with other arguments."""
    return [sys.executable, "-m", sys.modules["__main__"].__spec__.name, *map(str, arguments)]


def run_alone(command: Sequence[str], **options: Any) -> tuple[float, float]:
    """Run a command; return the processor seconds and the peak megabytes of it and its children."""
    process = subprocess.Popen(command, **options)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(map(str, command))} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure_growth(task: Callable[[], Any]) -> str:
    """Return the memory in MB that a task needs beyond what is loaded; Linux only."""
    if not Path("/proc/self/clear_refs").exists():
        return "not measured: needs Linux"
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading
    before = _read_status("VmRSS")
    task()
    return f"{(_read_status('VmHWM') - before) / 1024:.0f}"


def _read_status(field: str) -> int:
    """Return a field of this process's status, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def build_model(entries: int, layers: int, width: int) -> Any:
    """Return a model of GPT-2's shape with random weights."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=entries, n_embd=width, n_layer=layers, n_head=width // 64)
    return GPT2LMHeadModel(config).eval()


def measure_peak() -> float:
    """Return the operations a second of the fastest of several large float32 products, in either library."""
    import torch

    from fathom.numerics.matrix_products import prepack_layer

    torch.set_num_threads(1)
    left, plain, packed = torch.randn(2048, 2048), *(torch.nn.Linear(2048, 2048) for _ in range(2))
    prepack_layer(packed)
    with torch.inference_mode():
        seconds = [clock(lambda layer=layer: layer(left))[0] for layer in (plain, packed) for _ in range(20)]
    return 2 * 2048**3 / min(seconds)


def read_texts(run: Path, characters: int) -> list[str]:
    """Return the full texts of a run's documents in order, up to a total number of characters."""
    texts = []
    for path in sorted((run / "corpus" / "documents").glob("*.parquet")):
        for text in pl.read_parquet(path, columns=["text"])["text"]:
            if len(text) > 2000:
                texts.append(text)
                characters -= len(text)
            if characters < 0:
                return texts
    return texts
