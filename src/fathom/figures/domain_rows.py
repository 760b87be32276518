"""Rows of a CSV table that belong to one domain."""

from collections.abc import Sequence
from pathlib import Path

from fathom.errors import InputError
from fathom.io.files import read_delimited

Table = Sequence[dict[str, str]]


def read_domain_rows(path: Path | str, columns: Sequence[str], domain: str, needed: bool = True) -> Table:
    """Return the rows of one domain.

    Parameters
    ----------
    path : Path or str
        CSV with a column `domain`.
    columns : sequence of str
        What it must have.
    domain : str
    needed : bool
        Whether there must be at least one row.

    Raises
    ------
    InputError
        If a column is missing, or a needed domain is not there.
    """
    rows = read_delimited(path, ",", columns)
    found = [row for row in rows if row["domain"] == domain]
    if needed and not found:
        known = ", ".join(sorted({row["domain"] for row in rows}))
        raise InputError(f"unknown domain {domain!r}", str(path), f"known: {known}")
    return found
