"""The files of a folder of documents: listed, never opened; grouped into parts that one job each reads."""

import hashlib
import math
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_from_bytes

from fathom.corpus.documents.formats import FORMATS, find_format
from fathom.errors import InputError
from fathom.io.places import RUNS

_PART_MB = 16
_PART_FILES = 2000
_MOST_PARTS = 256
_EXAMPLES = 5
_SOURCES, _BUILT = ("_sources", "_modules"), ("objects.inv", "searchindex.js")
"""What Sphinx puts beside pages: their sources and listings of code; and what tells that it made them."""
_FREQUENT = 5


class FoundFile(NamedTuple):
    """A file of a folder.

    Attributes
    ----------
    path : Path
        Where it is.
    name : str
        Its path below the folder, in letters that ids may have.
    categories : list of str
        Its sub-folder, nested ones joined by dots; empty directly in the folder.
    size : int
        In bytes.
    """

    path: Path
    name: str
    categories: list[str]
    size: int


@dataclass
class Skipped:
    """Files that are not read, by reason, with a few of their names."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, example: str, count: int = 1) -> None:
        """Count a file, or as many as a folder has."""
        self.counts[reason] += count
        examples = self.examples.setdefault(reason, [])
        if len(examples) < _EXAMPLES:
            examples.append(example)

    def report(self) -> dict[str, dict[str, object]]:
        """Return counts and examples by reason."""
        return {
            reason: {"count": count, "examples": self.examples[reason]}
            for reason, count in sorted(self.counts.items())
        }


def list_documents(entries: Sequence[str]) -> tuple[list[FoundFile], Skipped]:
    """List the files of folders that are documents, by name, and count the others.

    Links inside a folder are not followed: they lead out of it, in circles, or to what is listed anyway.
    Hidden files and folders, such as `.git`, are no documents, nor is what runs of the working
    folder wrote, which is not counted.

    Parameters
    ----------
    entries : sequence of str
        Folders, with all their sub-folders, and files. The names of several folders begin those of their
        files.

    Raises
    ------
    InputError
        If an entry does not exist, is listed twice, or there is no document.
    """
    if not entries:
        raise InputError("no folder of documents is given", "corpus.files", "name one or more folders")
    files: list[FoundFile] = []
    skipped = Skipped()
    seen: set[Path] = set()
    for entry in entries:
        folder = Path(entry)
        if not folder.exists():
            raise InputError("there is no such file or folder", str(folder), "check corpus.files")
        where = folder.resolve()
        if any(where == other or other in where.parents or where in other.parents for other in seen):
            raise InputError("listed twice", f"corpus.files: {folder}", "name it, or its folder, once")
        seen.add(where)
        above = [where.name] if len(entries) > 1 else []
        if folder.is_dir():
            files.extend(_walk(folder, above, skipped))
        elif _take(where, [], skipped):
            files.append(FoundFile(folder, write_name(folder.name), [], folder.stat().st_size))
    if not files:
        found = ", ".join(f"{reason} ({count:,})" for reason, count in skipped.counts.most_common(_FREQUENT))
        raise InputError(
            f"there is no document to read; found: {found or 'nothing'}",
            f"corpus.files: {', '.join(entries)}",
            f"documents end in {', '.join(FORMATS)}, each also with .gz",
        )
    _require_names(files)
    return sorted(files, key=lambda file: file.name), skipped


def _walk(folder: Path, above: list[str], skipped: Skipped) -> Iterator[FoundFile]:
    """Yield the documents below a folder."""
    waiting: list[tuple[str, list[str]]] = [(str(folder), above)]
    while waiting:
        place, parents = waiting.pop()
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as error:
            skipped.add(f"a folder that cannot be listed: {error.strerror}", write_name("/".join(parents)))
            continue
        names = {entry.name for entry in entries}
        for entry in entries:
            if entry.name in _SOURCES and not names.isdisjoint(_BUILT):
                count = sum(len(files) for _, _, files in os.walk(entry.path))
                reason = "sources beside the pages that Sphinx made of them"
                skipped.add(reason, write_name("/".join([*parents, entry.name])), count)
                continue
            if is_written_to(Path(entry.path)):
                continue
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                waiting.append((entry.path, [*parents, entry.name]))
            elif _take(Path(entry.path), parents, skipped):
                name = write_name("/".join([*parents, entry.name]))
                size = entry.stat(follow_symlinks=False).st_size
                yield FoundFile(Path(entry.path), name, _find_categories(parents), size)


def is_written_to(path: Path) -> bool:
    """Say whether runs of the working folder wrote this: their results, notes, or a run's configuration."""
    if path.name in (RUNS, ".snakemake"):
        return path.is_dir() and path.resolve() == Path(path.name).resolve()
    run = path.name.removesuffix(".yaml").removesuffix(".models.tsv")
    return run not in ("", path.name) and Path(RUNS, run).is_dir() and path.parent.resolve() == Path.cwd()


def _take(path: Path, parents: Sequence[str], skipped: Skipped) -> bool:
    """Say whether a file is a document; count it if it is not."""
    name = write_name("/".join([*parents, path.name]))
    mode = path.lstat().st_mode
    reason = ""
    if path.name.startswith("."):
        reason = "hidden"
    elif stat.S_ISLNK(mode):
        reason = "a link"
    elif not stat.S_ISREG(mode):
        reason = "no regular file"
    elif not find_format(path.name):
        reason = f"no format that is read: {path.suffix.lower() or 'no ending'}"
    if reason:
        skipped.add(reason, name)
    return not reason


def _find_categories(parents: Sequence[str]) -> list[str]:
    """Return the category of a sub-folder: `api.sub` for `api/sub`, dots and blanks of names replaced."""
    words = ["".join(each if each.isalnum() or each in "-_" else "_" for each in name) for name in parents]
    return [".".join(words)] if words else []


def write_name(path: str) -> str:
    """Return a path with what an id may not have, such as line feeds and bytes that are no text, as `%0A`."""
    if path.isprintable() and not any(each in path for each in " %#"):
        return path
    pieces = []
    for character in path:
        plain = character.isprintable() and character not in " %#" and not "\ud800" <= character <= "\udfff"
        pieces.append(character if plain else quote_from_bytes(os.fsencode(character)))
    return "".join(pieces)


def _require_names(files: Sequence[FoundFile]) -> None:
    """Raise `InputError` if two files have one name."""
    names: dict[str, FoundFile] = {}
    for file in files:
        other = names.setdefault(file.name, file)
        if other is not file:
            raise InputError(f"has the same name as {other.path}", str(file.path), "rename one of them")


def name_parts_of_folder(files: Sequence[FoundFile]) -> dict[str, float]:
    """Return the megabytes of each part by its name, `files-2-of-4`.

    A hash of its name decides the part of a file, and the number of parts is a power of two, so that a new
    file leaves the others where they are.
    """
    megabytes = sum(min(file.size / 1e6, _PART_MB) for file in files)  # no part divides a large file
    wanted = max(megabytes / _PART_MB, len(files) / _PART_FILES, 1)
    count = min(2 ** math.ceil(math.log2(wanted)), _MOST_PARTS)
    sizes = dict.fromkeys([f"files-{number}-of-{count}" for number in range(1, count + 1)], 0.0)
    for file in files:
        sizes[f"files-{_choose_part(file.name, count)}-of-{count}"] += file.size / 1e6
    return sizes


def take_part(files: Sequence[FoundFile], part: str) -> tuple[list[FoundFile], bool]:
    """Return the files of a part, and whether it is the first.

    Raises
    ------
    InputError
        If that is no name of a part.
    """
    words = part.split("-")
    if len(words) != 4 or not (words[1].isdecimal() and words[3].isdecimal()):
        raise InputError("this is no part of a folder", f"--part {part}", "write files-1-of-4")
    number, count = int(words[1]), int(words[3])
    return [file for file in files if _choose_part(file.name, count) == number], number == 1


def _choose_part(name: str, count: int) -> int:
    """Return the number of the part of a file, from 1."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % count + 1
