"""Helpers of the measurements: take turns, measure processor time and memory, print and note results."""

import gc
import json
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
