"""A long command that this process starts and waits for, such as Snakemake."""

import subprocess
from collections.abc import Mapping, Sequence
from typing import IO, Any

from fathom.jobs.program import log

_PATIENCE = 10.0
"""Seconds for a command that the terminal has interrupted, too."""


def run_to_end(
    command: Sequence[str], environment: Mapping[str, str] | None = None, output: IO[Any] | None = None
) -> int:
    """Run a command and return its exit code; a signal to end is passed on, and its end is waited for.

    `subprocess.run` would kill it: a Snakemake that is killed leaves its jobs at work and the folder locked.

    Raises
    ------
    KeyboardInterrupt or SystemExit
        What was to end this process, once the command has ended.
    """
    errors = None if output is None else subprocess.STDOUT
    ended: BaseException | None = None
    patience: float | None = None
    with subprocess.Popen(command, env=environment, stdout=output, stderr=errors) as process:
        while process.returncode is None:
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:  # no terminal has interrupted it
                patience = None
                process.terminate()
            except KeyboardInterrupt as error:
                ended, patience = error, _PATIENCE
            except SystemExit as error:
                ended = error
                process.terminate()
                log.warning("ends when the running jobs have ended; the same command goes on from there")
    if ended is not None:
        raise ended
    return process.returncode
