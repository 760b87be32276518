"""Compare what jobs of finished runs took of memory with the size of their inputs, rule by rule.

    python -m perf.studies.job_memory F1/project F2/project

reads `.snakemake/metadata` and the timings of each working folder, and prints for each rule that states its
memory in the workflow: jobs and their processor seconds, the largest input, the highest peak, the slope from
the smallest input to the largest in MB for each MB, and what the rule asks for at the largest input. Fails if
a job took more. Timings look at a job every 30 seconds: where `perf.studies.whole_dump` noted the kernel's
own peaks, these count.
"""

import argparse
import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from perf.studies.whole_dump import PEAKS
from perf.turns import ROOT, print_table

from fathom.errors import InputError
from fathom.io.files import read_json
from fathom.jobs.program import run_program

_REQUEST = re.compile(r"mem_mb=grow\((\d+)(?: \+ needs\.text_mb)?(?:, ([\d.]+))?\)")
_RULE = re.compile(r"^ *(?:use )?rule (\w+)(?: from \w+)?(?: as (\w+))?", re.MULTILINE)
_NAMES = (
    "rule", "jobs", "CPU s", "largest input, MB", "peak, MB", "MB for each MB", "asked for each MB",
    "asked for, MB",
)  # fmt: skip
MB = 1 << 20


class Took(NamedTuple):
    """What a job read and took, in megabytes and processor seconds."""

    read: float
    peak: float
    seconds: float


def main(arguments: argparse.Namespace) -> None:
    """Print the table; fail if a job took more than its rule asks for."""
    asked = read_requests(ROOT / "workflow" / "rules")
    jobs: dict[str, list[Took]] = defaultdict(list)
    for folder in arguments.folders:
        for rule, took in list_jobs(folder):
            jobs[rule].append(took)
    rows, over = [], []
    for rule in sorted(jobs.keys() & asked.keys()):
        some = sorted(jobs[rule])
        least, most = some[0], some[-1]
        spread = most.read - least.read
        slope = f"{(most.peak - least.peak) / spread:.2f}" if spread > arguments.spread else ""
        first, more = asked[rule]
        wanted = f"{first + more * most.read:,.0f}"
        peak, seconds = max(each.peak for each in some), sum(each.seconds for each in some)
        size = f"{most.read:,.1f}"
        rows.append([rule, len(some), f"{seconds:,.0f}", size, f"{peak:,.0f}", slope, more or "", wanted])
        over += [rule for each in some if each.peak > first + more * each.read]
    print_table(_NAMES, rows)
    if over:
        raise InputError("jobs took more memory than they asked for", ", ".join(sorted(set(over))))


def read_requests(folder: Path) -> dict[str, tuple[int, float]]:
    """Return what each rule asks for whatever it reads, and for each MB that it reads."""
    found = {}
    for file in sorted(folder.glob("*.smk")):
        text = file.read_text(encoding="utf-8")
        starts = [*_RULE.finditer(text)]
        ends = [*(each.start() for each in starts), len(text)][1:]
        for start, after in zip(starts, ends, strict=True):
            request = _REQUEST.search(text, start.end(), after)
            if request:
                found[start[2] or start[1]] = (int(request[1]), float(request[2] or 0))
            elif start[2] and start[1] in found:  # as the rule that it is made of
                found[start[2]] = found[start[1]]
    return found


def list_jobs(folder: Path) -> Iterator[tuple[str, Took]]:
    """Yield the rule of each job of a working folder whose inputs are still there, and what it took."""
    seen = set()
    noted = read_json(folder / PEAKS) if (folder / PEAKS).is_file() else {}
    for file in sorted((folder / ".snakemake" / "metadata").rglob("*")):
        if not file.is_file():
            continue
        said = json.loads(file.read_text(encoding="utf-8"))
        log = next(iter(said.get("log") or []), "")
        timing = folder / log.replace("/logs/", "/timings/").replace(".log", ".tsv")
        if not log or log in seen or not timing.is_file():
            continue
        seen.add(log)
        with timing.open(encoding="utf-8") as lines:
            timed = next(csv.DictReader(lines, delimiter="\t"))
        took = noted.get(log) or {"peak": timed["max_rss"], "seconds": timed["cpu_time"]}
        inputs = [folder / name for name in said.get("input") or [] if not name.endswith(".py")]
        if took["peak"] not in ("-", "NA") and all(each.is_file() for each in inputs):
            read = sum(each.stat().st_size for each in inputs) / MB
            yield said["rule"], Took(read, float(took["peak"]), float(took["seconds"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", help="working folders of finished runs")
    parser.add_argument("--spread", type=float, default=1.0, help="MB of input that a slope needs; 1")
    run_program(parser, main)
