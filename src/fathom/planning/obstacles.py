"""Obstacles to a run that are known before it starts, in clearer words than Snakemake's."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fathom.errors import InputError


def find_obstacles(results: Path | str) -> list[InputError]:
    """Return a message for each obstacle to a run in the working folder. Plans can be made all the same."""
    folder = Path(results)
    while not folder.exists():
        folder = folder.parent
    found = []
    if not os.access(folder, os.W_OK):
        hint = "check its permissions, and that its disk is not mounted read-only"
        found.append(InputError("this folder cannot be written", str(folder), hint))
    if any(Path(".snakemake", "locks").glob("*")):
        what = "this folder is locked: another Snakemake is at work in it, or one was killed"
        hint = "wait for its end; if there is none: fathom run --unlock, and start it again"
        found.append(InputError(what, str(Path.cwd()), hint))
    return found


def require_working_folder() -> None:
    """Raise `InputError` if Snakemake cannot take notes in the working folder, as it does for a plan, too."""
    notes = Path(".snakemake")
    if not os.access(notes if notes.is_dir() else Path.cwd(), os.W_OK):
        raise InputError(
            "this folder cannot be written, and Snakemake takes notes here, for a plan too",
            str(Path.cwd()),
            "work in another folder (fathom run -d FOLDER), or check permissions",
        )


@contextmanager
def refusing() -> Iterator[None]:
    """End with the message of an `InputError` as the last lines, even with Snakemake's `--quiet all`.

    An exception out of a file of rules would name places in that file.
    """
    try:
        yield
    except InputError as error:
        sys.stderr.write(f"Error: {error}\n")
        raise SystemExit(1) from error
