"""An earlier run whose results are reused."""

from pathlib import Path
from typing import TYPE_CHECKING

from fathom.errors import InputError
from fathom.io import paths
from fathom.jobs.job_slices import read_slice

if TYPE_CHECKING:
    import polars as pl


def require_index(previous: Path) -> Path:
    """Return the path of an earlier run's index; raise `InputError` if that run never made one."""
    index = Path(paths.INDEX.under(previous))
    if not index.is_file():
        hint = "set `previous` to a run whose results are here, or leave it out"
        raise InputError("no earlier run to reuse: its index is missing", str(index), hint)
    return index


def find_previous_slices(previous: Path, doc_ids: "pl.Series") -> "dict[str, pl.Series]":
    """Return ids by earlier slice that holds them, in order of names; memory does not grow with that run."""
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
    slices: dict[str, list[str]] = {}
    for _, path in paths.SENTENCES.ending(".json").find_files(previous):
        slices.setdefault(read_slice(path.stem).part, []).append(path.stem)
    held: dict[str, pl.Series] = {}
    for (part,), frame in sorted(groups.items()):
        names = slices.get(str(part), [str(part)])
        held.update(
            _divide_ids(previous, names, frame["doc_id"]) if len(names) > 1 else {names[0]: frame["doc_id"]}
        )
    return held


def _divide_ids(previous: Path, names: list[str], doc_ids: "pl.Series") -> "dict[str, pl.Series]":
    """Return the ids of a part's documents by slice, each once even if files of another division remain."""
    from fathom.io.contracts.corpus import SENTENCE_COUNTS
    from fathom.io.tables import read_table

    found = {}
    for name in names:
        path = Path(paths.SENTENCE_COUNTS.of(slice=name).under(previous))
        if path.is_file():
            here = doc_ids.is_in(read_table(path, SENTENCE_COUNTS, ["doc_id"])["doc_id"].implode())
            found[name], doc_ids = doc_ids.filter(here), doc_ids.filter(~here)
    return {name: ids for name, ids in found.items() if len(ids)}
