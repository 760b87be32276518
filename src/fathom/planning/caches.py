"""What Snakemake and the hub's client need of a user: a place for their files, and a name."""

import getpass
import os
from pathlib import Path

from fathom.errors import InputError
from fathom.io.places import find_cache
from fathom.jobs.program import log

VARIABLE = "XDG_CACHE_HOME"
_BESIDE = Path(".snakemake", "cache")


def place_caches() -> None:
    """Have programs keep their files in the working folder if the user's cache cannot be written.

    This happens in containers that are read-only or run as a user without a home.

    Raises
    ------
    InputError
        If the working folder cannot be written either, or the user has no home.
    """
    _name_user()
    usual = find_cache().parent
    if _can_be_made(usual):
        return
    folder = Path.cwd() / _BESIDE
    if not _can_be_made(folder):
        hint = f"set {VARIABLE} to a writable folder"
        raise InputError("Snakemake cannot write to its cache", str(usual), hint)
    log.info("%s cannot be written; Snakemake and downloads keep their files in %s", usual, folder)
    os.environ[VARIABLE] = str(folder)


def _name_user() -> None:
    """Name a user unknown to the machine, as in a container: Snakemake and PyTorch ask for the name."""
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["USER"] = f"user-{os.getuid()}"


def _can_be_made(folder: Path) -> bool:
    above = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    return above.is_dir() and os.access(above, os.W_OK | os.X_OK)
