"""What a parquet table says of itself, in its footer: place in a run, columns, rows, a hash of its bytes.

A table of another model, one with fewer rows, or one with a changed bit still parses; here it is found out.
"""

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import pyarrow.parquet as pq

from fathom.errors import InputError

_KEY = b"fathom"
_END = 8  # bytes of a parquet file after its footer: the footer's length, and `PAR1`
_CHUNK = 1 << 20


class HashingWriter(io.RawIOBase):
    """A binary stream for writing that hashes what is written."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._digest, self._place = stream, hashlib.sha256(), 0

    def writable(self) -> bool:
        """Return True: the stream is write-only."""
        return True

    def write(self, content: Any, /) -> int:
        """Write and hash bytes; return their number."""
        self._digest.update(content)
        count = self._stream.write(content)
        self._place += count
        return count

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._place

    def hexdigest(self) -> str:
        """Return the sha256 of what was written so far."""
        return self._digest.hexdigest()


def make_record(place: str, columns: Sequence[str], rows: int, sha256: str) -> dict[bytes, bytes]:
    """Return the record of a table as metadata of its footer."""
    record = {"place": place, "columns": list(columns), "rows": rows, "sha256": sha256}
    return {_KEY: orjson.dumps(record)}


def check_record(path: Path | str, file: pq.ParquetFile, place: str) -> bool:
    """Check an open table against its record; return whether it has one.

    Raises
    ------
    InputError
        If the table is that of another place, has other rows, or other bytes.
    """
    found = (file.metadata.metadata or {}).get(_KEY)
    if found is None:
        return False
    record = _parse(found, path)
    groups = (file.metadata.row_group(place) for place in range(file.metadata.num_row_groups))
    rows = sum(group.num_rows for group in groups)
    if record["rows"] != rows:
        raise InputError(
            f"{rows:,} rows where {record['rows']:,} were written",
            str(path),
            "something took rows away or added some: make it again",
        )
    if record["place"] and place and record["place"] != place:
        raise InputError(
            f"this table was written as {record['place']}",
            str(path),
            "put it back there, and make this one again",
        )
    if record["columns"] != file.schema_arrow.names or record["sha256"] != _hash_before_footer(Path(path)):
        raise InputError("this table was changed after it was written", str(path), "make it again")
    return True


def _parse(content: bytes, path: Path | str) -> dict[str, Any]:
    try:
        record = orjson.loads(content)
    except orjson.JSONDecodeError:
        record = None
    if not isinstance(record, dict) or {*record} != {"place", "columns", "rows", "sha256"}:
        raise InputError("the record of this table is damaged", str(path), "make it again")
    return record


def _hash_before_footer(path: Path) -> str:
    """Return the sha256 of a parquet file's bytes before its footer."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(size - _END)
        left = size - _END - int.from_bytes(stream.read(4), "little")
        stream.seek(0)
        while left > 0 and (chunk := stream.read(min(left, _CHUNK))):
            digest.update(chunk)
            left -= len(chunk)
    return digest.hexdigest()
