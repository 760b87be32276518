"""Time Snakemake's planning for 100 shards, 4 domains and 20 models, against a limit of 20 s.

Shards are empty files, as planning only lists them; of pairs it counts the rows. Plans with an empty results
folder, with complete results, and with the Slurm profile. Prints a table.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from perf.turns import ROOT, note

from fathom.jobs.program import run_program

LIMIT = 20.0
JOB = re.compile(r"^(?:localrule|rule) (\w+):", re.MULTILINE)
OUTPUT = re.compile(r"^    output: (.*)$", re.MULTILINE)


def main(arguments: argparse.Namespace) -> None:
    """Plan three times; print seconds and jobs."""
    with tempfile.TemporaryDirectory() as name:
        folder = copy_workflow(Path(name))
        config = write_plan(folder, arguments.shards, arguments.domains, arguments.models)
        print(f"{arguments.shards} shards, {arguments.domains} domains, {arguments.models} models")
        print("\n| plan | seconds | of the limit | jobs |\n|---|---|---|---|")
        text = show("everything is to be made", folder, config)
        make_outputs(folder, text)
        show("every file is there", folder, config)
        show(
            "Slurm profile, everything again",
            folder,
            config,
            "--forceall",
            "--profile",
            "workflow/profiles/slurm",
        )


def copy_workflow(folder: Path) -> Path:
    """Copy the files that planning reads into an empty folder, so the real results stay untouched."""
    for name in ("config", "envs", "scripts", "src", "workflow"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "Snakefile", folder / "Snakefile")
    return folder


def write_plan(folder: Path, shards: int, domains: int, models: int) -> Path:
    """Write a dump of empty shards, and a configuration with domains and models; return the configuration.

    Each trained model is adapted to every domain, and all are scored on every domain.
    """
    (folder / "dump" / "redpajama").mkdir(parents=True)
    (folder / "dump" / "arxiv-metadata-oai-snapshot.json").touch()
    for number in range(shards):
        (folder / "dump" / "redpajama" / f"arxiv_{number:04d}.jsonl.zst").touch()
    names = [f"domain-{number}" for number in range(domains)]
    trained = [f"model-{number}" for number in range(models // (domains + 1))]
    values = {
        "run": "large",
        "dump": str(folder / "dump"),
        "corpus": {"source": "arxiv"},
        "domains": {name: {"categories": [f"cs.{name}"]} for name in names},
        "pairs": {"tokenizer": trained[0]},
        "models": {
            "train": {name: {"domain": names[0]} for name in trained},
            "adapt": [{"base": base, "paths": [[name] for name in names]} for base in trained],
        },
    }
    path = folder / "large.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


def plan(folder: Path, config: Path, *arguments: str) -> str:
    """Return what a dry run in a folder prints."""
    command = [sys.executable, "-m", "snakemake", "-n", "-c2", "--nolock", "--configfile", str(config)]
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    done = subprocess.run([*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:] + done.stdout[-2000:])
    return done.stdout


def show(what: str, folder: Path, config: Path, *arguments: str) -> str:
    """Plan, print one row of the table, return the plan."""
    start = time.perf_counter()
    text = plan(folder, config, *arguments)
    seconds = time.perf_counter() - start
    note(f"planning, {what}", f"a limit of {LIMIT:.0f} s", f"{seconds:.1f} s", "the limit", seconds <= LIMIT)
    print(f"| {what} | {seconds:.1f} | {seconds / LIMIT:.0%} | {len(JOB.findall(text)):,} |", flush=True)
    return text


def make_outputs(folder: Path, text: str) -> None:
    """Create every output of a plan: an empty file or folder, or a table of pairs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pairs = pa.table({"pair_id": pa.array(range(1000), pa.int64())})
    for outputs in OUTPUT.findall(text):
        for name in outputs.split(", "):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.name == "pairs.parquet":
                pq.write_table(pairs, path)
            elif path.suffix or "." in path.name:
                path.touch()
            else:
                path.mkdir(exist_ok=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, default=100, help="full-text shards of the dump")
    parser.add_argument("--domains", type=int, default=4, help="domains with a benchmark")
    parser.add_argument("--models", type=int, default=20, help="models that are scored")
    run_program(parser, main)
