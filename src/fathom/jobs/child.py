"""A long command that this process starts and waits for, such as Snakemake."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

from fathom.jobs.program import log

_PARENT = "FATHOM_PARENT"
"""Variable with the number of the process that waits for a command."""
_LOOK = 0.5
"""Seconds after which a command looks again whether that process is there."""
_PATIENCE = 10.0
"""Seconds for a command that the terminal has interrupted, too."""


def run_to_end(
    command: Sequence[str], environment: Mapping[str, str] | None = None, output: IO[Any] | None = None
) -> int:
    """Run a command and return its exit code; a signal to end is passed on, and its end is waited for.

    `subprocess.run` would kill it: a Snakemake that is killed leaves its jobs at work and the folder locked.

    Parameters
    ----------
    command : sequence of str
    environment : mapping of str to str, optional
    output : file, optional
        Where it writes; by default where this process does.

    Raises
    ------
    KeyboardInterrupt or SystemExit
        What was to end this process, once the command has ended.
    """
    errors = None if output is None else subprocess.STDOUT
    environment = {**(os.environ if environment is None else environment), _PARENT: str(os.getpid())}
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


def end_with_parent() -> None:
    """Have this process end, as SIGTERM ends it, once the one that runs it by `run_to_end` is gone.

    A process that is killed passes no signal on: its Snakemake would stay at work, and the folder locked.
    """
    parent = os.getenv(_PARENT)
    if parent == str(os.getppid()):
        threading.Thread(target=_wait_for_end, args=(int(parent),), daemon=True).start()


def _wait_for_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    log.warning("what started this was killed: ends when the running jobs have ended")
    os.kill(os.getpid(), signal.SIGTERM)
