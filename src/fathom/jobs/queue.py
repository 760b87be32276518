"""Jobs of an earlier run still in Slurm's queue: jobs outlive a Snakemake that is killed."""

import getpass
import shutil
import subprocess
from pathlib import Path

from fathom.errors import InputError

JOB_PREFIX = "fathom"
"""What the names of all jobs begin with; `slurm-jobname-prefix` of the profile."""
_FORMAT = "%i\t%T\t%j\t%k\t%Z"
_SHOWN = 5
_PATIENCE = 60


def refuse_leftover_jobs(folder: Path, prefix: str = JOB_PREFIX, submits: bool = True) -> None:
    """Stop if Slurm still holds jobs that an earlier run submitted from this folder.

    A new run would submit the same jobs again, and both would work on the same files. To be called where no
    other run can be at work in the folder. Asks nothing where there is no `squeue`.

    Parameters
    ----------
    submits : bool, default=True
        Whether this run uses Slurm, and so cannot begin where `squeue` does not answer.

    Raises
    ------
    InputError
        If there are such jobs, with the command that cancels them; or if `squeue` does not answer.
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

    Parameters
    ----------
    queue : str
        What squeue printed: id, state, name, comment and working folder, divided by tabs.
    """
    place, found = folder.resolve(), []
    for line in queue.splitlines():
        fields = line.split("\t", 4)
        if len(fields) != 5 or not fields[2].startswith(f"{prefix}_"):
            continue
        # the processes of a completing job have been killed, though a dead node may not say so for long
        if fields[1] != "COMPLETING" and Path(fields[4]).resolve() == place:
            found.append((fields[0], fields[2], fields[3]))
    return found


def _describe(leftover: list[tuple[str, str, str]]) -> tuple[str, str, str]:
    """Return the message about leftover jobs: what, where, hint."""
    jobs = [f"{number} {comment.partition('_wildcards_')[0]}" for number, _, comment in leftover[:_SHOWN]]
    more = f" and {len(leftover) - _SHOWN} more" if len(leftover) > _SHOWN else ""
    names = ",".join(dict.fromkeys(name for _, name, _ in leftover))
    return (
        f"{len(leftover)} jobs of an earlier run in this folder have not ended ({', '.join(jobs)}{more});"
        " their work would be done twice",
        "Slurm",
        f"cancel them and start again: scancel --name={names}",
    )
