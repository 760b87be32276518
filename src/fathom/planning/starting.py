"""Starting Snakemake on a workflow, as on the command line, and waiting for its end."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from fathom.io.places import find_own, find_root
from fathom.jobs.program import log, require_extra
from fathom.planning.caches import place_caches
from fathom.planning.plans import find_snakefile

_YAML = (".yaml", ".yml")
_PROFILE = "--profile"


def start_snakemake(words: Sequence[str]) -> int:
    """Run Snakemake on the workflow of the working folder, else on Fathom's own; return its exit code.

    Parameters
    ----------
    words : sequence of str
        Its options and targets. Configurations that are not in the working folder are Fathom's own, and
        so are profiles that Snakemake does not find.

    Raises
    ------
    InputError
        If Snakemake, or what the workflow needs beside it, is not installed, or has no place for its cache.
    """
    require_extra("workflow", "fathom run")
    place_caches()
    own = [_find_word(word, before) for before, word in zip(["", *words], words, strict=False)]
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(find_snakefile(None)), *own]
    return run_to_end(command)


def _find_word(word: str, before: str) -> str:
    """Return an option or target, with paths for files and profiles that only Fathom has."""
    if before == _PROFILE:
        return find_profile(word)
    if word.startswith(f"{_PROFILE}="):
        return f"{_PROFILE}={find_profile(word.partition('=')[2])}"
    return str(find_own(word)) if word.endswith(_YAML) and not Path(word).exists() else word


def find_profile(name: str) -> str:
    """Return a profile as given, or the folder of Fathom's own if Snakemake finds none."""
    from platformdirs import AppDirs  # of Snakemake, as are the places

    own, of_user = find_root() / "profiles" / name, AppDirs("snakemake", "snakemake")
    places = (".", of_user.user_config_dir, of_user.site_config_dir)
    if not name or not own.is_dir() or any(Path(place, name).exists() for place in places):
        return name
    log.info("%s %s is Fathom's own; to adapt it to your cluster: cp -r %s %s", _PROFILE, name, own, name)
    return str(own)


_PARENT = "FATHOM_PARENT"
"""Variable with the id of the process that waits for a command."""
_LOOK = 0.5
"""Seconds between a command's checks that this process exists."""
_PATIENCE = 10.0
"""Seconds to wait for a command that the terminal has interrupted as well."""


def run_to_end(
    command: Sequence[str], environment: Mapping[str, str] | None = None, output: IO[Any] | None = None
) -> int:
    """Run a command to its end and return its exit code; pass on signals to end.

    `subprocess.run` would kill it, and a killed Snakemake leaves its jobs running and the folder locked.
    Raise the `KeyboardInterrupt` or `SystemExit` that was to end this process, once the command has ended.
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
                log.warning("ending when the running jobs have ended; the same command resumes")
    if ended is not None:
        raise ended
    return process.returncode


def end_with_parent() -> None:
    """End this process, as by SIGTERM, once the process that runs it by `run_to_end` is gone.

    A killed process passes no signal on, so its Snakemake would keep running, and the folder locked.
    """
    parent = os.getenv(_PARENT)
    if parent == str(os.getppid()):
        threading.Thread(target=_wait_for_end, args=(int(parent),), daemon=True).start()


def _wait_for_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    log.warning("the parent process was killed: ending when the running jobs have ended")
    os.kill(os.getpid(), signal.SIGTERM)
