"""Where models come from: a folder, or the Hugging Face hub at a pinned revision."""

import os
import re
import shutil
from pathlib import Path

from fathom.errors import InputError
from fathom.io.files import write_atomically
from fathom.models.folders import TOKENIZER_FILES, WEIGHT_FILES, load_tokenizer
from fathom.models.loading import Pointer, read_pointer
from fathom.models.registry import Entry

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?(?<!\.json)")


def locate_model(entry: Entry, registry: Path | str, tokenizer_only: bool = False) -> tuple[Path, str]:
    """Return the folder and revision of a registered model; fetch it from the hub if it is not local.

    Parameters
    ----------
    entry : Entry
        Row of the model registry.
    registry : Path or str
        Path of the registry; relative model paths start from its folder.
    tokenizer_only : bool, default=False
        Fetch the tokenizer without the weights.

    Raises
    ------
    InputError
        If there is no such folder, or the model cannot be downloaded.
    """
    source = Path(entry.source).expanduser()
    if entry.source.startswith((".", "/", "~")) or (Path(registry).parent / source).is_dir():
        folder = Path(registry).parent / source
        if not folder.is_dir():
            raise InputError("no such folder", str(folder), f"see model {entry.name!r} in {registry}")
        return folder.resolve(), entry.revision
    what = f"model {entry.name!r} ({entry.source})"
    return _fetch(entry.source, entry.revision, tokenizer_only, what, str(registry))


def find_pointer(source: Path | str) -> Pointer:
    """Return the pointer of a model that a person names.

    Parameters
    ----------
    source : Path or str
        Path of a pointer or of a model's folder; else an id on the hub, where the model is fetched from. With
        the environment variable HF_HUB_OFFLINE set, only what was fetched before is found.

    Raises
    ------
    InputError
        If there is no such path, or the hub cannot be reached, or does not have or give the model.
    """
    name, path = str(source), Path(source).expanduser()
    if path.exists() or not _HUB_ID.fullmatch(name):
        return read_pointer(path)
    folder, revision = _fetch(name, "", False, f"model {name!r}, which is no file or folder,", "")
    return Pointer(name, folder, revision)


def _fetch(identifier: str, revision: str, tokenizer_only: bool, what: str, where: str) -> tuple[Path, str]:
    """Return the folder and commit of a model of the hub; the parameters after it are for the message."""
    import httpx
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    patterns = [*TOKENIZER_FILES, "config.json"] if tokenizer_only else [*TOKENIZER_FILES, *WEIGHT_FILES]
    try:
        found = snapshot_download(
            identifier,
            revision=revision or None,
            allow_patterns=patterns,
            ignore_patterns=["*/*"],  # subfolders hold copies in other formats
        )
    except (LocalEntryNotFoundError, HFValidationError, httpx.HTTPError, OSError) as error:
        offline = os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0")
        raise InputError(
            f"{what} cannot be fetched: {str(error).splitlines()[0]}",
            where,
            "HF_HUB_OFFLINE is set: unset it to fetch models"
            if offline
            else "check the network, the model id and, for a gated model, your access (hf auth login)",
        ) from error
    return Path(found), Path(found).name  # the cache folder of a snapshot is named by its commit


def copy_tokenizer(source: Path, folder: Path | str) -> None:
    """Copy the tokenizer files of a model folder, and config.json, which older tokenizers need."""
    load_tokenizer(source)
    names = {file for pattern in (*TOKENIZER_FILES, "config.json") for file in source.glob(pattern)}
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        for file in sorted(names):
            shutil.copyfile(file, temporary / file.name)
