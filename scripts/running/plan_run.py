"""Say before a run what it will take: jobs, CPU and GPU hours, memory and disk by rule."""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from fathom.config.whole import Config, read_config
from fathom.errors import InputError
from fathom.running.program import log, run_program
from fathom.running.resources import (
    Estimate,
    Sizes,
    estimate,
    measure_parts,
    measure_rates,
    measure_text,
    parse_plan,
    read_rates,
)

_ROOT = Path(__file__).resolve().parents[2]
_EMBEDDED = "config/config.yaml"


def main(arguments: argparse.Namespace) -> None:
    """Ask snakemake what it would do, multiply with rates, print a table."""
    config = merge_configuration(arguments.configfile or [_EMBEDDED], arguments.config)
    jobs = parse_plan(run_dry(arguments))
    rates = read_rates(arguments.rates)
    measured = arguments.measured or find_measured(config)
    if measured is not None:
        rates = measure_rates(measured, rates)
    from fathom.models.registry import read_registry

    registry = read_registry(_ROOT / "config" / "models.tsv")
    parameters = {name: float(entry.parameters or 0) for name, entry in registry.items()}
    sizes = measure_dump(config)
    lines, unknown = estimate(jobs, rates, sizes, parameters)
    for name, count in sorted(unknown.items()):
        log.info("no rate for rule %s: its %d jobs are not counted below", name, count)
    source = f"{arguments.rates.name}, as if every document were in a domain with a benchmark"
    if measured is not None:
        source = f"{measured}, as if as large a share of documents were in the domains as there"
    print_table(lines, sizes, arguments.cores, source)


def merge_configuration(files: list[str], values: list[str]) -> Config:
    """Return the configuration that snakemake would see for the same `--configfile` and `--config`."""
    import yaml
    from snakemake.utils import update_config

    merged: dict[str, Any] = {}
    for file in files:
        if not Path(file).is_file():
            raise InputError("there is no such file", file, "give it by --configfile")
        update_config(merged, yaml.safe_load(Path(file).read_text(encoding="utf-8")) or {})
    for value in values:
        key, found, text = value.partition("=")
        if not found:
            raise InputError("this is no KEY=VALUE", f"--config {value}")
        update_config(merged, {key: yaml.safe_load(text)})
    return read_config(merged, ", ".join(files))


def run_dry(arguments: argparse.Namespace) -> str:
    """Return what `snakemake --dry-run` prints for the same configuration and targets."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(_ROOT / "Snakefile"), "--dry-run"]
    command += ["--nolock", "--cores", "64"]
    command += ["--configfile", *arguments.configfile] if arguments.configfile else []
    command += ["--config", *arguments.config] if arguments.config else []
    command += ["--forceall"] if arguments.forceall else []
    done = subprocess.run([*command, "--", *arguments.targets], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        start = next((place for place, line in enumerate(lines) if "Error" in line or "Exception" in line), 0)
        problem = "\n".join(lines[start:])
        raise InputError(f"snakemake cannot plan this run: {problem}", hint="`snakemake -n` says more")
    return done.stdout


def find_measured(config: Config) -> Path | None:
    """Return the table of resources of this run or of the one before it, if there is any."""
    names = [name for name in (config.run, config.previous) if name]
    paths = [Path("results", name, "resources.csv") for name in names]
    return next((path for path in paths if path.is_file()), None)


def measure_dump(config: Config) -> Sizes:
    """Return the megabytes of text of the input, by part; docstrings count as one megabyte a package."""
    from fathom.corpus.inputs import find_dump, find_json_lines

    if config.corpus.source == "docstrings":
        return measure_parts(dict.fromkeys(config.corpus.packages, 1.0), [], 0.0)
    if config.corpus.source == "jsonl":
        shards, metadata = find_json_lines(config.corpus.files), None
    else:
        shards, metadata = find_dump(Path(config.dump or ""))
    sizes = {name: measure_text(path.name, path.stat().st_size) for name, path in shards.items()}
    names = [f"abstracts-{number:02d}" for number in range(config.corpus.abstract_parts)]
    size = measure_text(metadata.name, metadata.stat().st_size) if metadata else 0.0
    return measure_parts(sizes, names if metadata else [], size)


def print_table(lines: dict[str, Estimate], sizes: Sizes, cores: int, source: str) -> None:
    """Print a line for each rule, then the sums."""
    form = "{:26} {:>7} {:>10} {:>10} {:>10} {:>9} {:>9}"
    print(form.format("rule", "jobs", "CPU hours", "GPU hours", "longest h", "memory MB", "disk GB"))
    for rule, line in lines.items():
        hours = [f"{value / 3600:,.2f}" for value in (line.cpu_seconds, line.gpu_seconds, line.longest)]
        sizes_of = f"{line.memory_mb:,.0f}", f"{line.disk_mb / 1000:,.2f}"
        print(form.format(rule, f"{line.jobs:,}", *hours, *sizes_of))
    cpu, gpu = (sum(getattr(line, name) for line in lines.values()) / 3600 for name in
                ("cpu_seconds", "gpu_seconds"))  # fmt: skip
    jobs, disk = (
        sum(line.jobs for line in lines.values()),
        sum(line.disk_mb for line in lines.values()) / 1000,
    )
    print(
        f"\n{jobs:,} jobs, {cpu:,.1f} CPU hours, {gpu:,.1f} GPU hours, {disk:,.1f} GB of new files,"
        f" from {sizes.whole / 1000:,.2f} GB of text"
    )
    longest = max((line.longest for line in lines.values()), default=0.0) / 3600
    hours = max(cpu / cores, longest)
    print(f"at least {hours:,.1f} hours on {cores} cores, beside what GPU jobs wait for")
    print(f"rates: {source}; a run may well take half or twice of it")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="what to make, as for snakemake; everything by default")
    parser.add_argument("--configfile", nargs="+", help="as for snakemake")
    parser.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE", help="as for snakemake")
    parser.add_argument("--forceall", action="store_true", help="as if nothing had been made yet")
    parser.add_argument("--cores", type=int, default=1, help="cores that work at a time")
    parser.add_argument(
        "--rates", type=Path, default=_ROOT / "config" / "rates.tsv", help="rates by rule (TSV)"
    )
    parser.add_argument(
        "--measured", type=Path, help="resources.csv of an earlier run, instead of these rates"
    )
    run_program(parser, main)
