"""An earlier run that this one takes results over from."""

from pathlib import Path
from typing import TYPE_CHECKING

from fathom.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def require_index(previous: Path) -> Path:
    """Return the path of an earlier run's index; raise `InputError` if that run never came so far."""
    index = previous / "index.parquet"
    if not index.is_file():
        raise InputError(
            "there is no run to take anything over from: its index is missing",
            str(index),
            "set `previous` to a run whose results are here, or leave it out",
        )
    return index


def find_previous_parts(previous: Path, doc_ids: "pl.Series") -> "dict[str, pl.Series]":
    """Say in which parts of an earlier run some documents were; memory does not grow with that run.

    Parameters
    ----------
    previous : Path
        The folder `corpus` of the earlier run.
    doc_ids : pl.Series
        Documents of one part of this run.

    Returns
    -------
    dict
        Ids by name of the earlier part, for those that were there, parts by name.
    """
    import polars as pl

    from fathom.io.row_groups import scan_table

    wanted = doc_ids.implode()
    found = [
        frame.filter(pl.col("doc_id").is_in(wanted))
        for frame in scan_table(require_index(previous), ["doc_id", "part"])
    ]
    if not found:
        return {}
    groups = pl.concat(found).partition_by("part", as_dict=True)
    return {str(part): frame["doc_id"] for (part,), frame in sorted(groups.items())}
