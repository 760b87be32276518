"""A run of the workflow on Slurm that is disturbed in every way, and what was seen of it."""

import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.slurm import Slurm, ask, kill, wait_until

PATIENCE = 1200
"""Seconds until something that must happen has happened, on a busy machine too."""
SNAKEMAKE = (sys.executable, "-P", str(Path(__file__).with_name("impatient.py")))


class Story:
    """A project whose workflow is disturbed, and what was seen on the way."""

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

    def wait_for_state(self, rule: str, state: str) -> dict[str, str]:
        """Wait until a job of a rule is in a state; return it."""
        found: list[dict[str, str]] = []
        wait_until(
            lambda: found.extend(job for job in self.of(rule) if job["state"] == state) or found,
            f"{rule} is {state}", PATIENCE,
        )  # fmt: skip
        return found[0]


class Holder:
    """Stops the first process of each of some programs as soon as it is there, until it is let go.

    So a job is in the middle of its work when it is disturbed, however fast or slow the machine is.

    Parameters
    ----------
    folder : Path
        Where the programs work.
    run : Popen
        The snakemake that starts them; when it has ended, nobody waits any more.
    programs : str
        Their names, and words among their arguments.
    """

    def __init__(self, folder: Path, run: subprocess.Popen[bytes], *programs: str) -> None:
        self._folder, self._run, self._waiting = folder, run, list(programs)
        self._held: dict[str, int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def wait_for(self, program: str) -> int:
        """Wait until a program is held; return its process."""

        def is_held() -> bool:
            assert self._run.poll() is None, f"snakemake ended before {program} ran"
            return program in self._held

        wait_until(is_held, f"{program} runs", PATIENCE)
        return self._held[program]

    def let_go(self, program: str) -> None:
        """Let a program that is held go on."""
        kill(self._held[program], signal.SIGCONT)

    def __enter__(self) -> "Holder":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while self._waiting and not self._ended.wait(0.05):
            for process, command in self._find_processes():
                fitting = [each for each in self._waiting if _fits(each, command)]
                if fitting:
                    kill(process, signal.SIGSTOP)
                    self._held[fitting[0]] = process
                    self._waiting.remove(fitting[0])

    def _find_processes(self) -> Iterator[tuple[int, list[str]]]:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_text().split("\0")
                place = (process / "cwd").readlink()
            except OSError:
                continue
            if place == self._folder:
                yield int(process.name), command


def _fits(program: str, command: list[str]) -> bool:
    """Return whether a command is that of a program, with all the words that are asked for."""
    name, *words = program.split()
    return any(Path(word).match(f"scripts/*/{name}.py") for word in command[1:2]) and {*words} <= {*command}


def start_snakemake(folder: Path, log: str, *arguments: str, niceness: int = 0) -> subprocess.Popen[bytes]:
    """Start snakemake in a folder, in a group of processes of its own."""
    with (folder / log).open("w") as stream:
        return subprocess.Popen(
            ["nice", "-n", str(niceness), *SNAKEMAKE, *arguments],
            cwd=folder, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip


def run_to_its_end(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run snakemake in a folder and return what it printed."""
    return subprocess.run(
        [*SNAKEMAKE, *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE
    )


def disturb(story: Story) -> None:
    """Run the workflow on the cluster; break a job, a node, the controller, and then snakemake itself."""
    slurm = story.slurm
    hanging = "collect_texts near"
    programs = (hanging, "train_tokenizer", "train_model", "embed_sentences", "score_model")
    process = start_snakemake(story.folder, "first.log", *story.arguments)
    try:
        with Holder(story.folder, process, *programs) as holder:
            environment = Path(f"/proc/{holder.wait_for(hanging)}/environ").read_text()
            story.notes["environment"] = environment.split("\0")
            story.tell("collect_texts hangs")
            holder.wait_for("embed_sentences")
            restart_controller(story)
            holder.let_go("embed_sentences")
            story.tell("controller restarted while embed_sentences ran")
            holder.wait_for("train_tokenizer")
            ask("scancel", story.wait_for_state("train_tokenizer", "RUNNING")["id"])
            story.tell("train_tokenizer cancelled")
            holder.wait_for("train_model")
            node = story.wait_for_state("train_model", "RUNNING")["node"]
            slurm.kill_node(node)
            story.tell(f"node {node} of train_model killed")
            story.wait_for_state("train_model", "NODE_FAIL")
            slurm.start_node(node)
            story.tell(f"train_model has NODE_FAIL; node {node} is back")
            holder.wait_for("score_model")
            story.tell("score_model is held; snakemake gets SIGKILL")
    finally:
        process.kill()
        process.wait()


def restart_controller(story: Story) -> None:
    """Stop the controller for five seconds, in a moment when it starts no job.

    One that is stopped while it starts a job holds that job for ever: a person has to cancel it.
    """
    seen: list[set[tuple[str, str]]] = []

    def is_quiet() -> bool:
        seen.append({(job["id"], job["state"]) for job in story.slurm.jobs()})
        time.sleep(1)
        return seen[-1:] == seen[-2:-1] and not {"PENDING", "CONFIGURING"} & {state for _, state in seen[-1]}

    wait_until(is_quiet, "no job is being started", PATIENCE)
    story.slurm.stop_controller()
    time.sleep(5)
    story.slurm.start_controller()


def start_again(story: Story) -> None:
    """Start snakemake again as a person would, who does what each message says, until it ends well."""
    for place, repair in enumerate(("--unlock", "scancel", "")):
        done = run_to_its_end(story.folder, *story.arguments)
        story.notes[f"again {place}"] = done
        (story.folder / f"again-{place}.log").write_text(done.stdout + done.stderr)
        story.tell(f"started again: exit code {done.returncode}")
        if repair == "--unlock":
            assert run_to_its_end(story.folder, *story.arguments, repair).returncode == 0
        elif repair:
            command = re.search(r"scancel --name=\S+", done.stdout + done.stderr)
            assert command, done.stdout + done.stderr
            ask(*command.group().split())
            wait_until(lambda: not ask("squeue", "--noheader").strip(), "all orphans are gone", PATIENCE)
    jobs = story.slurm.jobs()
    states = Counter(job["state"] for job in jobs)
    story.tell(f"{len(jobs)} jobs: {', '.join(f'{count} {state}' for state, count in states.most_common())}")
    story.notes["jobs"] = jobs
