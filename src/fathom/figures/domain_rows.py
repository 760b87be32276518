"""Rows of a CSV table that belong to one domain."""

from pathlib import Path

from fathom.errors import InputError
from fathom.io.contracts.column import Contract
from fathom.io.delimited import Row, read_rows


def read_domain_rows(path: Path | str, contract: Contract, domain: str, needed: bool = True) -> list[Row]:
    """Return the rows of one domain.

    Parameters
    ----------
    path : Path or str
    contract : Contract
        With a column `domain`.
    domain : str
    needed : bool
        Whether there must be at least one row.

    Raises
    ------
    InputError
        If the file does not fit its contract, or a needed domain is not there.
    """
    rows = read_rows(path, contract)
    found = [row for row in rows if row["domain"] == domain]
    if needed and not found:
        known = ", ".join(sorted({row["domain"] for row in rows}))
        raise InputError(f"unknown domain {domain!r}", str(path), f"known: {known}")
    return found
