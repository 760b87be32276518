"""spaCy pipelines on this machine: folders and installed packages, found without importing any."""

from importlib.util import find_spec
from pathlib import Path

_META = "meta.json"
"""The file that every pipeline has in its folder; a package may have it in a folder of its version."""


def is_installed(splitter: str) -> bool:
    """Say whether a spaCy pipeline, a folder or the name of a package, is on this machine."""
    if (Path(splitter) / _META).is_file():
        return True
    # a name with a dot would import its parent
    spec = find_spec(splitter) if splitter.isidentifier() else None
    folders = map(Path, (spec.submodule_search_locations or ()) if spec else ())
    return any((folder / _META).is_file() or any(folder.glob(f"*-*/{_META}")) for folder in folders)
