"""Checkpoints that another program writes into a folder, and whether they are complete."""

import re
from pathlib import Path

from fathom.errors import InputError
from fathom.io.files import hash_text
from fathom.io.names import require_utf8
from fathom.models import folders
from fathom.models.adapters import check_adapter, is_adapter

Signature = tuple[tuple[str, int, int], ...]
"""Name, size and time of change of each file of a checkpoint that is loaded."""

_CONFIGS = ("config.json", folders.ADAPTER_CONFIG)
_UNFINISHED = (".", "tmp-")  # names of folders that are still being written
_LONGEST_NAME = 200  # bytes: with the endings of temporary files a name may have 255
_DIGITS = 18  # largest number of digits of a step that a table can hold


def list_arrivals(folder: Path) -> list[Path]:
    """Return the folders of checkpoints in a folder, by step, then by name; none if it does not exist.

    A checkpoint is a folder with a configuration of a model or an adapter, or with weights in safetensors.
    """
    if not folder.is_dir():
        return []
    found = [each for each in folder.iterdir() if each.is_dir() and not each.name.startswith(_UNFINISHED)]
    patterns = (*_CONFIGS, folders.WEIGHTS, folders.INDEX)
    found = [each for each in found if any(any(each.glob(pattern)) for pattern in patterns)]
    return sorted(found, key=lambda each: (read_step(each.name), each.name))


def read_step(name: str) -> int:
    """Return the last whole number in a checkpoint's name, its step; 0 without one or if too large."""
    numbers = re.findall(r"[0-9]+", name)
    return int(numbers[-1]) if numbers and len(numbers[-1]) <= _DIGITS else 0


def sign_files(folder: Path) -> Signature:
    """Return names, sizes and times of a checkpoint's files, which are stable once written."""
    files = {*folders.list_files(folder), *folder.glob(folders.WEIGHTS)}
    stats = [(file.name, file.stat()) for file in sorted(files)]
    return tuple((name, found.st_size, found.st_mtime_ns) for name, found in stats)


def find_lack(folder: Path, tokenizer: bool = True) -> str:
    """Return what a checkpoint still lacks, in words; empty if it is complete.

    An adapter's tokenizer may be its base's. Raise `InputError` if it can never become complete: its weights
    are pickled, its files damaged, or its name no UTF-8 or too long.
    """
    require_utf8(folder)
    if (size := len(folder.name.encode())) > _LONGEST_NAME:
        hint = f"rename it: at most {_LONGEST_NAME} bytes"
        raise InputError(f"its name has {size} bytes, too many for names of files", str(folder), hint)
    if is_adapter(folder):
        if not any(folder.glob(folders.WEIGHTS)):
            return "its weights are missing so far"
        check_adapter(folder)
    elif not (folder / "config.json").is_file():
        return "its config.json is not there yet"
    names = [file.name for file in folder.iterdir()]
    if not any(folder.glob(folders.INDEX)):
        folders.check_weight_names(names, str(folder))
    wanted = folders.choose_weights(folder, names)
    missing = [name for name in wanted if name not in names]
    if missing:
        return f"{len(missing)} of {len(wanted)} files of weights are not there yet, such as {missing[0]}"
    for name in wanted:
        if (folder / name).exists() and not (folder / name).is_file():
            raise InputError("not a regular file, so not weights", str(folder / name), "remove it")
        try:
            _read_shapes(folder / name)
        except InputError as error:
            return f"{name} is not whole: {error.what}"
    has_tokenizer = any(file for pattern in folders.TOKENIZER_FILES for file in folder.glob(pattern))
    if tokenizer and not is_adapter(folder) and not has_tokenizer:
        return "its tokenizer is not there yet"
    return ""


def describe_tensors(folder: Path) -> str:
    """Return a hash of the names and shapes of a checkpoint's tensors, whatever files they are in."""
    names = folders.choose_weights(folder, [file.name for file in folder.iterdir()])
    shapes = {key: shape for name in names for key, shape in _read_shapes(folder / name).items()}
    return hash_text(*(f"{name} {shapes[name]}" for name in sorted(shapes)))


def _read_shapes(file: Path) -> dict[str, list[int]]:
    """Return the shape of each tensor by name; raise `InputError` unless the file is whole."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "np") as weights:
            names = weights.keys()  # a list: the file itself cannot be iterated over
            return {name: weights.get_slice(name).get_shape() for name in names}
    except SafetensorError as error:
        raise InputError(f"its header cannot be read: {error}", str(file), "write it again") from error


def require_like(found: str, first: str, what: str, folder: Path) -> None:
    """Raise `InputError` if a checkpoint differs from the first one that was scored in what it is."""
    if first and found != first:
        hint = "watch the checkpoints of one training; put those of another in a separate folder"
        raise InputError(f"it has {what} than the first checkpoint", str(folder), hint)
