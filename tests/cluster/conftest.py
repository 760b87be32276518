"""One disturbed run on a real Slurm, and an undisturbed one without it, for all tests here.

With FATHOM_KEEP=FOLDER the project and Slurm's logs are copied there at the end.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.cluster.slurm import Slurm, ask, kill, wait_until, why_not
from tests.end_to_end.project import (
    copy_project,
    read_records,
    run_snakemake,
    write_shards,
    write_tiny_config,
)

PATIENCE = 400
"""Seconds until something that must happen has happened, on a busy machine too."""
FIRST_MEMORY, FIRST_TIME = 700, 1
"""What the first attempts of two rules get: megabytes, and minutes of a job that hangs."""


class Story:
    """A project whose workflow is disturbed in every way, and what was seen on the way."""

    def __init__(self, folder: Path, slurm: Slurm) -> None:
        self.folder, self.slurm = folder, slurm
        self.notes: dict[str, object] = {}
        self.began = time.monotonic()

    def tell(self, what: str) -> None:
        """Say when something happened; pytest shows it when a test fails, or with -s."""
        print(f"{time.monotonic() - self.began:6.1f} s  {what}", flush=True)

    @property
    def arguments(self) -> list[str]:
        """Arguments of snakemake: the profile, as a user names it, and the project's configuration."""
        return ["--profile", "slurm", "--configfile", "config/tiny.yaml"]

    @property
    def output(self) -> str:
        """What the disturbed snakemake has printed."""
        return (self.folder / "first.log").read_text()

    def of(self, rule: str) -> list[dict[str, str]]:
        """Return the Slurm jobs of a rule or group, first attempt first."""
        pattern = re.compile(rf"rule_{rule}(_|$)")
        jobs = [job for job in self.slurm.jobs() if pattern.match(job["comment"])]
        return sorted(jobs, key=lambda job: int(job["id"]))

    def wait_for_program(self, program: str, *words: str) -> int:
        """Wait until a program of a job is at work; return its process."""
        found: list[int] = []

        def look() -> bool:
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    command = (process / "cmdline").read_text().split("\0")
                    place = (process / "cwd").readlink()
                except OSError:
                    continue
                if (
                    f"scripts/{program}.py" in command[1:2]
                    and place == self.folder
                    and {*words} <= {*command}
                ):
                    found.append(int(process.name))
            return bool(found)

        wait_until(look, f"{program} {' '.join(words)} runs", PATIENCE)
        return found[0]

    def wait_for_state(self, rule: str, state: str) -> dict[str, str]:
        """Wait until a job of a rule is in a state; return it."""
        wait_until(
            lambda: any(job["state"] == state for job in self.of(rule)), f"{rule} is {state}", PATIENCE
        )
        return next(job for job in self.of(rule) if job["state"] == state)


def shrink(folder: Path, rule: str, **first: int) -> None:
    """Let a rule's first attempt have less of something; it grows as before."""
    for path in (folder / "workflow" / "rules").glob("*.smk"):
        before, name, body = path.read_text().partition(f"rule {rule}:\n")
        for resource, value in first.items():
            body = re.sub(rf"{resource}=grow\(\d+\)", f"{resource}=grow({value})", body, count=1)
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
        ("corpus.folds", {"benchmark": 0.5, "adapt-train": 0.45, "adapt-valid": 0.05, "adapt-test": 0}),
    )
    (folder / "slurm").symlink_to("workflow/profiles/slurm")
    change_yaml(
        folder / "slurm" / "config.yaml",
        ("slurm-init-seconds-before-status-checks", 6),
        ("latency-wait", 5),
        ("default-resources.tmpdir", repr(str(folder / "scratch"))),
        ("resources.side_by_side", 1),
    )
    shrink(folder, "extract_keywords", mem_mb=FIRST_MEMORY)
    shrink(folder, "collect_texts", runtime=FIRST_TIME)


def disturb(story: Story) -> None:
    """Run the workflow on the cluster; break a job, a node, the controller, and then snakemake itself."""
    slurm = story.slurm
    with (story.folder / "first.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "snakemake", *story.arguments],
            cwd=story.folder, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        hanging = story.wait_for_program("collect_texts", "near")
        kill(hanging, signal.SIGSTOP)
        story.notes["environment"] = Path(f"/proc/{hanging}/environ").read_text().split("\0")
        story.tell("collect_texts hangs")
        ask("scancel", story.wait_for_state("train_tokenizer", "RUNNING")["id"])
        story.tell("train_tokenizer cancelled")
        node = story.wait_for_state("train_model", "RUNNING")["node"]
        slurm.kill_node(node)
        story.tell(f"node {node} of train_model killed")
        story.wait_for_state("embed_sentences", "RUNNING")
        slurm.stop_controller()
        time.sleep(5)
        slurm.start_controller()
        story.tell("controller restarted while embed_sentences ran")
        story.wait_for_state("train_model", "NODE_FAIL")
        slurm.start_node(node)
        story.tell(f"train_model has NODE_FAIL; node {node} is back")
        kill(story.wait_for_program("score_pairs"), signal.SIGSTOP)
        story.tell("score_pairs is held; snakemake gets SIGKILL")
    finally:
        process.kill()
        process.wait()


def start_again(story: Story) -> None:
    """Start snakemake again as a person would, who does what each message says, until it ends well."""
    for place, repair in enumerate(("--unlock", "scancel", "")):
        done = run_snakemake(story.folder, *story.arguments)
        story.notes[f"again {place}"] = done
        story.tell(f"started again: exit code {done.returncode}")
        if repair == "--unlock":
            assert run_snakemake(story.folder, *story.arguments, repair).returncode == 0
        elif repair:
            command = re.search(r"scancel --name=\S+", done.stdout + done.stderr)
            assert command, done.stdout + done.stderr
            ask(*command.group().split())
            wait_until(lambda: not ask("squeue", "--noheader").strip(), "all orphans are gone", 30)


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Run the workflow undisturbed without Slurm, then disturbed on Slurm, in the same folder."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("cluster") / "project"
    make_project(folder)
    slurm = Slurm()
    # a run that is ended stops its cluster as well
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        told = Story(folder, slurm)
        done = run_snakemake(folder, "-c2", "--configfile", "config/tiny.yaml")
        assert done.returncode == 0, done.stdout + done.stderr
        (folder / "results").rename(folder / "undisturbed")
        shutil.rmtree(folder / ".snakemake")
        told.tell("undisturbed run without Slurm has ended")
        slurm.start()
        disturb(told)
        start_again(told)
        told.notes["jobs"] = slurm.jobs()
        yield told
    finally:
        try:
            keep(folder, slurm)
        finally:
            slurm.stop()
            signal.signal(signal.SIGTERM, before)


def keep(folder: Path, slurm: Slurm) -> None:
    """Copy the project and the daemons' logs to where FATHOM_KEEP says."""
    place = os.environ.get("FATHOM_KEEP")
    for source, name in ((folder, "project"), (slurm.folder / "log", "daemons")):
        if place and source.is_dir():
            shutil.copytree(source, Path(place) / name, dirs_exist_ok=True, symlinks=True)
