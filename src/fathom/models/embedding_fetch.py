"""The embedding model of a run, fetched from the hub before jobs that may have no network."""

from pathlib import Path

from fathom.benchmark.embedding_models import FETCHED, find_model_folder
from fathom.errors import InputError
from fathom.jobs.program import log
from fathom.models.hub import explain_failure


def fetch_embedding_model(name: str, cache: Path | None = None) -> None:
    """Fetch a sentence-transformers model that is neither packaged, nor a folder, nor in the hub's cache.

    Jobs find it in the cache without a network.

    Parameters
    ----------
    name : str
        `embedding.model` of the configuration.
    cache : Path, optional
        Folder that files are fetched to; None: the hub's cache.

    Raises
    ------
    InputError
        If the hub does not have or give it, or has no weights in safetensors of it.
    """
    folder = None if cache else find_model_folder(name)
    if folder is not None and any(folder.rglob("*.safetensors")):
        return
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, HTTPError

    identifier, where = name if "/" in name else f"sentence-transformers/{name}", f"embedding.model = {name}"
    log.info("%s is fetched from the hub, once", identifier)
    try:
        found = Path(snapshot_download(identifier, cache_dir=cache, **FETCHED))
    except (HFValidationError, HTTPError, OSError) as error:
        problem, hint = explain_failure(error, identifier, "")
        raise InputError(f"{identifier} {problem}", where, hint) from error
    if not any(found.rglob("*.safetensors")):
        hint = "pickled weights can run code and are never read: choose another model, or save it again"
        raise InputError(f"{identifier} has no weights in safetensors", where, hint)
