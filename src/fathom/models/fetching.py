"""Where models come from: a folder, or the Hugging Face hub at a pinned revision."""

import re
import shutil
from dataclasses import replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import require_file, write_atomically
from fathom.jobs.program import log
from fathom.models.adapters import check_adapter
from fathom.models.folders import (
    PICKLED_FILES,
    TOKENIZER_FILES,
    WEIGHT_FILES,
    check_folder,
    check_weight_names,
    find_damage,
    format_size,
    load_tokenizer,
)
from fathom.models.loading import Pointer, check_fingerprint, point_to_folder, read_pointer
from fathom.models.quantization import choose_quantization
from fathom.models.registry import Entry, find_folder, find_model, read_registry

REVISION_FILE = "revision.txt"
"""Names the revision of a model in a folder that :func:`gather_files` made, and whose it is, line by line."""
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?(?<!\.json)")


def locate_model(
    entry: Entry, registry: Path | str, tokenizer_only: bool = False, cache: Path | None = None
) -> tuple[Path, str]:
    """Return the folder and revision of a registered model; fetch it from the hub if it is not local.

    Parameters
    ----------
    entry : Entry
        Row of the model registry.
    registry : Path or str
        Path of the registry; relative model paths start from its folder.
    tokenizer_only : bool, default=False
        Fetch the tokenizer without the weights.
    cache : Path, optional
        Folder that files are fetched to; None: the hub's cache.

    Raises
    ------
    InputError
        If there is no such folder, or the model cannot be downloaded.
    """
    folder = find_folder(entry, registry)
    if folder is not None:
        if not folder.is_dir():
            raise InputError("no such folder", str(folder), f"see model {entry.name!r} in {registry}")
        return folder.resolve(), entry.revision
    what = f"model {entry.name!r} ({entry.source})"
    where = f"{registry}, row {entry.name}"
    return fetch_snapshot(entry.source, entry.revision, tokenizer_only, what, where, cache)


def locate_pointer(name: str, registry: Path | str, weights: Path | None = None) -> Pointer:
    """Return the pointer of a registered model, with its fingerprint; an adapter's with its base.

    Parameters
    ----------
    name : str
        Name in the registry.
    registry : Path or str
        Path of the registry.
    weights : Path, optional
        Folder of :func:`gather_files` with what the model's `source` names; None: find or fetch it.

    Raises
    ------
    InputError
        If the registry or the model cannot be read or fetched, or the model is not safe to load.
    """
    entries = read_registry(registry)
    entry = find_model(entries, name, registry)
    if weights is None:
        used, folder, revision = locate_sound(name, registry)
    else:
        revision, stand_in = _read_revision(weights)
        used, folder = entries[stand_in] if stand_in else entry, weights
    if revision and not used.revision:
        log.info("%s has no pinned revision: fetched %s; add it to the registry", entry.name, revision)
    adapter = folder if entry.adapter_of else None
    if adapter is not None:
        check_adapter(adapter)
        folder, _ = locate_model(entries[entry.adapter_of], registry)
    check_folder(folder)
    pointer = Pointer(
        entry.name,
        folder,
        revision,
        entry.kind,
        entry.dtype,
        base=entry.adapter_of or entry.base_of,
        add_bos=entry.add_bos,
        chat_template=entry.chat_template,
        adapter=adapter,
        quantization=choose_quantization(folder, entry.quantization),
        stand_in="" if used.name == entry.name else used.name,
        stand_in_tokens=None if used.name == entry.name else used.tokens,
    )
    return replace(pointer, fingerprint=check_fingerprint(pointer))


def locate_sound(name: str, registry: Path | str, cache: Path | None = None) -> tuple[Entry, Path, str]:
    """Locate a registered model; while its weights are corrupt, the model that its row names as `stand_in`.

    Only models with a stand-in are searched for corrupt weights, which reads them once; the parameters are
    those of :func:`locate_model`.

    Returns
    -------
    entry : Entry
        Row of the model that was taken.
    folder : Path
        Its folder.
    revision : str
        Its revision.

    Raises
    ------
    InputError
        As :func:`locate_model`.
    """
    entries = read_registry(registry)
    entry = find_model(entries, name, registry)
    while True:
        folder, revision = locate_model(entry, registry, cache=cache)
        damage = find_damage(folder) if entry.stand_in else ""
        if not damage:
            return entry, folder, revision
        log.warning("%s is corrupt, %s takes its place: %s", entry.name, entry.stand_in, damage)
        entry = entries[entry.stand_in]


def find_pointer(source: Path | str, base: Path | str | None = None) -> Pointer:
    """Return the pointer of a model that a person names.

    Parameters
    ----------
    source : Path or str
        Path of a pointer or of a model's folder; else an id on the hub, where the model is fetched from. With
        the environment variable HF_HUB_OFFLINE set, only what was fetched before is found.
    base : Path or str, optional
        If `source` is a LoRA adapter, the model that it is applied to, named in the same ways. None: the
        folder that the adapter names.

    Raises
    ------
    InputError
        If there is no such path, or the hub cannot be reached, or does not have or give the model, or an
        adapter has no base.
    """
    name, path = str(source), Path(source).expanduser()
    revision = ""
    if not path.exists() and _HUB_ID.fullmatch(name):
        what = f"model {name!r}, which is no file or folder,"
        path, revision = fetch_snapshot(name, "", False, what, "")
        if base is None:
            return point_to_folder(name, path, revision)
    if base is None:
        return read_pointer(path)
    check_adapter(path)
    below = find_pointer(base)
    named = name if revision else path.resolve().name
    return replace(below, name=named, base=below.name, revision=revision, adapter=path, fingerprint="")


def fetch_snapshot(
    identifier: str,
    revision: str,
    tokenizer_only: bool,
    what: str,
    where: str,
    cache: Path | None = None,
) -> tuple[Path, str]:
    """Return the folder and commit of a model of the hub; fetch what the cache lacks.

    Files that an interrupted download completed are not fetched again. Before a download starts, the size of
    what is missing is compared with the free space of the cache's disk. Without a connection the model is
    taken from the cache.

    Parameters
    ----------
    identifier, revision : str
        Id on the hub, and commit, branch or tag; empty: the newest commit.
    tokenizer_only : bool
        Fetch the tokenizer without the weights.
    what, where : str
        The model and its place, for messages.
    cache : Path, optional
        Folder that files are fetched to; None: the hub's cache.

    Raises
    ------
    InputError
        If the hub does not have or give the model or its revision, or cannot be reached; if there are no
        weights in safetensors; if the disk is too small.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.constants import HF_HUB_CACHE
    from huggingface_hub.errors import HFValidationError, HTTPError  # HTTPError: of the HTTP library it uses

    patterns = [*TOKENIZER_FILES, "config.json"] if tokenizer_only else [*TOKENIZER_FILES, *WEIGHT_FILES]
    # subfolders hold copies in other formats
    fetch = partial(
        snapshot_download,
        identifier,
        revision=revision or None,
        cache_dir=cache or HF_HUB_CACHE,
        ignore_patterns=["*/*"],
    )
    try:
        _check_download(fetch, patterns, tokenizer_only, what, where or identifier)
        found = fetch(allow_patterns=patterns)
    except (HFValidationError, HTTPError, OSError) as error:
        problem, hint = _explain(error, identifier, revision)
        raise InputError(f"{what} {problem}", where, hint) from error
    return Path(found), Path(found).name  # the cache folder of a snapshot is named by its commit


def _check_download(
    fetch: partial[Any], patterns: list[str], tokenizer_only: bool, what: str, where: str
) -> None:
    """Raise `InputError` if a download, which `fetch` lists, would hold no safetensors or fill the disk."""
    from huggingface_hub.errors import DryRunError

    try:
        listed = fetch(allow_patterns=[*patterns, *PICKLED_FILES], dry_run=True)
    except DryRunError:
        return  # no answer: the download takes the model from the cache, or knows the reason
    if not tokenizer_only:
        check_weight_names([file.filename for file in listed], where)
    wanted = [file for file in listed if not any(fnmatch(file.filename, each) for each in PICKLED_FILES)]
    needed = sum(file.file_size or 0 for file in wanted if file.will_download)
    cache = Path(fetch.keywords["cache_dir"])
    free = shutil.disk_usage(next(each for each in (cache, *cache.parents) if each.exists())).free
    if needed > free:
        raise InputError(
            f"{what} needs {format_size(needed)} of disk space, {format_size(free)} are free in {cache}",
            where,
            "free some space, or set HF_HOME to a folder on a larger disk; nothing was fetched",
        )


def _explain(error: Exception, identifier: str, revision: str) -> tuple[str, str]:
    """Return what is wrong with a model of the hub, in the words of a message, and a hint."""
    from huggingface_hub import errors
    from huggingface_hub.constants import ENDPOINT, HF_HUB_OFFLINE

    if isinstance(error, errors.GatedRepoError):  # before RepositoryNotFoundError, its base class
        page = f"{ENDPOINT}/{identifier}"
        return "is gated", f"ask for access on {page}, then log in: hf auth login"
    if isinstance(error, errors.RepositoryNotFoundError):
        return "is not on the hub, or is private", "check the id; for a private model log in: hf auth login"
    if isinstance(error, errors.RevisionNotFoundError):
        return f"has no revision {revision!r}", "give a commit, branch or tag of its page on the hub, or none"
    hint = "check the network and start again: files that are complete are kept"
    if isinstance(error, errors.HfHubHTTPError) and error.response.status_code in (401, 403):
        hint = "check your access: hf auth login"
    if HF_HUB_OFFLINE:
        hint = "HF_HUB_OFFLINE is set: unset it to fetch models"
    text = str(error).strip() or type(error).__name__
    return f"cannot be fetched: {text.splitlines()[0]}", hint


def gather_files(source: Path, folder: Path, cache: Path, revision: str, stand_in: str = "") -> None:
    """Make a folder of a fetched model's files, which may be deleted; a model from elsewhere gets links.

    Parameters
    ----------
    source : Path
        Folder of the model.
    folder : Path
        The folder to make; its file `revision.txt` names the revision.
    cache : Path
        The hub's cache; files of `source` that lie in it are moved.
    revision : str
        From :func:`locate_sound`.
    stand_in : str, optional
        Name of the model whose files these are, if it stands in for another.
    """
    folder.mkdir()
    names = {file.name for pattern in (*TOKENIZER_FILES, *WEIGHT_FILES) for file in source.glob(pattern)}
    for name in sorted(names):
        file = (source / name).resolve()
        if cache.resolve() in file.parents:
            file.replace(folder / name)
        else:
            (folder / name).symlink_to(file)
    (folder / REVISION_FILE).write_text(f"{revision}\n{stand_in}".strip(), encoding="utf-8")


def _read_revision(folder: Path) -> tuple[str, str]:
    """Return the revision of a folder of :func:`gather_files`, and the name of the stand-in whose it is."""
    revision, _, stand_in = require_file(folder / REVISION_FILE).read_text(encoding="utf-8").partition("\n")
    return revision, stand_in


def copy_tokenizer(source: Path, folder: Path | str) -> None:
    """Copy the tokenizer files of a model folder, and config.json, which older tokenizers need."""
    load_tokenizer(source)
    names = {file for pattern in (*TOKENIZER_FILES, "config.json") for file in source.glob(pattern)}
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        for file in sorted(names):
            shutil.copyfile(file, temporary / file.name)
