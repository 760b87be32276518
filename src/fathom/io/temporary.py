"""Names of temporary files, which say whose they are, so that those of killed jobs can be removed."""

import hashlib
import os
import re
import shutil
import socket
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

SUFFIX = ".tmp"
_WEEK = 7 * 24 * 3600
"""Seconds after which a temporary file of another machine is taken for one of a killed job."""


def prefix_temporary(path: Path) -> str:
    """Return what the name of something temporary on the way to `path` begins with; SUFFIX ends it.

    It says machine and process: `.NAME.MACHINE-PROCESS.RANDOM.tmp`.
    """
    return f".{path.name}.{_identify_machine()}-{os.getpid()}."


def remove_stale(path: Path) -> None:
    """Remove what killed jobs left on the way to `path`: their process is gone, or a week has passed.

    What another machine writes counts by its time alone.
    """
    form = re.compile(rf"\.{re.escape(path.name)}\.(?:([0-9a-f]{{6}})-([0-9]+)\.)?[a-z0-9_]{{8}}\.tmp")
    left = list[tuple[Path, re.Match[str]]]()
    with suppress(OSError):  # of a folder that can be written and not listed
        left = [(each, found) for each in path.parent.iterdir() if (found := form.fullmatch(each.name))]
    for entry, found in left:
        with suppress(OSError):  # another job may remove it, or it is somebody else's
            here = found[1] == _identify_machine()
            if not _is_running(int(found[2])) if here else time.time() - _find_newest(entry) > _WEEK:
                remove(entry)


def remove(path: Path) -> None:
    """Delete a temporary file or folder if it is still there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(FileNotFoundError):
            path.unlink()


def _is_running(process: int) -> bool:
    """Tell whether a process of this machine is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _find_newest(path: Path) -> float:
    """Return when a file, or anything in a folder, last changed."""
    return max(each.lstat().st_mtime for each in (path, *path.rglob("*")))


@cache
def _identify_machine() -> str:
    """Return what tells this machine, since it started, and this container from others: six digits."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:6]
