"""Atomic writing, and reading that names the file in its errors.

Everything that the project writes goes through :func:`write_atomically`, so that a file under its final name
is complete, whatever happened on the way: a full disk, a kill, two jobs that write the same file.
"""

import errno
import gzip
import hashlib
import io
import os
import re
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from fathom.errors import InputError
from fathom.io.json_text import parse_json, parse_object

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What some programs put before UTF-8, such as spreadsheets."""
_CHUNK = 1 << 20


@contextmanager
def write_atomically(path: Path | str) -> Iterator[Path]:
    """Give a temporary path beside `path`; rename it to `path` when the block ends well.

    Raises
    ------
    InputError
        If the disk is full, the folder cannot be made or written, or a folder has the name of a file or the
        reverse; nothing is left under the final name.
    """
    path = Path(path)
    temporary, done = None, False
    made = [folder for folder in path.absolute().parents if not folder.exists()]
    try:
        make_folder(path.parent)
        _require_plain(path)
        remove_stale(path)
        handle, name = tempfile.mkstemp(SUFFIX, prefix_temporary(path), path.parent)
        os.close(handle)
        temporary = Path(name)
        temporary.unlink()
        yield temporary
        _flush(temporary)
        _put_in_place(temporary, path)
        done = True
    except OSError as error:
        denied = isinstance(error, PermissionError)
        if error.errno == errno.EROFS or (denied and _is_inside(error.filename, path.parent)):
            hint = "check its permissions, and that its disk is not mounted read-only"
            raise InputError("this folder cannot be written", str(path.parent), hint) from error
        if temporary is None and error.errno not in _NO_SPACE:
            what = f"nothing can be written here: {error.strerror}"
            raise InputError(what, str(path), "choose another path") from error
        raise
    finally:
        # not by `except`: libraries say it with exceptions of their own
        failure = None if done else sys.exception()
        full = failure is not None and _says_full(failure, path.parent)
        if temporary is not None:
            remove(temporary)
        for folder in () if done else made:
            with suppress(OSError):  # another job's file may lie in it by now
                folder.rmdir()
        if full:
            what = "no space left on the disk while writing"
            raise InputError(what, str(path), "free some space and start again") from failure


def make_folder(folder: Path) -> None:
    """Make a folder if it is not there yet; raise `InputError` where none can be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno in {errno.EROFS, *_NO_SPACE}:
            raise
        hint = "choose another path"
        raise InputError(f"this folder cannot be made: {error.strerror}", str(folder), hint) from error


def _put_in_place(temporary: Path, path: Path) -> None:
    """Give what is written its final name; raise `InputError` if a folder would replace a file.

    A folder that is replaced is first renamed, so that a kill leaves it whole or not at all.
    """
    if not temporary.is_dir():
        require_file_name(path)
        temporary.replace(path)
        return
    if path.is_file():
        raise InputError("a file has this name; a folder is needed", str(path), "remove it")
    if path.is_dir():
        earlier = Path(tempfile.mkdtemp(SUFFIX, prefix_temporary(path), path.parent))
        path.replace(earlier)
        temporary.replace(path)
        remove(earlier)
    else:
        temporary.replace(path)


def require_file_name(path: Path) -> None:
    """Raise `InputError` if a folder has the name of a file to write, or a file that of a folder above it."""
    if path.is_dir():
        raise InputError("this is a folder; a file is needed", str(path), "name a file in it")
    _require_plain(path)
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir():
        raise InputError("this is a file; a folder is needed", str(above), "choose another path")


def _require_plain(path: Path) -> None:
    """Raise `InputError` if a pipe, socket or device has this name: a file would take its place."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError("this is a pipe, socket or device, not a file", str(path), "choose another path")


def _says_full(error: BaseException, folder: Path) -> bool:
    """Say whether an error means a full disk: by its number, its text, or, numpy's, by neither."""
    number = getattr(error, "errno", None)
    if number in _NO_SPACE or (isinstance(error, Exception) and "No space left on device" in str(error)):
        return True
    silent = isinstance(error, OSError) and number is None
    return silent and shutil.disk_usage(folder).free < _CHUNK


def _is_inside(name: Any, folder: Path) -> bool:
    return isinstance(name, str) and (Path(name) == folder or folder in Path(name).parents)


def _flush(path: Path) -> None:
    """Write a finished file's bytes through to the disk, where a late ENOSPC shows."""
    if path.is_file():
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def choose_scratch(output: Path | str) -> Path:
    """Return the folder for large temporary files on the way to `output`, such as a compute node's own disk.

    It is the one that the environment variable FATHOM_SCRATCH names, else the folder of `output`: a laptop's
    own folder for temporary files may lie in its memory. What gets a final name is always written beside it.

    Raises
    ------
    InputError
        If FATHOM_SCRATCH names no folder, or that of `output` cannot be made.
    """
    named = os.environ.get("FATHOM_SCRATCH", "")
    if named and not Path(named).is_dir():
        raise InputError("there is no such folder", f"FATHOM_SCRATCH={named}", "make it, or name another one")
    if named:
        return Path(named)
    make_folder(Path(output).parent)
    return Path(output).parent


def write_text(path: Path | str, text: str) -> None:
    """Write `text` as UTF-8 with unchanged line ends, atomically."""
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as indented JSON with sorted keys and a final line end, atomically."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    with write_atomically(path) as temporary:
        temporary.write_bytes(orjson.dumps(value, option=options))


def write_json_lines(path: Path | str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object for each row, keys in the row's own order, atomically."""
    with write_atomically(path) as temporary, temporary.open("wb") as stream:
        for row in rows:
            stream.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


def read_plain_text(path: Path | str) -> str:
    """Read a text file, with or without a byte order mark; raise `InputError` if it is not UTF-8."""
    content = require_file(path).read_bytes().removeprefix(BYTE_ORDER_MARK)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8", f"{path}, line {line}", "save it as UTF-8") from error


def read_json(path: Path | str) -> Any:
    """Read a JSON file; raise `InputError` if it is missing or not valid JSON."""
    try:
        return parse_json(require_file(path).read_bytes(), distinct=True)
    except ValueError as error:
        raise InputError(str(error), str(path)) from error


def read_object(path: Path | str) -> dict[str, Any]:
    """Read a JSON file that holds an object; raise `InputError` if it is missing or holds anything else."""
    found = read_json(path)
    if not isinstance(found, dict):
        raise InputError("not a JSON object", str(path), "it is of another kind: make it again")
    return found


def read_numbers(path: Path | str, names: Iterable[str]) -> dict[str, int | float]:
    """Read some numbers of a JSON object, those that it has."""
    values = read_object(path)
    found = {name: values[name] for name in names if name in values}
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{name} is not a number", str(path), "it is of another kind: make it again")
    return found


def read_json_lines(path: Path | str) -> list[dict[str, Any]]:
    """Read JSON objects, one per line that is not blank; raise `InputError` with the first that is none."""
    rows = []
    with require_file(path).open("rb") as stream:
        for number, line in enumerate(read_lines(stream, LINE_MB), start=1):
            where = f"{path}, line {number}"
            if line is None:
                raise InputError(f"the line is longer than {LINE_MB} MB", where)
            content = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if not content.strip():
                continue
            try:
                rows.append(parse_object(content))
            except ValueError as error:
                raise InputError(str(error), where, "each line is a JSON object") from error
    return rows


def require_file(path: Path | str, hint: str = "check the path") -> Path:
    """Return `path` if it is a file; raise `InputError` with `hint` if not."""
    path = Path(path)
    if not path.is_file():
        what = "this is a folder, not a file" if path.is_dir() else "there is no such file"
        if path.exists() and not path.is_dir():  # reading it may wait for ever
            what = "this is a pipe, socket or device, not a regular file"
        raise InputError(what, str(path), hint)
    return path


_LFS = b"version https://git-lfs.github.com/spec/"


def refuse_stand_in(path: Path) -> None:
    """Raise `InputError` if a file is the pointer that Git LFS leaves in place of one it has not fetched."""
    with path.open("rb") as stream:
        if stream.read(len(_LFS)) == _LFS:
            what = "this is not the file itself, but a pointer of Git LFS to it"
            raise InputError(what, str(path), "fetch the files: `git lfs pull` in the cloned folder")


def require_empty(folder: Path, option: str) -> None:
    """Raise `InputError` if something is in a folder that is to be written, or it is a file."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("this is not an empty folder", f"{option} {folder}", "name a new one")


def hash_file(path: Path | str) -> str:
    """Return the sha256 of a file's bytes, as hexadecimal text."""
    with require_file(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_folder(folder: Path | str) -> str:
    """Return the sha256 of the names and bytes of all files in a folder and below, hidden ones left out."""
    folder = Path(folder)
    names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    seen = [name for name in names if not any(piece.startswith(".") for piece in name.split("/"))]
    return hash_text(*(part for name in seen for part in (name, hash_file(folder / name))))


def hash_text(*parts: str) -> str:
    """Return the sha256 of some strings, as hexadecimal text; `("ab", "c")` and `("a", "bc")` differ."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.hexdigest()


class HashingReader(io.RawIOBase):
    """A binary file that hashes its bytes while they are read, so that a dump is read once."""

    def __init__(self, path: Path | str) -> None:
        self._file = require_file(path).open("rb")
        self._digest = hashlib.sha256()

    def readable(self) -> bool:
        """Return True: the stream is read-only."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read bytes into `buffer` and hash them; return their number."""
        count = self._file.readinto(buffer)
        self._digest.update(memoryview(buffer)[:count])
        return count

    def hexdigest(self) -> str:
        """Read what is left and return the sha256 of the whole file."""
        while chunk := self._file.read(_CHUNK):
            self._digest.update(chunk)
        return self._digest.hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def open_decompressed(path: Path | str, raw: HashingReader | None = None) -> io.BufferedReader:
    """Open a plain, `.gz` or `.zst` file for reading its decompressed bytes.

    Parameters
    ----------
    raw : HashingReader, optional
        An open stream of the file's own bytes to read from instead.

    Raises
    ------
    InputError
        If the bytes are packed, and the name does not say how.
    EOFError, OSError or zlib.error
        While reading, if a compressed stream is cut off or damaged.
    """
    path = Path(path)
    stream: Any = raw if raw is not None else require_file(path).open("rb")
    if path.suffix == ".gz":
        stream = gzip.GzipFile(fileobj=stream)
    if path.suffix == ".zst":
        import pyarrow as pa  # unlike zstandard's reader, it raises if a stream is cut off

        stream = pa.input_stream(stream, compression="zstd")
    reader = io.BufferedReader(stream, _CHUNK)  # reads lines faster than they do
    if path.suffix not in (".gz", ".zst"):
        _require_text(reader.peek(_LONGEST_MARK), path)
    return reader


_MARKS = {
    rb"\x1f\x8b": ".gz",
    rb"\x28\xb5\x2f\xfd": ".zst",
    rb"PAR1\x15": ".parquet",
    rb"BZh[1-9]1AY&SY|\xfd7zXZ\x00|PK\x03\x04|ARROW1\x00": "",
}
"""What files that are no text begin with, and the ending that says so; empty: such files are not read."""
_LONGEST_MARK = 10


def _require_text(start: bytes, path: Path) -> None:
    """Raise `InputError` if a file that should be text is packed, or a table of another kind."""
    for mark, ending in _MARKS.items():
        if re.match(mark, start):
            hint = f"its name must end in {ending}" if ending else "unpack it, or pack it as .gz or .zst"
            raise InputError("this is no text: its bytes are packed", str(path), hint)


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
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def _find_newest(path: Path) -> float:
    return max(each.lstat().st_mtime for each in (path, *path.rglob("*")))


@cache
def _identify_machine() -> str:
    """Return what tells this machine, since it started, and this container from others: six digits."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:6]


LINE_MB = 64
"""Megabytes of a line at most, where no setting says otherwise."""


def read_lines(stream: BinaryIO, megabytes: int) -> Iterator[bytes | None]:
    """Yield the lines of a buffered stream with their ends; None for one that is longer than so many MB."""
    limit = megabytes * 1_000_000
    while line := stream.readline(limit + 1):
        if len(line) <= limit:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(_CHUNK)
        yield None
