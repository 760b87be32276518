"""Run all rules of an arXiv dump on a synthetic one, a job at a time, and note what each job took.

    python -m perf.studies.whole_dump --documents 1000000 --shards 16 --folder F
    python -m perf.studies.job_memory F/project

Papers are in 42 categories, as on arXiv; benchmarks are built of all of computer science, a quarter of the
papers, and of a small field, and the whole is trained on. The embedding model is the stand-in of
`perf.studies.scale`, and the models are tiny. `F/project/peaks.json` holds the peak memory and the processor
seconds of each job, by the path of its log: the kernel's own peaks, asked for five times a second.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import yaml
from perf.studies.make_dump import FIELDS, SPREAD
from perf.studies.scale import copy_project, write_stand_in

from fathom.errors import InputError
from fathom.io.files import read_json, write_json
from fathom.jobs.program import run_program

PEAKS = "peaks.json"
BETWEEN = 0.2
"""Seconds between two looks at the jobs."""
SMALL = {"width": 64, "layers": 2, "batch": 8, "steps": 20}
CONFIG = {
    "run": "whole", "dump": "dump", "corpus": {"source": "arxiv"},
    "domains": {
        "cs": {"categories": ["cs.*"]},
        FIELDS[1]: {"categories": [FIELDS[1]]},
        "general": {"categories": ["*"], "exclude": ["cs.*", FIELDS[1]], "benchmark": False},
    },
    "embedding": {"model": "./stand-in"},
    "pairs": {"tokenizer": "tiny", "max_tokens": 256},
    "models": {
        "train": {"tiny": {"architecture": "gpt2", "domain": "general", **SMALL}},
        "adapt": [{"base": "tiny", "paths": [["cs"], [FIELDS[1]]], "steps": 20, "batch": 8}],
    },
    "perplexity": {"max_characters": 10_000},
}  # fmt: skip


def main(arguments: argparse.Namespace) -> None:
    """Prepare the folder if it is not there; run targets, and note what their jobs take."""
    project = arguments.folder / "project"
    if not project.exists():
        prepare(project, arguments)
    command = [sys.executable, "-m", "snakemake", *arguments.targets, "-c1", "--keep-going"]
    command += ["--configfile", "config/whole.yaml", "--rerun-triggers", "mtime"]
    environment = os.environ | {"PYTHONPATH": str(project / "src"), "OMP_NUM_THREADS": "1"}
    with (arguments.folder / "snakemake.log").open("a") as log:
        process = subprocess.Popen(command, cwd=project, env=environment, stdout=log, stderr=log)
        watch_jobs(process, project / PEAKS)
    if process.returncode:
        raise InputError("a job failed", str(arguments.folder / "snakemake.log"))


def prepare(project: Path, arguments: argparse.Namespace) -> None:
    """Write the dump, the substitute model, the configuration, and a copy of the project."""
    if not (arguments.documents and arguments.shards):
        raise InputError("a new folder needs --documents and --shards", str(arguments.folder))
    copy_project(project)
    command = [sys.executable, "-m", "perf.studies.make_dump", "--spread", "--output", str(project / "dump")]
    sizes = ["--documents", str(arguments.documents), "--shards", str(arguments.shards)]
    subprocess.run([*command, *sizes], check=True)
    write_stand_in(project / "stand-in", tuple(SPREAD))
    (project / "config" / "whole.yaml").write_text(yaml.safe_dump(CONFIG, sort_keys=False))


def watch_jobs(process: subprocess.Popen[bytes], notes: Path) -> None:
    """Note the peak memory and the processor seconds of each program that a process starts, by its log."""
    found: dict[str, dict[str, float]] = read_json(notes) if notes.is_file() else {}
    main_process = psutil.Process(process.pid)
    try:
        while process.poll() is None:
            for job in main_process.children(recursive=True):
                try:
                    command = job.cmdline()
                    if "--log" in command and Path(command[0]).name.startswith("python"):
                        found[command[command.index("--log") + 1]] = measure_job(job)
                except (psutil.NoSuchProcess, psutil.ZombieProcess, ProcessLookupError, FileNotFoundError):
                    continue  # it has just ended
            time.sleep(BETWEEN)
    finally:
        write_json(notes, found)


def measure_job(job: psutil.Process) -> dict[str, float]:
    """Return the peak memory in MB of a program and its child processes, and their processor seconds."""
    peak = seconds = 0.0
    for each in [job, *job.children(recursive=True)]:
        lines = Path(f"/proc/{each.pid}/status").read_text(encoding="utf-8").splitlines()
        peak += sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
        times = each.cpu_times()
        seconds += times.user + times.system + times.children_user + times.children_system
    return {"peak": peak, "seconds": seconds}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True, help="folder of the dump and the run")
    parser.add_argument("--documents", type=int, help="records of a new dump")
    parser.add_argument("--shards", type=int, help="shards of a new dump")
    parser.add_argument("--targets", nargs="*", default=["all"], help="targets of the workflow; all")
    run_program(parser, main)
