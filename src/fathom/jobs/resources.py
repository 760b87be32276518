"""Time, memory and disk by rule: gathered after a run, estimated before one."""

import getpass
import math
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from fathom.config.model_names import ModelName
from fathom.errors import InputError
from fathom.io.contracts.jobs import RATES, RESOURCES
from fathom.io.delimited import read_delimited, read_rows
from fathom.io.names import show_count
from fathom.jobs.job_slices import read_slice

PACKED = {".gz": 3.4, ".zst": 3.4}
"""Bytes of JSON lines for each byte of a compressed file; measured on arXiv's metadata and full texts."""

_JOB = re.compile(r"^(?:localrule|rule|checkpoint) (\w+):\n((?:    .*\n?)*)", re.MULTILINE)


def measure_text(name: str, size: int) -> float:
    """Return the megabytes of text in an input file of a size in bytes, compressed or not."""
    return size * PACKED.get(Path(name).suffix, 1.0) / 1e6


class Sizes(NamedTuple):
    """Megabytes of text by part, and of the whole corpus."""

    parts: Mapping[str, float]
    whole: float

    def of(self, part: str) -> float:
        """Return the megabytes that a job reads: its part or slice, else the whole corpus."""
        size = self.find(part)
        return self.whole if size is None else size

    def find(self, name: str) -> float | None:
        """Return the megabytes of a part or of a slice, None for other names."""
        if name in self.parts:
            return self.parts[name]
        piece = read_slice(name)
        return self.parts[piece.part] / piece.total if piece.part in self.parts else None


def measure_parts(shards: Mapping[str, float], abstracts: Sequence[str], metadata: float) -> Sizes:
    """Return the sizes of all parts: shards by name, and the metadata divided over parts of abstracts."""
    parts = {**shards, **{name: metadata / len(abstracts) for name in abstracts}}
    return Sizes(parts, sum(parts.values()))


def gather_timings(folder: Path, sizes: Sizes, without: Iterable[str] = ()) -> list[list[Any]]:
    """Return a line under RESOURCES for each rule of a run, most time first.

    `folder`: the run's folder `timings`: Snakemake's benchmark file for each job.
    """
    jobs: dict[str, list[dict[str, float]]] = {}
    for path in sorted(folder.rglob("*.tsv")):
        place = path.relative_to(folder)
        rule = place.parts[0].removesuffix(".tsv")
        part = place.stem if sizes.find(place.stem) is not None else ""
        for row in read_delimited(path, "\t"):
            numbers = {name: _read_number(value) for name, value in row.items()}
            jobs.setdefault(rule, []).append({**numbers, "megabytes": sizes.of(part)})
    lines = [_summarize_rule(rule, rows) for rule, rows in jobs.items() if rule not in set(without)]
    return sorted(lines, key=lambda line: (-line[2], line[0]))


def _read_number(text: str) -> float:
    """Return a number from a timings file; a job too short to measure has `NA` or `-`."""
    return float(text) if re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", text) else 0.0


def _summarize_rule(rule: str, rows: Sequence[Mapping[str, float]]) -> list[Any]:
    seconds = [row["s"] for row in rows]
    sums = [sum(row.get(name, 0.0) for row in rows) for name in ("io_in", "io_out", "megabytes")]
    memory = max(row.get("max_rss", 0.0) for row in rows)
    processor = sum(row.get("cpu_time", 0.0) for row in rows)
    numbers = [sum(seconds), median(seconds), max(seconds), processor, memory, *sums]
    return [rule, len(rows), *(round(number, 2) for number in numbers)]


@dataclass(frozen=True)
class Rate:
    """The cost of one job of a rule: a constant, a share by size of the text, and one by size of the model.

    Where each job of a rule reads all domains, rates from `config/rates.tsv` are for one domain
    (`for_each_domain`). Rates measured in an earlier run are for the whole job.
    """

    seconds_per_job: float = 0.0
    seconds_per_megabyte: float = 0.0
    seconds_per_gigaparameter: float = 0.0
    disk_per_megabyte: float = 0.0
    memory_mb: float = 0.0
    source: str = ""
    for_each_domain: bool = True


def read_rates(path: Path) -> dict[str, Rate]:
    """Read a table of rates by rule (contract RATES)."""
    rates = {}
    for row in read_rows(path, RATES):
        rule, empty = row.pop("rule"), [name for name in RATES.names[1:-1] if math.isnan(row[name])]
        rates[rule] = Rate(**row | dict.fromkeys(empty, 0.0))
    return rates


def measure_rates(
    path: Path, rates: Mapping[str, Rate], parameters: Mapping[str, float] | None = None
) -> dict[str, Rate]:
    """Replace rates by those of an earlier run's resources.csv, for the rules that it has.

    Measured times scale with the text. A model's size counts as in `rates`, scaled by the run's speed, if
    the folder `timings` beside the table names its models; else on top of the measured time. Raise
    `InputError` if a column is missing, a value is not a number, or a rule had no jobs. `parameters`: of
    models by name, see :func:`estimate`.
    """
    found = dict(rates)
    for row in read_rows(path, RESOURCES):
        old = rates.get(row["rule"], Rate())
        names = ("jobs", "seconds", "median_seconds", "max_memory_mb", "megabytes")
        jobs, seconds, middle, memory, megabytes = (row[name] for name in names)
        start, slope, growth = seconds / jobs, 0.0, old.seconds_per_gigaparameter
        size = _average_size(path.parent / "timings" / row["rule"], parameters or {})
        if growth and size:
            factor = start / (old.seconds_per_job + growth * size)
            start, growth = factor * old.seconds_per_job, factor * growth
        elif old.seconds_per_megabyte and megabytes:
            start = min(old.seconds_per_job, middle)
            slope = max(seconds - jobs * start, 0.0) / megabytes
        found[row["rule"]] = Rate(
            start, slope, growth, old.disk_per_megabyte, memory, str(path), for_each_domain=False
        )
    return found


def _average_size(timings: Path, parameters: Mapping[str, float]) -> float:
    """Return the mean size of the models of a rule, in billions of parameters; 0 if unknown."""
    jobs = [path.relative_to(timings) for path in sorted(timings.rglob("*.tsv"))]
    names = [[ModelName.parse(part.removesuffix(".tsv")).base for part in job.parts] for job in jobs]
    known = [next((parameters[name] for name in job if name in parameters), 0.0) for job in names]
    return sum(known) / len(known) / 1e9 if known else 0.0


@dataclass(frozen=True)
class Job:
    """One job of a dry run.

    `domains`: how many it reads, if its rule says so; memory in megabytes, `gpu_memory` of each GPU;
    `minutes`: its time limit.
    """

    rule: str
    wildcards: Mapping[str, str] = field(default_factory=dict)
    threads: int = 1
    gpu: int = 0
    domains: int = 1
    memory: int = 0
    gpu_memory: int = 0
    minutes: int = 0


class Work(NamedTuple):
    """Calculated work of a job: seconds, and megabytes of disk."""

    seconds: float
    disk_mb: float = 0.0


Calculate = Callable[[Job], Work | None]
"""Returns the work of a job; None if rates give it."""


def parse_plan(text: str) -> list[Job]:
    """Return the jobs that `snakemake --dry-run` prints; local jobs without a program are left out."""
    jobs = []
    for rule, body in _JOB.findall(text):
        lines = dict(line.strip().split(": ", 1) for line in body.splitlines() if ": " in line)
        if "benchmark" not in lines:  # a target, which runs nothing
            continue
        wildcards = _read_pairs(lines.get("wildcards", ""))
        resources = _read_pairs(lines.get("resources", ""))
        numbers = (("gpu", 0), ("domains", 1), ("mem_mb", 0), ("gpu_mem_mb", 0), ("runtime", 0))
        # a default for unknown resources
        values = [
            int(text) if (text := resources.get(name, "")).isdecimal() else least for name, least in numbers
        ]
        jobs.append(Job(rule, wildcards, int(lines.get("threads", 1)), *values))
    return jobs


def _read_pairs(text: str) -> dict[str, str]:
    return dict(piece.split("=", 1) for piece in text.split(", ") if "=" in piece)


@dataclass
class Estimate:
    """The expected cost of one rule's jobs; `longest`, `limit`: seconds of the longest job, and its limit."""

    jobs: int = 0
    cpu_seconds: float = 0.0
    gpu_seconds: float = 0.0
    longest: float = 0.0
    limit: float = 0.0
    disk_mb: float = 0.0
    memory_mb: float = 0.0
    source: str = ""


def estimate(
    jobs: Iterable[Job],
    rates: Mapping[str, Rate],
    sizes: Sizes,
    parameters: Mapping[str, float],
    calculate: Calculate | None = None,
) -> tuple[dict[str, Estimate], dict[str, int]]:
    """Return the expected cost of a plan's rules, and the number of jobs by rule without a known rate.

    Parameters
    ----------
    parameters : mapping of str to float
        Parameters of the models that have a known size, by name; a model that was adapted, or is asked in its
        chat template, has its base's. Those of all scored models under "", for a job that reads them all;
        those of the model that writes a set of questions under the set.
    calculate : callable, optional
        Counts in place of rates, unless an earlier run has measured the rule.
    """
    found: dict[str, Estimate] = {}
    unknown: dict[str, int] = {}
    for job in jobs:
        rate = rates.get(job.rule)
        if rate is None:
            unknown[job.rule] = unknown.get(job.rule, 0) + 1
            continue
        seconds, disk = _find_work(job, rate, sizes, parameters, calculate)
        line = found.setdefault(job.rule, Estimate(source=rate.source, memory_mb=rate.memory_mb))
        line.jobs += 1
        if seconds >= line.longest:
            line.longest, line.limit = seconds, 60.0 * job.minutes
        line.disk_mb += disk
        if job.gpu:
            line.gpu_seconds += seconds * job.gpu
        else:
            line.cpu_seconds += seconds * job.threads
    return found, unknown


@dataclass
class ModelEstimate:
    """The largest requests of a model's jobs, and the hours of all."""

    memory: int = 0
    gpu_memory: int = 0
    gpus: int = 0
    hours: float = 0.0


def estimate_models(
    jobs: Iterable[Job],
    rates: Mapping[str, Rate],
    sizes: Sizes,
    parameters: Mapping[str, float],
    calculate: Calculate | None = None,
) -> dict[str, ModelEstimate]:
    """Return the needs of each model of a plan by name; arguments as in :func:`estimate`."""
    found: dict[str, ModelEstimate] = {}
    for job in jobs:
        loads = job.gpu or rates.get(job.rule, Rate()).seconds_per_gigaparameter
        if not loads or "model" not in job.wildcards:
            continue
        line = found.setdefault(job.wildcards["model"], ModelEstimate())
        line.memory = max(line.memory, job.memory)
        line.gpu_memory = max(line.gpu_memory, job.gpu_memory)
        line.gpus = max(line.gpus, job.gpu)
        if job.rule in rates:
            line.hours += _find_work(job, rates[job.rule], sizes, parameters, calculate).seconds / 3600
    return found


def _find_work(
    job: Job, rate: Rate, sizes: Sizes, parameters: Mapping[str, float], calculate: Calculate | None
) -> Work:
    """Return the work of a job: as in an earlier run, else as calculated, else by rates; disk by both."""
    megabytes = sizes.of(job.wildcards.get("part") or job.wildcards.get("slice", ""))
    disk = rate.disk_per_megabyte * megabytes
    if calculate and rate.for_each_domain and (work := calculate(job)):
        return Work(work.seconds, disk + work.disk_mb)
    name = job.wildcards.get("model") or job.wildcards.get("set", "")
    model = ModelName.parse(name).base  # models derived from it have its size
    seconds = rate.seconds_per_job + rate.seconds_per_megabyte * megabytes
    seconds += rate.seconds_per_gigaparameter * parameters.get(model, 0.0) / 1e9
    return Work(seconds * (job.domains if rate.for_each_domain else 1), disk)


JOB_PREFIX = "fathom"
"""Prefix of the names of all jobs; `slurm-jobname-prefix` of the profile."""
_FORMAT = "%i\t%T\t%j\t%k\t%Z"
_SHOWN = 5
_PATIENCE = 60


def refuse_leftover_jobs(folder: Path, prefix: str = JOB_PREFIX, submits: bool = True) -> None:
    """Stop if Slurm still holds jobs that an earlier run submitted from this folder.

    A new run would submit the same jobs again, and both would work on the same files. Call it only if no
    other run can be active in the folder. Does nothing without `squeue`. Raise `InputError` if there are
    such jobs, with the command that cancels them; or if `squeue` does not answer. `submits`: whether this
    run uses Slurm, and so cannot begin where `squeue` does not answer.
    """
    if shutil.which("squeue") is None:
        return
    command = ["squeue", "--noheader", f"--user={getpass.getuser()}", f"--format={_FORMAT}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE)
        queue, fault = done.stdout, done.stderr.strip() if done.returncode else ""
    except subprocess.TimeoutExpired:
        queue, fault = "", f"no answer for {_PATIENCE} seconds"
    if fault and submits:
        raise InputError(fault, "squeue", "is Slurm's controller up?")
    leftover = find_leftover_jobs(queue, folder, prefix)
    if leftover:
        raise InputError(*_describe(leftover))


def find_leftover_jobs(queue: str, folder: Path, prefix: str = JOB_PREFIX) -> list[tuple[str, str, str]]:
    """Return id, name and comment of the jobs of a folder that have not ended, in the order of the queue.

    `queue`: what squeue printed: id, state, name, comment and working folder, divided by tabs.
    """
    place, found = folder.resolve(), []
    for line in queue.splitlines():
        fields = line.split("\t", 4)
        if len(fields) != 5 or not fields[2].startswith(f"{prefix}_"):
            continue
        # the processes of a completing job are killed, though a dead node may not report it for long
        if fields[1] != "COMPLETING" and Path(fields[4]).resolve() == place:
            found.append((fields[0], fields[2], fields[3]))
    return found


def _describe(leftover: list[tuple[str, str, str]]) -> tuple[str, str, str]:
    jobs = [f"{number} {comment.partition('_wildcards_')[0]}" for number, _, comment in leftover[:_SHOWN]]
    more = f" and {len(leftover) - _SHOWN} more" if len(leftover) > _SHOWN else ""
    names = ",".join(dict.fromkeys(name for _, name, _ in leftover))
    return (
        f"the queue still has {show_count(len(leftover), 'job')} of an earlier run in this folder"
        f" ({', '.join(jobs)}{more}); the same work would be done twice",
        "Slurm",
        f"cancel them and start again: scancel --name={names}",
    )
