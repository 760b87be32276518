"""The record of a run's files, `contents.json`: what each held when the page was written.

Tables of text cannot carry a record of their own, and a file that is gone says nothing; this file does.
"""

from collections.abc import Iterable
from pathlib import Path

from fathom.errors import InputError
from fathom.io import paths
from fathom.io.files import hash_file, read_object, write_json
from fathom.io.names import place_inside

_AGAIN = "start snakemake again, which makes the record anew, or put the file back"


def write_contents(path: Path, folder: Path, names: Iterable[str]) -> None:
    """Write the hashes of some files of a run."""
    write_json(path, {"files": {name: hash_file(folder / name) for name in names}})


def find_changes(folder: Path) -> list[str]:
    """Return a sentence on each file that is gone or was changed since the record was written.

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
        raise InputError("this is no record of a run's files", str(record), _AGAIN)
    found = []
    for name, sha256 in sorted(known.items()):
        path = place_inside(folder, name)
        if not path.is_file():
            found.append(f"{name} is gone: it was there when the page was written.")
        elif hash_file(path) != sha256:
            found.append(f"{name} was changed after the page was written.")
    return found


def require_unchanged(folder: Path) -> None:
    """Raise `InputError` if a file of a run is gone or was changed since the record was written."""
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
