"""Run the measurements one after the other, and print one table of all of them at the end.

A measurement that fails has a line, too, and the exit code is 1; so has an unmet goal, without an exit code.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from perf.turns import DEMO, print_table

from fathom.errors import InputError
from fathom.jobs.program import run_program

NAMES = (
    "join", "sentences", "embedding", "phrases", "latex", "scoring", "ranks", "layers", "density", "tuning",
    "training", "callback", "planning", "explorer", "jobs",
)  # fmt: skip
HEADER = ("what", "against", "found", "exactness", "share of the limit", "goal", "met")
MET = {True: "yes", False: "**no**", None: ""}


def main(arguments: argparse.Namespace) -> None:
    """Run, collect lines, print them."""
    if arguments.only == NAMES and not (DEMO / "summary.csv").exists():
        raise InputError("there is no finished demo to measure on", str(DEMO), "run `make demo` first")
    rows, failed = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.only:
            lines = Path(folder, name)
            print(f"\n## {name}\n", flush=True)
            done = subprocess.run(
                [sys.executable, "-m", f"perf.{name}"], env=os.environ | {"PERF_LINES": str(lines)}
            )
            for line in lines.read_text(encoding="utf-8").splitlines() if lines.exists() else []:
                *cells, met = json.loads(line)
                rows.append([*cells, MET[met]])
            if done.returncode:
                failed.append(name)
                rows.append([f"perf.{name}", "", "failed", "", "", "", ""])
    print(f"\n## All, on {describe_processor()}\n")
    print_table(HEADER, rows)
    sys.exit(1 if failed else 0)


def describe_processor() -> str:
    """Return the name of the processor, and whether it multiplies in low precision."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    units = [
        name
        for name in ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
        if name in fields.get("flags", "").split()
    ]
    return f"{fields.get('model name', platform.processor() or platform.machine())} ({', '.join(units)})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, help="some of them")
    run_program(parser, main)
