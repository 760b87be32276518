"""Why a run cannot start, in clearer words than Snakemake's, and messages of failed jobs, from their logs.

Users read them last after a failed run.
"""

import atexit
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fathom.errors import InputError

_SHOWN = 3
_TAIL = 3
_SKEW = 60.0  # seconds that two machines' clocks may differ by
_ENTRY = re.compile(r"^\[[^\]\n]*\] ", re.MULTILINE)
_UNEXPLAINED = (
    "see messages further up; if there are none, the job was killed: out of memory, out of time, or by hand"
)
_BY_SLURM = {
    "out of memory": re.compile(r"^(?:slurmstepd|srun)\b.*(?:memory limit|\boom\b|oom_kill)", re.I | re.M),
    "out of time": re.compile(r"^(?:slurmstepd|srun)\b.*DUE TO TIME LIMIT", re.I | re.M),
}
_MORE = (
    "retries got more, unless --set-resources or the profile's set-resources gave a value, which stays as"
    " it is: give more there"
)
FILE = "FATHOM_FAILURES"
"""Variable that names a file for the messages of failed jobs, for whoever started Snakemake to print last."""


@dataclass(frozen=True)
class FailedJob:
    """A job that failed."""

    rule: str
    logs: Sequence[str]
    wildcards: Sequence[str] = ()
    slurm_logs: Sequence[str] = ()


def find_slurm_logs(folder: Path, name: str, wildcards: Sequence[str] = ()) -> list[str]:
    """Return Slurm's logs of the attempts of a job or group, the newest last, as its executor names them."""
    place = folder / name / "_".join(wildcards).replace("/", "_")
    return [str(path) for path in sorted(place.glob("*.log"), key=lambda path: path.stat().st_mtime)]


def find_start(began: float, elapsed: float) -> float:
    """Return when a run began, in seconds since the epoch, corrected if the clock was set back.

    Parameters
    ----------
    elapsed : float
        Seconds since then, by a monotonic clock.
    """
    return min(began, time.time() - elapsed)


def describe_failures(groups: Iterable[Sequence[FailedJob]], since: float) -> str:
    """Return the messages of failed jobs, without duplicates.

    Parameters
    ----------
    groups : iterable of sequence of FailedJob
        Jobs that failed together: one, or those of a group, some of which may have succeeded.

    Returns
    -------
    str
        For each message, a line with the job, the reason and the log, and the hint below.
    """
    found: dict[str, list[FailedJob]] = {}
    for group in groups:
        said = [(job, read_message(job.logs, since)) for job in group]
        for job, message in [pair for pair in said if pair[1]] or said[:1]:
            told = message or _explain_kill(job.slurm_logs, since) or _quote_log(job.logs, since)
            found.setdefault(told, []).append(job)
    blocks = [_describe(message, jobs) for message, jobs in list(found.items())[:_SHOWN]]
    if len(found) > _SHOWN:
        blocks.insert(0, f"{len(found)} different failures, {_SHOWN} shown")
    return "\n\n".join(blocks)


def read_message(logs: Iterable[str], since: float) -> str:
    """Return the last message of a program with its hint; empty if there is none."""
    for text in _read_logs(logs, since):
        message = _ENTRY.split(text)[-1].strip()
        if message.startswith("Error: "):
            return message
    return ""


def say_at_the_end(text: str) -> None:
    """Print a text when the process has ended, or leave it to whoever started it, see :data:`FILE`."""
    if named := os.environ.get(FILE):
        Path(named).write_text(text, encoding="utf-8", errors="backslashreplace")
    else:
        atexit.register(sys.stderr.write, f"\n{text}\n")


def _describe(message: str, jobs: Sequence[FailedJob]) -> str:
    rules = ", ".join(dict.fromkeys(job.rule for job in jobs))
    own = f" ({', '.join(jobs[0].wildcards)})" if jobs[0].wildcards and len(jobs) == 1 else ""
    times = f" {len(jobs)} times" if len(jobs) > 1 else ""
    reason, _, more = message.removeprefix("Error: ").partition("\n")
    logs = [*jobs[0].logs, *jobs[0].slurm_logs[-1:]]
    log = f" [log: {', '.join(logs)}]" if logs else ""
    return f"{rules}{own} failed{times}: {reason}{log}\n{more}".rstrip()


def _explain_kill(slurm_logs: Sequence[str], since: float) -> str:
    """Return why Slurm killed the last attempt of a job, by its log; nothing if it does not say."""
    for text in _read_logs(slurm_logs[-1:], since):
        for reason, pattern in _BY_SLURM.items():
            if pattern.search(text):
                return f"Slurm killed it, {reason}\nHint: {_MORE}"
    return ""


def _quote_log(logs: Iterable[str], since: float) -> str:
    lines = [line for text in _read_logs(logs, since) for line in text.splitlines()]
    last = lines[-_TAIL:]
    return "\n".join([f"it left no message{', only:' if last else ''}", *last, f"Hint: {_UNEXPLAINED}"])


def _read_logs(logs: Iterable[str], since: float) -> list[str]:
    paths = [Path(log) for log in logs]
    return [
        path.read_text(encoding="utf-8", errors="replace")
        for path in paths
        if path.is_file() and path.stat().st_mtime >= since - _SKEW
    ]


def find_obstacles(results: Path | str) -> list[InputError]:
    """Return a message for each obstacle to a run in the working folder; planning is still possible."""
    folder = Path(results)
    while not folder.exists():
        folder = folder.parent
    found = []
    if not os.access(folder, os.W_OK):
        hint = "check its permissions, and whether its disk is mounted read-only"
        found.append(InputError("this folder cannot be written", str(folder), hint))
    if any(Path(".snakemake", "locks").glob("*")):
        what = "this folder is locked: another Snakemake is running in it, or was killed"
        hint = "wait for it to end; if none is running: fathom run --unlock, then start again"
        found.append(InputError(what, str(Path.cwd()), hint))
    return found


def require_working_folder() -> None:
    """Raise `InputError` if Snakemake cannot write to the working folder, which even a plan needs."""
    notes = Path(".snakemake")
    if not os.access(notes if notes.is_dir() else Path.cwd(), os.W_OK):
        what = "this folder cannot be written, but Snakemake writes to it, even for a plan"
        where = str(Path.cwd())
        raise InputError(what, where, "work in another folder (fathom run -d FOLDER), or check permissions")


@contextmanager
def refusing() -> Iterator[None]:
    """End with the message of an `InputError` as the last lines, even with Snakemake's `--quiet all`.

    An exception in a file of rules would name places in that file.
    """
    try:
        yield
    except InputError as error:
        sys.stderr.write(f"Error: {error}\n")
        raise SystemExit(1) from error
