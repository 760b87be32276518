"""A folder of reference benchmarks: which file belongs to which domain, by the names of the files."""

from collections.abc import Collection
from pathlib import Path

from fathom.config.section import suggest
from fathom.errors import InputError

FIRST = "expert"
"""The reference that comes first where a domain has it: what a person wrote is held to be true."""

_ENDINGS = (".csv", ".jsonl")
_LAYOUT = "files are called DOMAIN.NAME.csv or DOMAIN.NAME.jsonl, such as cs.AI.expert.csv: docs/reference.md"


def find_references(folder: str, domains: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the files of a folder by domain and name, as `references` has them.

    The reference named `expert` comes first, others follow by name. Hidden files are left alone.

    Parameters
    ----------
    folder : str
        It holds files `DOMAIN.NAME.csv` or `DOMAIN.NAME.jsonl`, and no others.

    Raises
    ------
    InputError
        If there is no such folder, it is empty, a file has another name, its domain is not known, or two
        files are the same reference.
    """
    where = f"references = {folder}"
    if not Path(folder).is_dir():
        raise InputError("there is no such folder", where, f"check the path; {_LAYOUT}")
    files = sorted(path for path in Path(folder).iterdir() if not path.name.startswith("."))
    if not files:
        raise InputError("this folder is empty", where, _LAYOUT)
    found: dict[str, dict[str, str]] = {}
    for path in files:
        domain, _, name = path.stem.rpartition(".")
        if not (path.is_file() and path.suffix in _ENDINGS and domain and name):
            raise InputError(f"{path.name} is no reference by its name", where, _LAYOUT)
        if domain not in domains:
            raise InputError(f"{path.name}: there is no domain {domain!r}", where, suggest(domain, domains))
        named = found.setdefault(domain, {})
        if name in named:
            raise InputError(
                f"{Path(named[name]).name} and {path.name} are the same reference", where, "keep one of them"
            )
        named[name] = str(path)
    return {domain: dict(sorted(named.items(), key=_put_first)) for domain, named in found.items()}


def _put_first(item: tuple[str, str]) -> tuple[bool, str]:
    """Return a key that puts one reference before all others."""
    return item[0] != FIRST, item[0]
