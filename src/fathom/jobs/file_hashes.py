"""Hashes of large files, remembered by path, size and time, so that weights are not hashed by every job."""

import json
import time
from contextlib import suppress
from pathlib import Path

from fathom.errors import InputError
from fathom.io.files import hash_file, hash_text, write_atomically
from fathom.io.places import find_cache

LARGE = 100_000_000
"""Bytes from which a hash is remembered, as hashing takes longer."""
_SETTLED = 5.0
"""Seconds since a file's last change within which another change could have the same time."""


def hash_once(path: Path) -> str:
    """Return the sha256 of a file, for large files from memory if size and times are unchanged.

    The memory has a file for each large file, in `$XDG_CACHE_HOME/fathom/hashes` or
    `~/.cache/fathom/hashes`; if it cannot be written, the file is hashed each time.
    """
    path = path.resolve()
    before = _describe(path)
    if before["size"] < LARGE:
        return hash_file(path)
    memory = find_cache() / "hashes" / f"{hash_text(str(path))[:32]}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads(memory.read_bytes())
        if {name: known[name] for name in before} == before:
            return str(known["sha256"])
    found = hash_file(path)
    newest = max(before["modified"], before["changed"]) / 1e9
    if _describe(path) == before and time.time() - newest > _SETTLED:
        with suppress(OSError, InputError), write_atomically(memory) as temporary:
            temporary.write_text(json.dumps({"path": str(path), **before, "sha256": found}), encoding="utf-8")
    return found


def _describe(path: Path) -> dict[str, int]:
    """Return what identifies a state of a file, including ctime, which no program can set back."""
    state = path.stat()
    return {"size": state.st_size, "modified": state.st_mtime_ns, "changed": state.st_ctime_ns}
