"""Compare what jobs of finished runs took of memory with the size of their inputs, rule by rule.

    python -m perf.studies.job_memory F1/project F2/project

reads `.snakemake/metadata` and the timings of each working folder, and prints for each rule that states its
memory in the workflow: jobs, the largest input, the peak there, the slope from the smallest input to the
largest in MB for each MB, and what the rule asks for at the largest input. Fails if a job took more.
"""

import argparse
import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from perf.turns import ROOT, print_table

from fathom.errors import InputError
from fathom.jobs.program import run_program

_REQUEST = re.compile(r"mem_mb=grow\((\d+)(?: \+ needs\.text_mb)?(?:, ([\d.]+))?\)")
_RULE = re.compile(r"^ *(?:use )?rule (\w+)(?: from \w+)?(?: as (\w+))?", re.MULTILINE)
MB = 1 << 20


class Took(NamedTuple):
    """What a job read and took, in megabytes."""

    read: float
    peak: float


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
        wanted = first + more * most.read
        rows.append(
            [rule, len(some), f"{most.read:,.1f}", f"{most.peak:,.0f}", slope, more or "", f"{wanted:,.0f}"]
        )
        over += [rule for each in some if each.peak > first + more * each.read]
    heads = [
        "rule",
        "jobs",
        "largest input, MB",
        "peak, MB",
        "MB for each MB",
        "asked for each MB",
        "asked for, MB",
    ]
    print_table(heads, rows)
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
    return found


def list_jobs(folder: Path) -> Iterator[tuple[str, Took]]:
    """Yield the rule of each job of a working folder whose inputs are still there, and what it took."""
    seen = set()
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
            peak = next(csv.DictReader(lines, delimiter="\t"))["max_rss"]
        inputs = [folder / name for name in said.get("input") or [] if not name.endswith(".py")]
        if peak not in ("-", "NA") and all(each.is_file() for each in inputs):
            yield said["rule"], Took(sum(each.stat().st_size for each in inputs) / MB, float(peak))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", help="working folders of finished runs")
    parser.add_argument("--spread", type=float, default=1.0, help="MB of input that a slope needs; 1")
    run_program(parser, main)
