"""Rows on disk that cannot be completed before a whole file has been read."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from fathom.io.files import choose_scratch


class TemporaryRows:
    """Batches of rows in one temporary file, written once and read back in the same order.

    The file has no name: two jobs never share it, and nothing remains of it when a job is killed.

    Parameters
    ----------
    output : Path
        The final output, which decides where the file is (:func:`fathom.io.files.choose_scratch`).
    """

    def __init__(self, output: Path, schema: pa.Schema) -> None:
        self._output, self._schema = output, schema
        self.rows = 0

    def __enter__(self) -> Self:
        self._file = tempfile.TemporaryFile(dir=choose_scratch(self._output))
        # compression took a third of a join's time
        self._writer = pa.ipc.new_file(self._file, self._schema)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._writer.close()
        finally:
            self._file.close()

    def write(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Append a batch, given as columns."""
        batch = pa.record_batch([columns[name] for name in self._schema.names], schema=self._schema)
        self._writer.write_batch(batch)
        self.rows += batch.num_rows

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches; nothing can be written afterwards.

        The columns of a batch share one buffer: a reference to one keeps all of them in memory.
        """
        self._writer.close()
        # no memory map: its pages would count as this process's memory
        reader = pa.ipc.open_file(self._file)
        for place in range(reader.num_record_batches):
            yield reader.get_batch(place)
