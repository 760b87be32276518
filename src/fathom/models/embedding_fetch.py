"""The embedding model of a run, fetched from the hub before jobs that may have no network."""

from pathlib import Path
from typing import NamedTuple

from fathom.benchmark.embedding_models import FETCHED, find_identifier, find_model_folder
from fathom.errors import InputError
from fathom.io.files import hash_folder
from fathom.jobs.program import log
from fathom.models.hub import explain_failure


class FetchedEmbedder(NamedTuple):
    """What was fetched: id on the hub, commit, SHA-256 over all files."""

    repository: str
    revision: str
    sha256: str


def fetch_embedding_model(name: str, revision: str | None = None) -> FetchedEmbedder:
    """Fetch a sentence-transformers model into the hub's cache, where jobs find it offline.

    Raises
    ------
    InputError
        If the hub lacks or refuses it or its revision, or has no weights in safetensors.
    """
    identifier, folder = find_identifier(name, revision), find_model_folder(name, revision)
    if identifier is None:
        # packaged weights, which the jobs' environment may have and this one not
        return FetchedEmbedder(name, "", hash_folder(folder or name))
    if folder is None or not any(folder.rglob("*.safetensors")):
        folder = _fetch(identifier, revision, f"embedding.model = {name}")
    commit = folder.name  # the cache folder of a snapshot is named by its commit
    if revision is None:
        log.info("%s has no pinned revision: using %s; embedding.revision pins it", identifier, commit)
    return FetchedEmbedder(identifier, commit, hash_folder(folder))


def _fetch(identifier: str, revision: str | None, where: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, HTTPError

    log.info("%s is fetched from the hub, once", identifier)
    try:
        found = Path(snapshot_download(identifier, revision=revision, **FETCHED))
    except (HFValidationError, HTTPError, OSError) as error:
        problem, hint = explain_failure(error, identifier, revision or "")
        raise InputError(f"{identifier} {problem}", where, hint) from error
    if not any(found.rglob("*.safetensors")):
        hint = "pickled weights can run code and are never read: choose another model, or save it again"
        raise InputError(f"{identifier} has no weights in safetensors", where, hint)
    return found
