"""A streaming reader of JSON lines, plain or compressed, that counts malformed lines."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from fathom.errors import InputError
from fathom.io import files, json_text
from fathom.io.names import show_count

_KEPT = 20  # malformed lines that a report names
_FEW = 5  # a file with so few malformed lines is never refused
_AGAIN = "the copy or the download stopped early: get the file again"
_DAMAGED = "the file is damaged, or its name has the wrong ending: get it again or rename it"

Value = TypeVar("Value")


class MalformedLineError(ValueError):
    """A malformed line; the message says why. `cut` marks a line that may have been truncated."""

    def __init__(self, reason: str, cut: bool = False) -> None:
        self.cut = cut
        super().__init__(reason)


def parse_object(line: bytes) -> dict[str, Any]:
    """Return the JSON object on a line; raise :class:`MalformedLineError` if there is none."""
    try:
        return json_text.parse_object(line)
    except ValueError as error:
        reason = str(error)
    if reason.startswith("duplicate"):
        raise MalformedLineError(reason)
    if reason == "not a JSON object":
        # a truncated line such as `12` of `12345` may still be JSON
        raise MalformedLineError(reason, cut=not line.startswith((b"[", b'"')))
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedLineError("invalid UTF-8", cut=True) from None
    raise MalformedLineError("not JSON", cut=True)


def _look_at(path: Path) -> tuple[int, int, int]:
    """Return what identifies a state of a file: inode, size, date; zeros if it is gone."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return 0, 0, 0
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


class JsonLines:
    """The lines of a file, read once, one at a time.

    `max_malformed`: share of malformed lines above which the file is refused, if there are more than five.
    """

    def __init__(self, path: Path, max_malformed: float, max_line_mb: int = files.LINE_MB) -> None:
        self._path, self._max_malformed, self._max_line = files.require_file(path), max_malformed, max_line_mb
        self._first: list[dict[str, Any]] = []
        self._sha256 = ""
        self._read_at = (0, 0, 0)
        self.lines = 0
        self.malformed = 0

    def parse(self, parse: Callable[[bytes], Value]) -> Iterator[Value]:
        """Yield the parsed value of each line that is not blank.

        Raises
        ------
        InputError
            If the file is truncated, cannot be decompressed, or has too many malformed lines.
        """
        self._read_at = _look_at(self._path)
        raw = files.HashingReader(self._path)
        stream = files.open_decompressed(self._path, raw)
        try:
            for number, line in enumerate(self._read(stream), start=1):
                if line is None:
                    self.lines += 1
                    reason = f"longer than {self._max_line} MB (corpus.max_line_mb)"
                    self._note(number, MalformedLineError(reason), whole=True)
                    continue
                stripped = line.strip()
                if not stripped:
                    continue
                self.lines += 1
                try:
                    value = parse(stripped)
                except MalformedLineError as error:
                    self._note(number, error, whole=line.endswith(b"\n"))
                else:
                    yield value
            self._sha256 = raw.hexdigest()
            self._require_unchanged()
        finally:
            stream.close()
            raw.close()
        self._check()

    def _read(self, stream: BinaryIO) -> Iterator[bytes | None]:
        """Yield the raw lines, None for too long ones; raise `InputError` if the stream ends too early."""
        number = 0
        try:
            for number, line in enumerate(files.read_lines(stream, self._max_line), start=1):
                yield line.removeprefix(files.BYTE_ORDER_MARK) if number == 1 and line else line
        except (EOFError, OSError, zlib.error) as error:
            if getattr(error, "errno", None):
                raise  # an error of the disk, not of the stream
            self._require_unchanged()
            if isinstance(error, EOFError) or "Truncated" in str(error):
                what, hint = "the compressed stream is cut off", _AGAIN
            else:
                what, hint = f"this cannot be decompressed ({error})", _DAMAGED
            raise InputError(
                f"{what}; {show_count(number, 'line')} had been read", str(self._path), hint
            ) from error

    def _note(self, number: int, error: MalformedLineError, whole: bool) -> None:
        """Count a malformed line; a last line that is not JSON, after others, shows a truncated file."""
        other_format = 0 < self.malformed == self.lines - 1
        if error.cut and not whole and not other_format:
            self._require_unchanged()
            raise InputError(f"the file is cut off in line {number}", str(self._path), _AGAIN) from error
        self.malformed += 1
        if len(self._first) < _KEPT:
            self._first.append({"file": self._path.name, "line": number, "reason": str(error)})

    def _require_unchanged(self) -> None:
        """Refuse a file that was written to or replaced since it was opened: it may mix two versions."""
        if _look_at(self._path) != self._read_at:
            hint = "wait until its download or copy is done, then start again"
            raise InputError("the file changed while it was read", str(self._path), hint)

    def _check(self) -> None:
        if self.malformed > _FEW and self.malformed > self._max_malformed * self.lines:
            lines = "; ".join(f"line {first['line']}: {first['reason']}" for first in self._first[:3])
            raise InputError(
                f"{self.malformed:,} of {self.lines:,} lines are malformed ({lines})",
                str(self._path),
                "check that this is the right file; corpus.max_malformed sets the tolerated share",
            )

    @property
    def first_malformed(self) -> Mapping[str, Any] | None:
        """The first malformed line so far, with its `reason`."""
        return self._first[0] if self._first else None

    def report(self) -> dict[str, Any]:
        """Return the counts and the file's name, size and sha256, once all lines have been read."""
        return {
            "input": {"file": self._path.name, "bytes": self._read_at[1], "sha256": self._sha256},
            "lines": self.lines,
            "malformed": {"count": self.malformed, "first": self._first},
        }
