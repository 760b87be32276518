"""Contents of files, and whether they changed: inputs of a run, and the record of its results.

A copied or touched shard has a new date and the same bytes; a restored one may have new bytes and an old
date. Snakemake only looks at dates of large files, so the workflow asks here.

The record of a run, `contents.json`, has the content of each file when the page was written, as tables of
text cannot carry their own record, and missing files none.
"""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io import paths
from fathom.io.files import hash_file, read_object, require_file, write_json
from fathom.io.names import place_inside
from fathom.io.reports import OnContent, Remembered, read_report

_AGAIN = "start snakemake again, which makes the record anew, or put the file back"


def write_contents(path: Path, folder: Path, names: Iterable[str]) -> None:
    """Write the hashes of some files of a run."""
    write_json(path, {"files": {name: hash_file(folder / name) for name in names}})


def find_changes(folder: Path, there: Iterable[str] = ()) -> list[str]:
    """Return a sentence on each file that is missing or was changed since the record was written.

    And one on the files that are `there`, as paths below the folder, and not in the record.

    Raises
    ------
    InputError
        If the record is damaged, or names files outside of the folder.
    """
    record = folder / paths.CONTENTS.below
    if not record.is_file():
        return []
    known = read_object(record).get("files")
    if not isinstance(known, dict):
        raise InputError("not a record of a run's files", str(record), _AGAIN)
    found = []
    for name, sha256 in sorted(known.items()):
        path = place_inside(folder, name)
        if not path.is_file():
            found.append(f"{name} is missing: it existed when the page was written.")
        elif hash_file(path) != sha256:
            found.append(f"{name} was changed after the page was written.")
    if new := [name for name in there if name not in known]:
        why = "they are newer, or the record is of an older version or another configuration"
        found.append(f"{paths.CONTENTS.below} lacks {len(new):,} of the files, such as {new[0]}: {why}.")
    return found


def require_unchanged(folder: Path) -> None:
    """Raise `InputError` if a file of a run is missing or was changed since the record was written."""
    changes = find_changes(folder)
    if changes:
        more = f" And {len(changes) - 1:,} more such files." if len(changes) > 1 else ""
        raise InputError(f"{changes[0]}{more}", str(folder), _AGAIN)


def describe_record(folder: Path) -> list[str]:
    """Return a sentence if a run has no record of its files."""
    if (folder / paths.CONTENTS.below).is_file():
        return []
    what = "as in an unfinished run, or one of an older version: changed and lost files are not noticed"
    return [f"There is no {paths.CONTENTS.below}, {what}."]


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
    """Say whether a file that is newer than the report on it has the same content as then.

    Also false if the report does not exist or is newer than the file, whose date is then right. `report`:
    names `bytes` and `sha256` of what was read, under `input`. `memory`: where the hash is kept with size
    and date, so that the next call need not read the file.
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
    with suppress(InputError):  # missing or damaged: read the file
        remembered = read_report(memory, Remembered)
    if any(remembered.get(name) != value for name, value in known.items()):
        remembered = {**known, "sha256": hash_file(path)}
        with suppress(InputError):  # a folder that cannot be written: read the file again next time
            write_json(memory, remembered)
    return bool(remembered["sha256"] == given.get("sha256"))
