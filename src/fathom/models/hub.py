"""Models of the Hugging Face hub: which files to fetch, and why fetching fails."""

from collections.abc import Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.models import folders

WHOLE = (*folders.TOKENIZER_FILES, *folders.WEIGHT_FILES)
"""Patterns of the files of a model."""
TOKENIZER = (*folders.TOKENIZER_FILES, "config.json")
"""Patterns of the files of its tokenizer; older ones need the configuration."""


def fetch_snapshot(
    identifier: str, revision: str, wanted: Sequence[str], what: str, where: str, cache: Path | None = None
) -> tuple[Path, str]:
    """Return the folder and commit of a model of the hub; fetch what the cache lacks.

    Of files in safetensors, only those to be loaded are fetched, see
    :func:`fathom.models.folders.choose_weights`. Completed files of an interrupted download are kept.
    Before a download starts, the size of what is missing is compared with the free space of the disk.
    Without a connection the model is taken from the cache.

    Parameters
    ----------
    revision : str
        Commit, branch or tag; empty: the newest commit.
    wanted : sequence of str
        Patterns of files: `WHOLE`, `TOKENIZER`, or the name of a GGUF file.
    cache : Path, optional
        Folder that files are fetched to; None: the hub's cache.

    Raises
    ------
    InputError
        If the hub refuses the model, it has no such weights in safetensors, or the disk is too small.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.constants import HF_HUB_CACHE
    from huggingface_hub.errors import HFValidationError, HTTPError  # HTTPError: of the HTTP library it uses

    # subfolders hold copies in other formats
    fetch = partial(
        snapshot_download,
        identifier,
        revision=revision or None,
        cache_dir=cache or HF_HUB_CACHE,
        ignore_patterns=["*/*"],
    )
    try:
        found = fetch(allow_patterns=_choose_files(fetch, wanted, what, where or identifier))
    except (HFValidationError, HTTPError, OSError) as error:
        problem, hint = explain_failure(error, identifier, revision)
        raise InputError(f"{what} {problem}", where, hint) from error
    return Path(found), Path(found).name  # the cache folder of a snapshot is named by its commit


def _choose_files(fetch: partial[Any], wanted: Sequence[str], what: str, where: str) -> list[str]:
    """Return the patterns of files to fetch, which `fetch` lists.

    Raises `InputError` if they contain no readable weights, or would fill the disk.
    """
    from huggingface_hub.errors import DryRunError

    try:
        listed = fetch(allow_patterns=[*wanted, *folders.PICKLED_FILES, f"*{folders.GGUF}"], dry_run=True)
    except DryRunError:
        return list(wanted)  # no answer: the download uses the cache, or reports the reason
    names = [file.filename for file in listed]
    patterns = list(wanted)
    if wanted[0].endswith(folders.GGUF) and wanted[0] not in names:
        files = ", ".join(sorted(name for name in names if name.endswith(folders.GGUF)))
        raise InputError(f"{what} has no file {wanted[0]}", where, f"its GGUF files: {files or 'none'}")
    if folders.WEIGHTS in wanted:
        folders.check_weight_names(names, where)
        described = Path(fetch(allow_patterns=["config.json", folders.INDEX]))
        patterns = [
            *(each for each in wanted if each != folders.WEIGHTS),
            *folders.choose_weights(described, names),
        ]
    needed = sum(
        file.file_size or 0
        for file in listed
        if file.will_download and any(fnmatch(file.filename, pattern) for pattern in patterns)
    )
    folders.require_space(Path(fetch.keywords["cache_dir"]), needed, what, where)
    return patterns


def explain_failure(error: Exception, identifier: str, revision: str) -> tuple[str, str]:
    """Return a message on what is wrong with a model of the hub, and a hint."""
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
