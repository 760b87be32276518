"""Merges configuration files and `--config` as Snakemake does, and reads what they choose to compare.

In a folder of reference benchmarks, file names give the domains.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from fathom.config.section import find_slip, refuse_unknown
from fathom.config.yaml_files import read_values
from fathom.errors import InputError

CHOOSABLE = ("models", "domains")
"""Sections that `--config` may replace by a list of names."""

_BY_DOMAIN = {
    "targets": ["phrases"], "perplexity": ["texts"], "examples": ["keywords", "detailed", "categories"],
    "coverage": ["expand", "others"],
}  # fmt: skip
"""Keys whose values are by domain, or lists of domains, by section."""


def merge_files(files: Iterable[str]) -> dict[str, Any]:
    """Merge configuration files, unchecked; later ones count.

    Raises
    ------
    InputError
        If a file is missing or damaged.
    """
    merged: dict[str, Any] = {}
    for file in files:
        merge(merged, read_values(file))
    return merged


def merge(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Replace values by newer ones; merge mappings, as Snakemake does."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            old = into.get(key)
            into[key] = dict(old) if isinstance(old, Mapping) else {}
            merge(into[key], value)
        else:
            into[key] = value


def choose(values: Mapping[str, Any], files: Iterable[str]) -> dict[str, Any]:
    """Return a configuration with sections in place of lists of names and of a folder of references.

    A list of models becomes `models.only`. A list of domains names those of the files' domains that have a
    benchmark; other names are categories. The files' other settings stay. If `references` is a folder, its
    files take its place.

    Parameters
    ----------
    values : mapping
        The files' values with those of `--config` over them.
    files : iterable of str
        The files, which are read again if there is a list.

    Raises
    ------
    InputError
        If a name is not a text, is given twice, or misspells a domain; if the folder is no folder of
        references.
    """
    chosen = dict(values)
    lists = [key for key in CHOOSABLE if isinstance(values.get(key), list)]
    said = merge_files(files) if lists else {}
    for key in lists:
        _check_names(key, values[key])
    if "models" in lists:
        chosen["models"] = {**(said.get("models") or {}), "only": values["models"]}
    if "domains" in lists:
        chosen["domains"] = _choose_domains(values["domains"], said.get("domains") or {})
    folder = values.get("references")
    if isinstance(folder, str) and isinstance(chosen.get("domains"), Mapping):
        chosen["references"] = find_references(folder, chosen["domains"])
    if "domains" in lists:
        _forget_others(chosen, values["domains"])
    return chosen


def _check_names(key: str, names: list[Any]) -> None:
    where = f"--config {key}=[...]"
    if not names:
        raise InputError("the list is empty", where, "leave it out to compare all")
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{name!r} is no name", where, f"such as {key}=[a,b]")
        if names.count(name) > 1:
            raise InputError(f"{name!r} is given twice", where, "name each once")


def _choose_domains(names: list[str], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the files' domains, with a benchmark if asked for, then the categories."""
    for name in names:
        if name not in known and find_slip(name, known):
            raise refuse_unknown("domain", name, known, "--config domains=[...]")
    sections = {
        name: {**section, "benchmark": name in names} if isinstance(section, Mapping) else section
        for name, section in known.items()
    }
    return sections | {name: {"categories": [name]} for name in names if name not in known}


def _forget_others(chosen: dict[str, Any], names: list[str]) -> None:
    """Remove domains without a benchmark from other sections; leave other types to the checks."""

    def keep(values: Any) -> Any:
        if isinstance(values, Mapping):
            return {name: each for name, each in values.items() if name in names}
        return [name for name in values if name in names] if isinstance(values, list) else values

    if "references" in chosen:
        chosen["references"] = keep(chosen["references"])
    for section, keys in _BY_DOMAIN.items():
        if isinstance(values := chosen.get(section), Mapping):
            chosen[section] = {**values, **{key: keep(values[key]) for key in keys if key in values}}


FIRST = "expert"
"""The reference that comes first in a domain: one written by a person."""

_ENDINGS = (".csv", ".jsonl")
_LAYOUT = "files are called DOMAIN.NAME.csv or DOMAIN.NAME.jsonl, such as cs.AI.expert.csv: docs/reference.md"


def find_references(folder: str, domains: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the files of a folder by domain and name, as in `references`.

    The reference named `expert` comes first, others follow by name. Hidden files are ignored.

    Parameters
    ----------
    folder : str
        It holds files `DOMAIN.NAME.csv` or `DOMAIN.NAME.jsonl`, and no others.

    Raises
    ------
    InputError
        If the folder is missing or empty, a file has another name, its domain is unknown, or two files are
        the same reference.
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
            raise InputError(f"{path.name} is not named like a reference", where, _LAYOUT)
        if domain not in domains:
            raise refuse_unknown("domain", domain, domains, f"{where}, {path.name}")
        named = found.setdefault(domain, {})
        if name in named:
            raise InputError(
                f"{Path(named[name]).name} and {path.name} are the same reference", where, "keep one of them"
            )
        named[name] = str(path)
    return {
        domain: {name: named[name] for name in sorted(named, key=lambda name: (name != FIRST, name))}
        for domain, named in found.items()
    }
