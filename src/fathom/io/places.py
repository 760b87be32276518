"""Places of files: the working folder, the folder that runs write to, the workflow that comes with Fathom."""

import os
from pathlib import Path

from fathom.errors import InputError

RUNS = "results"
"""The folder in the working folder that runs write to, each to one of its name."""


_PACKAGE = Path(__file__).resolve().parents[1]


def find_root() -> Path:
    """Return the folder of Fathom's own Snakefile, `workflow`, `scripts` and `config`.

    It is the clone that the package is imported from; an installed package has a copy inside.
    """
    clone = _PACKAGE.parents[1]
    return clone if (clone / "Snakefile").is_file() else _PACKAGE / "pipeline"


def find_own(path: Path | str, root: Path | None = None) -> Path:
    """Return a file or folder of the working folder, or the workflow's own where there is none."""
    root = root or find_root()
    return shorten_path(root / path) if not Path(path).exists() and (root / path).exists() else Path(path)


def shorten_path(path: Path) -> Path:
    """Return a path relative to the working folder where it lies in it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def find_cache() -> Path:
    """Return the user's folder for what can be made again: `$XDG_CACHE_HOME/fathom` or `~/.cache/fathom`.

    Raises
    ------
    InputError
        If the user has no home.
    """
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "fathom")
    except RuntimeError as error:
        raise InputError("this user has no home folder", "HOME", "set it, or XDG_CACHE_HOME") from error
