"""Records of CSV text with the lines that they begin at, strictly: a broken quote is a fault."""

import csv
import io
from collections.abc import Iterator


def scan_csv(text: str) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the number of each record's first line with its fields; after a broken one, what is wrong.

    Parameters
    ----------
    text : str
        The header is the first record. Blank lines have no fields.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        first = reader.line_num + 1
        try:
            values = next(reader, None)
        except csv.Error as error:
            yield first, f"not CSV: {error}"
            return
        if values is None:
            return
        yield first, values
