"""The input files of a corpus: the shards of an arXiv dump, JSON lines or tables, a folder of documents.

Files are listed, never opened, so that planning a workflow reads nothing. Files of a folder are grouped
into parts, each read by one job.
"""

import hashlib
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_from_bytes

from fathom.corpus.documents.formats import FORMATS, find_format
from fathom.errors import InputError
from fathom.io.places import RUNS

METADATA_NAME = "arxiv-metadata-oai-snapshot.json"
_LINES = re.compile(r"\.(jsonl|json|ndjson)(\.gz|\.zst)?$")
_TABLES = re.compile(r"\.(parquet|(jsonl|ndjson|csv|tsv)(\.gz|\.zst)?)$")
_SAFE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._+-]*$")


def find_dump(folder: Path) -> tuple[dict[str, Path], Path]:
    """Find the metadata file and the full-text shards of an arXiv dump [RawCorpora, Sec. 2.1], [RedPajama].

    Parameters
    ----------
    folder : Path
        Holds `arxiv-metadata-oai-snapshot.json[.gz|.zst]` and `redpajama/*.jsonl[.gz|.zst]`; without full
        texts the corpus consists of abstracts.

    Raises
    ------
    InputError
        If the folder or the metadata file is missing, or there is more than one metadata file.
    """
    if not folder.is_dir():
        raise InputError("there is no such folder", f"dump = {folder}", "give it by --config dump=FOLDER")
    found = [
        folder / (METADATA_NAME + ending)
        for ending in ("", ".gz", ".zst")
        if (folder / (METADATA_NAME + ending)).is_file()
    ]
    if not found:
        hint = "get it from Kaggle's arXiv dataset; full texts belong in the folder redpajama/ beside it"
        raise InputError(f"the dump has no metadata file {METADATA_NAME}[.gz|.zst]", str(folder), hint)
    if len(found) > 1:
        what = f"the dump has {len(found)} metadata files: {', '.join(path.name for path in found)}"
        raise InputError(what, str(folder), "keep the newest one")
    shards = folder / "redpajama"
    return name_parts(_list_files(shards, _LINES) if shards.is_dir() else []), found[0]


def find_json_lines(entries: Sequence[str]) -> dict[str, Path]:
    """Find JSON lines files; each entry is a file or a folder of files."""
    return _find_files(entries, _LINES, ".jsonl")


def find_tables(entries: Sequence[str]) -> dict[str, Path]:
    """Find tables, as :func:`find_json_lines` does JSON lines."""
    return _find_files(entries, _TABLES, ".jsonl, .csv, .tsv or .parquet")


def is_table(name: str) -> bool:
    """Say whether a file is a table, by its name."""
    return _TABLES.search(name) is not None


def _find_files(entries: Sequence[str], endings: re.Pattern[str], wanted: str) -> dict[str, Path]:
    if not entries:
        raise InputError(
            "no input files are given", "corpus.files", f"list {wanted} files or folders with such files"
        )
    paths: list[Path] = []
    for entry in entries:
        path = Path(entry)
        if path.is_dir():
            inside = _list_files(path, endings)
            if not inside:
                raise InputError(f"the folder holds no {wanted} file", str(path), "check corpus.files")
            paths.extend(inside)
        elif path.is_file():
            paths.append(path)
        else:
            raise InputError("there is no such file or folder", str(path), "check corpus.files")
    return name_parts(paths)


def name_parts(paths: Iterable[Path]) -> dict[str, Path]:
    """Return paths by file name; raise `InputError` if two share a name or it cannot name a folder."""
    parts: dict[str, Path] = {}
    for path in paths:
        if not _SAFE.match(path.name):
            hint = "rename it: letters, digits, dot, underscore, hyphen"
            raise InputError("the file name has blanks or special characters", str(path), hint)
        other = parts.setdefault(path.name, path)
        if other is not path and other.resolve() == path.resolve():
            raise InputError("listed twice", f"corpus.files: {path}", "name it, or its folder, once")
        if other is not path:
            raise InputError(f"has the same name as {other}", str(path), "rename one of them")
    return dict(sorted(parts.items()))


def _list_files(folder: Path, endings: re.Pattern[str]) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and endings.search(path.name))


_PART_MB = 16
_PART_FILES = 2000
_MOST_PARTS = 256
_EXAMPLES = 5
_SOURCES, _BUILT = ("_sources", "_modules"), ("objects.inv", "searchindex.js")
"""Sources and code listings that Sphinx puts beside pages, and files that reveal Sphinx."""
_FREQUENT = 5


class FoundFile(NamedTuple):
    """A file of a folder.

    `name`: its path below the folder, with characters allowed in ids. `categories`: its sub-folder, nested
    ones joined by dots; empty directly in the folder.
    """

    path: Path
    name: str
    categories: list[str]
    size: int


@dataclass
class Skipped:
    """Unread files by reason, with a few of their names."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, example: str, count: int = 1) -> None:
        """Count a file, or all files of a folder."""
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
    """List the documents in folders by name; count the other files.

    Links inside a folder are not followed: they lead out of it, in circles, or to listed files. Hidden
    files and folders, such as `.git`, are not documents; nor are files that runs wrote to the working
    folder, which are not counted.

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
    waiting: list[tuple[str, list[str]]] = [(str(folder), above)]
    while waiting:
        place, parents = waiting.pop()
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as error:
            skipped.add(f"unreadable folder: {error.strerror}", write_name("/".join(parents)))
            continue
        names = {entry.name for entry in entries}
        for entry in entries:
            if entry.name in _SOURCES and not names.isdisjoint(_BUILT):
                count = sum(len(files) for _, _, files in os.walk(entry.path))
                reason = "sources beside the pages that Sphinx made from them"
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
    """Say whether a run wrote this to the working folder: results, notes, or a configuration."""
    if path.name in (RUNS, ".snakemake"):
        return path.is_dir() and path.resolve() == Path(path.name).resolve()
    run = path.name.removesuffix(".yaml").removesuffix(".models.tsv")
    return run not in ("", path.name) and Path(RUNS, run).is_dir() and path.parent.resolve() == Path.cwd()


def _take(path: Path, parents: Sequence[str], skipped: Skipped) -> bool:
    """Say whether a file is a document; count it if not."""
    name = write_name("/".join([*parents, path.name]))
    mode = path.lstat().st_mode
    reason = ""
    if path.name.startswith("."):
        reason = "hidden"
    elif stat.S_ISLNK(mode):
        reason = "a link"
    elif not stat.S_ISREG(mode):
        reason = "not a regular file"
    elif not find_format(path.name):
        reason = f"unsupported format: {path.suffix.lower() or 'no ending'}"
    if reason:
        skipped.add(reason, name)
    return not reason


def _find_categories(parents: Sequence[str]) -> list[str]:
    """Return the category of a sub-folder: `api.sub` for `api/sub`; replaces dots and spaces in names."""
    words = ["".join(each if each.isalnum() or each in "-_" else "_" for each in name) for name in parents]
    return [".".join(words)] if words else []


def write_name(path: str) -> str:
    """Return a path with characters not allowed in ids, such as line feeds and invalid bytes, as `%0A`."""
    if path.isprintable() and not any(each in path for each in " %#"):
        return path
    pieces = []
    for character in path:
        plain = character.isprintable() and character not in " %#" and not "\ud800" <= character <= "\udfff"
        pieces.append(character if plain else quote_from_bytes(os.fsencode(character)))
    return "".join(pieces)


def _require_names(files: Sequence[FoundFile]) -> None:
    names: dict[str, FoundFile] = {}
    for file in files:
        other = names.setdefault(file.name, file)
        if other is not file:
            raise InputError(f"has the same name as {other.path}", str(file.path), "rename one of them")


def name_parts_of_folder(files: Sequence[FoundFile]) -> dict[str, float]:
    """Return the megabytes of each part by its name, `files-2-of-4`.

    A hash of its name decides a file's part, and the number of parts is a power of two, so that a new file
    does not move the others.
    """
    megabytes = sum(min(file.size / 1e6, _PART_MB) for file in files)  # a large file stays in one part
    wanted = max(megabytes / _PART_MB, len(files) / _PART_FILES, 1)
    count = min(2 ** math.ceil(math.log2(wanted)), _MOST_PARTS)
    sizes = dict.fromkeys([f"files-{number}-of-{count}" for number in range(1, count + 1)], 0.0)
    for file in files:
        sizes[f"files-{_choose_part(file.name, count)}-of-{count}"] += file.size / 1e6
    return sizes


def take_part(files: Sequence[FoundFile], part: str) -> tuple[list[FoundFile], bool]:
    """Return the files of a part, and whether it is the first."""
    words = part.split("-")
    if len(words) != 4 or not (words[1].isdecimal() and words[3].isdecimal()):
        raise InputError("not a part of a folder", f"--part {part}", "write files-1-of-4")
    number, count = int(words[1]), int(words[3])
    return [file for file in files if _choose_part(file.name, count) == number], number == 1


def _choose_part(name: str, count: int) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % count + 1
