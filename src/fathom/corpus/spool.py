"""A place on disk for rows that cannot be finished before all of a file has been read."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa


class Spool:
    """Batches of rows in one temporary file, written once and read back in the same order.

    Parameters
    ----------
    path : Path
        A name that nothing else uses, on the disk of the final output. It is deleted at the end of the block.
    schema : pa.Schema
        Columns of the rows.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path, self._schema = path, schema
        self.rows = 0

    def __enter__(self) -> Self:
        # not compressed: that took a third of the time of a join
        self._writer = pa.ipc.new_file(str(self._path), self._schema)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._writer.close()
        finally:
            self._path.unlink(missing_ok=True)

    def write(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Append a batch, given by its columns."""
        batch = pa.record_batch([columns[name] for name in self._schema.names], schema=self._schema)
        self._writer.write_batch(batch)
        self.rows += batch.num_rows

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches; nothing can be written afterwards.

        Columns of a batch share one buffer: what keeps one of them keeps them all.
        """
        self._writer.close()
        # no memory map: its pages would count as this process's memory
        with pa.OSFile(str(self._path)) as source:
            reader = pa.ipc.open_file(source)
            for place in range(reader.num_record_batches):
                yield reader.get_batch(place)
