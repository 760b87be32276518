"""What failed jobs said, from their logs: the last thing that a user reads after a run that failed."""

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_SHOWN = 3
_TAIL = 3
_SKEW = 60.0  # seconds that the clocks of two machines may differ
_ENTRY = re.compile(r"^\[[^\]\n]*\] ", re.MULTILINE)
_UNEXPLAINED = (
    "the log holds no message. A traceback above is a defect: please report it. Otherwise the job was killed:"
    " out of memory, out of time, or by hand"
)


@dataclass(frozen=True)
class FailedJob:
    """A job that failed.

    Attributes
    ----------
    rule : str
        Name of its rule.
    logs : sequence of str
        Its log files.
    """

    rule: str
    logs: Sequence[str]


def find_start(began: float, elapsed: float) -> float:
    """Return when a run began, in seconds since the epoch, by the clock as it is now if that was set back.

    Parameters
    ----------
    began : float
        When the run began, in seconds since the epoch, by the clock of then.
    elapsed : float
        Seconds since then, by a clock that nobody sets.
    """
    return min(began, time.time() - elapsed)


def describe_failures(groups: Iterable[Sequence[FailedJob]], since: float) -> str:
    """Return the messages of failed jobs, equal ones once.

    Parameters
    ----------
    groups : iterable of sequence of FailedJob
        Jobs that failed together: one, or those of a group, of which some may be well.
    since : float
        When the run began, in seconds since the epoch: older logs are of earlier runs.

    Returns
    -------
    str
        For each message the rule, the first log, what the program said, and its hint.
    """
    found: dict[str, list[FailedJob]] = {}
    for group in groups:
        said = [(job, read_message(job.logs, since)) for job in group]
        for job, message in [pair for pair in said if pair[1]] or said[:1]:
            found.setdefault(message or _quote_log(job.logs, since), []).append(job)
    blocks = [f"{_name(jobs)}\n{message}" for message, jobs in list(found.items())[:_SHOWN]]
    if len(found) > _SHOWN:
        blocks.insert(0, f"{len(found)} different failures, of which {_SHOWN} are shown")
    return "\n\n".join(blocks)


def read_message(logs: Iterable[str], since: float) -> str:
    """Return the last message with which a program ended, hint and all; nothing if there is none."""
    for text in _read_logs(logs, since):
        message = _ENTRY.split(text)[-1].strip()
        if message.startswith("Error: "):
            return message
    return ""


def _name(jobs: Sequence[FailedJob]) -> str:
    """Return a line that says which jobs failed."""
    rules = ", ".join(dict.fromkeys(job.rule for job in jobs))
    times = f" {len(jobs)} times" if len(jobs) > 1 else ""
    log = f" ({'; '.join(jobs[0].logs)})" if jobs[0].logs else ""
    return f"{rules} failed{times}{log}:"


def _quote_log(logs: Iterable[str], since: float) -> str:
    """Return the end of the log of a job that left no message."""
    lines = [line for text in _read_logs(logs, since) for line in text.splitlines()]
    return "\n".join([*lines[-_TAIL:], f"Hint: {_UNEXPLAINED}"])


def _read_logs(logs: Iterable[str], since: float) -> list[str]:
    """Return the content of the logs that this run has written."""
    paths = [Path(log) for log in logs]
    return [
        path.read_text(encoding="utf-8", errors="replace")
        for path in paths
        if path.is_file() and path.stat().st_mtime >= since - _SKEW
    ]
