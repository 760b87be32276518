"""Which of a model's files in safetensors are its weights: those that transformers loads."""

import re
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

from fathom.errors import InputError
from fathom.io.files import read_json, read_object

_PART = re.compile(r"-[0-9]+-of-[0-9]+\.safetensors$")
WEIGHTS, INDEX = "*.safetensors", "*.safetensors.index.json"
"""Patterns of files of weights, and of the index that says which of several holds what."""


def list_weights(folder: Path) -> list[Path]:
    """Return the files of weights that are loaded from a folder, by name."""
    names = choose_weights(folder, (file.name for file in folder.glob(WEIGHTS)))
    return [file for file in sorted(folder / name for name in names) if file.is_file()]


def require_parts(folder: Path) -> None:
    """Raise `InputError` if files of weights are missing that an index or their own names speak of."""
    names = sorted(file.name for file in folder.glob(WEIGHTS))
    missing = [name for name in choose_weights(folder, names) if not (folder / name).is_file()]
    index = next((file.name for file in sorted(folder.glob(INDEX))), "")
    if missing:
        raise InputError(
            f"no {missing[0]}, which {index or 'config.json'} names; so of {len(missing):,} files",
            str(folder),
            "copy the whole folder again; an index of other weights than these is to be removed",
        )
    parts = [name for name in names if _PART.search(name)]
    if parts and not index and "model.safetensors" not in names:
        raise InputError(
            f"{parts[0]} is a part of the weights, and no index (model.safetensors.index.json) says of which",
            str(folder),
            "copy the index beside the weights, or the whole folder again",
        )


def choose_weights(folder: Path, names: Iterable[str]) -> list[str]:
    """Return which files in safetensors are loaded, as transformers chooses; they need not be there yet.

    Repositories hold others beside them, such as `consolidated.safetensors`: the same weights once more.
    """
    names = {name for name in names if fnmatch(name, WEIGHTS)}
    config = read_json(folder / "config.json") if (folder / "config.json").is_file() else {}
    named = config.get("transformers_weights") if isinstance(config, dict) else None
    for name in (named, "model.safetensors", "model.safetensors.index.json", "adapter_model.safetensors"):
        if name in names:
            return [name]
        if isinstance(name, str) and fnmatch(name, INDEX) and (folder / name).is_file():
            found = read_object(folder / name).get("weight_map")
            return sorted(set(map(str, found.values()))) if isinstance(found, dict) else []
    return sorted(names)
