"""The input files of a corpus: the shards of an arXiv dump, or JSON lines of your own.

Files are listed, never opened, so that planning a workflow reads nothing.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from fathom.errors import InputError

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
        raise InputError(
            f"the dump has no metadata file {METADATA_NAME}[.gz|.zst]",
            str(folder),
            "it is part of Kaggle's arXiv dataset; full texts belong in the folder redpajama/ beside it",
        )
    if len(found) > 1:
        raise InputError(
            f"the dump has {len(found)} metadata files: {', '.join(path.name for path in found)}",
            str(folder),
            "keep the newest one",
        )
    shards = folder / "redpajama"
    return name_parts(_list_files(shards, _LINES) if shards.is_dir() else []), found[0]


def find_json_lines(entries: Sequence[str]) -> dict[str, Path]:
    """Find JSON lines files; each entry is a file or a folder of files."""
    return _find_files(entries, _LINES, ".jsonl")


def find_tables(entries: Sequence[str]) -> dict[str, Path]:
    """Find tables, as :func:`find_json_lines` does JSON lines."""
    return _find_files(entries, _TABLES, ".jsonl, .csv, .tsv or .parquet")


def is_table(name: str) -> bool:
    """Say whether a file's name is that of a table."""
    return _TABLES.search(name) is not None


def _find_files(entries: Sequence[str], endings: re.Pattern[str], wanted: str) -> dict[str, Path]:
    if not entries:
        raise InputError(
            "no input files are given", "corpus.files", f"list {wanted} files or folders of them"
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
    """Return paths by file name; `InputError` if two share one or it suits no folder."""
    parts: dict[str, Path] = {}
    for path in paths:
        if not _SAFE.match(path.name):
            raise InputError(
                "the file name has blanks or special characters",
                str(path),
                "rename it: letters, digits, dot, underscore, hyphen",
            )
        other = parts.setdefault(path.name, path)
        if other is not path and other.resolve() == path.resolve():
            raise InputError("listed twice", f"corpus.files: {path}", "name it, or its folder, once")
        if other is not path:
            raise InputError(f"has the same name as {other}", str(path), "rename one of them")
    return dict(sorted(parts.items()))


def _list_files(folder: Path, endings: re.Pattern[str]) -> list[Path]:
    """Return the files directly in a folder that have certain endings, by name."""
    return sorted(path for path in folder.iterdir() if path.is_file() and endings.search(path.name))
