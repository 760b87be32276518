"""Lines of a file, of which no more than a limit is ever held."""

from collections.abc import Iterator
from typing import BinaryIO

LINE_MB = 64
"""Megabytes of a line at most, where no setting says otherwise."""
_CHUNK = 1 << 20


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
