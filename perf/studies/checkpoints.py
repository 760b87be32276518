"""Count what a preset with many models from the hub takes: jobs, loads, bytes read, disk at its peak.

Plans the preset with Snakemake's dry run on a dump of empty files; model sizes are those of the table of
models. Bytes: each load reads all weights once, each fetched model is hashed once.
"""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from perf.turns import ROOT

from fathom.config.model_names import ModelName
from fathom.config.models import Models
from fathom.config.yaml_files import read_values
from fathom.jobs.program import run_program
from fathom.jobs.resources import Job, parse_plan
from fathom.models.registry import ModelRow, read_registry

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
FETCHES = ("fetch_model", "fetch_weights", "fetch_tokenizer")


def main(arguments: argparse.Namespace) -> None:
    """Plan the preset and print a row of a table."""
    with tempfile.TemporaryDirectory() as name:
        jobs = plan_preset(arguments.workflow, arguments.preset, Path(name), arguments.targets)
    models = Models.model_validate(read_values(ROOT / arguments.preset)["models"])
    entries = read_registry(ROOT / models.registry)
    loads = count_loads(jobs)
    sizes = {name: measure_weights(entries, name) for name in loads}
    read = sum(count * sizes[name] for name, count in loads.items()) + sum(sizes.values())
    disk = sum(sorted(sizes.values(), reverse=True)[: models.on_disk or None])
    print("| jobs | models from the hub | loads | loads of one model | TB read | weights on the disk, GB |")
    print("|---|---|---|---|---|---|")
    counts = f"{len(jobs):,} | {len(sizes)} | {sum(loads.values()):,} | {max(loads.values())}"
    print(f"| {counts} | {read / 1e12:,.1f} | {disk / 1e9:,.0f} |")


def plan_preset(workflow: Path, preset: str, folder: Path, targets: Sequence[str] = ()) -> list[Job]:
    """Return the jobs of a preset on a dump of empty files, all of which are to be made.

    Parameters
    ----------
    workflow : Path
        Folder of the workflow.
    preset : str
        Configuration file, a path in that folder.
    folder : Path
        An empty folder, for the dump.
    targets : sequence of str
        What to make; everything if empty.
    """
    (folder / "redpajama").mkdir()
    for name in ("arxiv-metadata-oai-snapshot.json", "redpajama/a.jsonl"):
        (folder / name).touch()
    command = [sys.executable, "-m", "snakemake", "-n", "-c2", "--nolock", "--forceall"]
    command += ["--configfile", preset, "--config", f"dump={folder}", "run=plan", "--", *targets]
    done = subprocess.run(command, cwd=workflow, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:] + done.stdout[-2000:])
    return parse_plan(done.stdout)


def count_loads(jobs: Sequence[Job]) -> Counter[str]:
    """Return how often each model from the hub is loaded; a chat template loads the same weights."""
    fetched = {job.wildcards["model"] for job in jobs if job.rule == "fetch_model"}
    users = [job for job in jobs if job.rule not in FETCHES and job.wildcards.get("model") in fetched]
    return Counter(ModelName.parse(job.wildcards["model"]).plain for job in users)


def measure_weights(entries: Mapping[str, ModelRow], name: str) -> float:
    """Return the bytes of a model's published weights."""
    entry = entries[name]
    return (entry.parameters or 0) * BYTES[entry.dtype]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="what to make; everything by default")
    parser.add_argument("--preset", default="config/papers/raw-corpora.yaml", help="configuration file")
    parser.add_argument("--workflow", type=Path, default=ROOT, help="folder of the workflow to plan")
    run_program(parser, main)
