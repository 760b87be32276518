"""Helpers of the measurements: alternate between ways, measure processor time and memory, print tables."""

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).resolve().parents[1]


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


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table in Markdown."""
    for row in (header, ["---"] * len(header), *rows):
        print("| " + " | ".join(str(value) for value in row) + " |", flush=True)


def measure_memory(*arguments: str) -> int:
    """Return the peak memory in MB of this program, run again with other arguments."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, sys.executable, sys.argv[0], *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(found.stdout.split()[-1]) // 1024


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
