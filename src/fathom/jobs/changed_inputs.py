"""Has an input file changed since it was read? Its content says so, not its date.

A copied or touched shard has a new date and the same bytes; a restored one may have new bytes and an old
date. Snakemake looks at dates alone where files are large, so the workflow asks here.
"""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import hash_file, require_file, write_json
from fathom.io.reports import OnContent, Remembered, read_report

_SAMPLE = 1 << 16


def sample_content(path: Path | str) -> str:
    """Return the size of a file and a hash of its beginning, middle and end: quick, however large it is.

    The last bytes of a compressed file hold a checksum of all of it.
    """
    with require_file(path).open("rb") as stream:
        size = stream.seek(0, 2)
        digest = hashlib.sha256()
        for place in (0, (size - _SAMPLE) // 2, size - _SAMPLE):
            stream.seek(max(place, 0))
            digest.update(stream.read(_SAMPLE))
    return f"{size} {digest.hexdigest()}"


def is_unchanged(path: Path, report: Path, memory: Path) -> bool:
    """Say whether a file that is newer than the report on it holds what it held then.

    Parameters
    ----------
    report : Path
        Names `bytes` and `sha256` of what was read, under `input`.
    memory : Path
        Where the hash is kept with size and date, so that the next call need not read the file.

    Returns
    -------
    bool
        False too if the report does not exist or the file is older than it: then its date misleads nobody.
    """
    if not report.is_file() or not path.is_file():
        return False
    stat = path.stat()
    if stat.st_mtime_ns <= report.stat().st_mtime_ns:
        return False
    given = read_report(report, OnContent).get("input", {})
    if given.get("bytes") != stat.st_size:
        return False
    known = {"bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    remembered: dict[str, Any] = {}
    with suppress(InputError):  # there is none, or it is damaged: the file is read
        remembered = read_report(memory, Remembered)
    if any(remembered.get(name) != value for name, value in known.items()):
        remembered = {**known, "sha256": hash_file(path)}
        with suppress(InputError):  # a folder that cannot be written: the file is read again next time
            write_json(memory, remembered)
    return bool(remembered["sha256"] == given.get("sha256"))
