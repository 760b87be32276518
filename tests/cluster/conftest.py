"""A real Slurm for all tests here, a disturbed run on it, and an undisturbed one without it.

With FATHOM_KEEP=FOLDER what ran there and Slurm's logs are copied there at the end.
"""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.cluster.slurm import Slurm, why_not
from tests.cluster.story import PATIENCE, Story, disturb, start_again, start_snakemake
from tests.end_to_end.project import copy_project, read_records, write_shards, write_tiny_config

FIRST_MEMORY, FIRST_TIME = 300, 1
"""What the first attempts of two rules get: megabytes, and minutes of a job that hangs."""


def shrink(folder: Path, rule: str, **first: int) -> None:
    """Let a rule's first attempt have less of something; it grows as before."""
    for path in (folder / "workflow" / "rules").glob("*.smk"):
        before, name, body = path.read_text().partition(f"rule {rule}:\n")
        for resource, value in first.items() if name else ():
            request = rf"{resource}=(grow|minutes)\([\d, .]+\)"
            body, changed = re.subn(request, rf"{resource}=\1({value})", body, count=1)
            assert changed, f"{path}: {rule} asks for {resource} in another way"
        path.write_text(before + name + body)


def change_yaml(path: Path, *changes: tuple[str, object]) -> None:
    """Set values of a YAML file, each by its keys with dots between."""
    values = yaml.safe_load(path.read_text())
    for keys, value in changes:
        section = values
        *above, last = keys.split(".")
        for key in above:
            section = section[key]
        section[last] = value
    path.write_text(yaml.safe_dump(values))


def make_project(folder: Path) -> None:
    """Make a project that is small and lets the first attempts of two rules have too little."""
    for name in ("docstrings", "scratch"):
        (folder / name).mkdir(parents=True)
    copy_project(folder)
    shards = write_shards(read_records(folder / "docstrings"), folder / "input", ["a.jsonl", "b.jsonl.gz"])
    change_yaml(
        write_tiny_config(folder, shards),
        ("corpus.splits", {"benchmark": 0.5, "adapt-train": 0.45, "adapt-valid": 0.05, "adapt-test": 0}),
    )
    (folder / "slurm").symlink_to("workflow/profiles/slurm")
    change_yaml(
        folder / "slurm" / "config.yaml",
        ("slurm-init-seconds-before-status-checks", 2),
        ("latency-wait", 5),
        ("default-resources.tmpdir", repr(str(folder / "scratch"))),
        ("resources.side_by_side", 1),
        # the tiny models are trained on the small card, and scored, with more logits, on the large one
        ("default-resources.gpu_cards", "'a100:1100x4 h100:80000x8'"),
    )
    shrink(folder, "extract_keywords", mem_mb=FIRST_MEMORY)
    shrink(folder, "collect_texts", runtime=FIRST_TIME)


@pytest.fixture(scope="session")
def slurm() -> Iterator[Slurm]:
    """Run Slurm on this machine."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    slurm = Slurm()
    # a run that is ended stops its cluster as well
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        slurm.start()
        yield slurm
    finally:
        try:
            keep(slurm.folder / "log", "daemons")
        finally:
            slurm.stop()
            signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def story(slurm: Slurm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Run the workflow disturbed on Slurm, and meanwhile undisturbed without it in another folder."""
    place = tmp_path_factory.mktemp("cluster")
    folder, other = place / "project", place / "undisturbed"
    make_project(folder)
    shutil.copytree(folder, other, symlinks=True)
    told = Story(folder, slurm)
    # in the pauses of the other run
    undisturbed = start_snakemake(other, "run.log", "-c2", "--configfile", "config/tiny.yaml", niceness=5)
    try:
        disturb(told)
        start_again(told)
        assert undisturbed.wait(PATIENCE) == 0, (other / "run.log").read_text()
        told.tell("undisturbed run without Slurm has ended, too")
        told.notes["undisturbed"] = other / "results"
        yield told
    finally:
        if undisturbed.poll() is None:
            os.killpg(undisturbed.pid, signal.SIGKILL)
        keep(folder, "project")


def keep(source: Path, name: str) -> None:
    """Copy a folder to where FATHOM_KEEP says."""
    place = os.environ.get("FATHOM_KEEP")
    if place and source.is_dir():
        shutil.copytree(source, Path(place) / name, dirs_exist_ok=True, symlinks=True)
