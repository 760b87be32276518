"""Model folders and pointers to them: fetching, fingerprints, loading. Safetensors only, no remote code."""

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import hash_file, hash_text, read_json, write_atomically, write_json
from fathom.models.registry import Entry
from fathom.running.program import log

_TOKENIZER_FILES = ("tokenizer*", "vocab*", "merges.txt", "special_tokens_map.json", "added_tokens.json",
                    "spiece.model", "sentencepiece*.model")  # fmt: skip
_WEIGHT_FILES = ("*.safetensors", "*.safetensors.index.json", "config.json", "generation_config.json")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?(?<!\.json)")
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


@dataclass(frozen=True)
class Pointer:
    """Where a model lies and what it is; `model.json` on disk.

    Attributes
    ----------
    name : str
        Name of the model.
    path : Path
        Folder with config.json, safetensors and tokenizer files.
    revision : str
        Commit on the hub; empty for a model that the workflow trained or a local folder.
    kind : str
        base or chat.
    dtype : str
        Number type of the weights.
    fingerprint : str
        Hash of weights, configuration and tokenizer; see :func:`fingerprint_folder`.
    base : str
        Model that this one was adapted or tuned from, or empty.
    add_bos : bool or None
        Whether a BOS token comes before every text; None asks the tokenizer.
    chat_template : bool
        Whether pairs are scored inside the tokenizer's chat template.
    """

    name: str
    path: Path
    revision: str = ""
    kind: str = "base"
    dtype: str = "float32"
    fingerprint: str = ""
    base: str = ""
    add_bos: bool | None = None
    chat_template: bool = False


def write_pointer(path: Path | str, pointer: Pointer) -> None:
    """Write a pointer as JSON; the model's folder relative to it where it lies below."""
    folder, here = pointer.path.resolve(), Path(path).resolve().parent
    values = {**vars(pointer), "path": str(folder.relative_to(here) if here in folder.parents else folder)}
    write_json(path, values)


def read_pointer(path: Path | str) -> Pointer:
    """Read a pointer, or make one for a plain model folder.

    Raises
    ------
    InputError
        If there is no such path, or the file is no pointer.
    """
    path = Path(path)
    if path.is_dir():
        return Pointer(name=path.resolve().name, path=path)
    if not path.exists():
        raise InputError("there is no such model", str(path), "give a model.json or a model folder")
    values = read_json(path)
    known = set(Pointer.__dataclass_fields__)
    if not isinstance(values, dict) or not {"name", "path"} <= set(values) or not set(values) <= known:
        raise InputError(
            "this is no pointer to a model", str(path), f"its keys are {', '.join(sorted(known))}"
        )
    return Pointer(**{**values, "path": path.parent / values["path"]})


def fingerprint_folder(folder: Path | str) -> str:
    """Return the hash of a model folder's weights, configuration and tokenizer files, names included."""
    patterns = (*_WEIGHT_FILES, *_TOKENIZER_FILES)
    files = {file for pattern in patterns for file in Path(folder).glob(pattern) if file.is_file()}
    return hash_text(*(part for file in sorted(files) for part in (file.name, hash_file(file))))


def hash_weights(model: Any) -> str:
    """Return the hash of a loaded model's weights, names and number types included."""
    import torch

    digest = hashlib.sha256()
    for name, weight in sorted(model.state_dict().items()):
        digest.update(f"{name} {weight.dtype} {tuple(weight.shape)}\n".encode())
        digest.update(weight.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def check_folder(folder: Path) -> None:
    """Raise `InputError` unless a folder holds a model that can be loaded safely."""
    if not folder.is_dir():
        raise InputError("there is no such folder", str(folder), "check the path, or fetch the model again")
    if not any(folder.glob("*.safetensors")):
        pickled = sorted(file.name for pattern in _PICKLED for file in folder.glob(pattern))
        if pickled:
            raise InputError(
                f"the weights are pickled ({pickled[0]}), and a pickle can run any code",
                str(folder),
                "convert them: load in a sandbox, then model.save_pretrained(folder) writes safetensors",
            )
        raise InputError("there are no weights (*.safetensors)", str(folder), "check the path")
    if not (folder / "config.json").is_file():
        raise InputError(
            "there is no config.json",
            str(folder),
            "a folder of adapter weights alone is no model: merge it first",
        )


def check_fingerprint(pointer: Pointer) -> str:
    """Return the fingerprint of a model's folder; raise `InputError` if the pointer says another."""
    found = fingerprint_folder(pointer.path)
    if pointer.fingerprint and pointer.fingerprint != found:
        raise InputError(
            f"the files of model {pointer.name!r} are not those that its pointer was written for",
            str(pointer.path),
            "train or fetch the model again",
        )
    return found


def describe_loaded(pointer: Pointer, model: Any, dtype: str) -> dict[str, Any]:
    """Return what a report says of a loaded model: name, checked fingerprint, number format, device, torch.

    Raises
    ------
    InputError
        If the model's files are not those that its pointer was written for.
    """
    import torch

    return {
        "model": pointer.name,
        "fingerprint": check_fingerprint(pointer),
        "dtype": dtype,
        "device": model.device.type,
        "torch": torch.__version__,
    }


def load_tokenizer(folder: Path | str) -> Any:
    """Load a fast tokenizer from a folder.

    Raises
    ------
    InputError
        If the folder is missing or holds no tokenizer.
    """
    from transformers import AutoTokenizer

    folder = Path(folder)
    if not folder.is_dir():
        raise InputError("there is no such folder", str(folder), "check the path")
    if not any(file for pattern in _TOKENIZER_FILES for file in folder.glob(pattern)):
        raise InputError(
            "there is no tokenizer in this folder", str(folder), "copy tokenizer.json beside the weights"
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise InputError(f"the tokenizer cannot be read: {error}", str(folder)) from error
    if not tokenizer.is_fast:
        raise InputError("the tokenizer is no fast one", str(folder), "convert it: it needs a tokenizer.json")
    return tokenizer


def load_model(source: Pointer | Path | str, dtype: str = "float32", device: str = "cpu") -> tuple[Any, Any]:
    """Load a causal language model and its tokenizer, for evaluation.

    Parameters
    ----------
    source : Pointer or Path or str
        A pointer, its file, or a model folder.
    dtype : {"float32", "bfloat16", "float16"}, default="float32"
        Number type of the weights in memory.
    device : str, default="cpu"
        cpu, cuda, cuda:N or auto.

    Returns
    -------
    model, tokenizer

    Raises
    ------
    InputError
        If there is no such model, its weights are pickled or do not fill the model, or its tokenizer is
        missing or has more entries than the model.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    pointer = source if isinstance(source, Pointer) else read_pointer(source)
    check_folder(pointer.path)
    tokenizer = load_tokenizer(pointer.path)
    logging.disable_progress_bar()
    try:
        model, info = AutoModelForCausalLM.from_pretrained(
            pointer.path,
            dtype=getattr(torch, dtype),
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
        )
    except (OSError, ValueError, SafetensorError) as error:
        raise InputError(f"the model cannot be loaded: {error}", str(pointer.path)) from error
    missing = sorted(info["missing_keys"])
    if missing:
        raise InputError(
            f"{len(missing)} weights are missing from the files, {missing[0]} among them",
            str(pointer.path),
            "the folder is incomplete, or its config.json belongs to another model",
        )
    check_vocabulary(model, tokenizer, pointer.path)
    return model.to(pick_device(device)).eval(), tokenizer


def check_vocabulary(model: Any, tokenizer: Any, folder: Path) -> None:
    """Raise `InputError` if the tokenizer can give ids that the model does not know."""
    size = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > size:
        raise InputError(
            f"the tokenizer has {len(tokenizer):,} entries, the model {size:,}",
            str(folder),
            "check that the tokenizer belongs to the model",
        )


def find_context_length(model: Any) -> int | None:
    """Return how many tokens a model takes at most, or None if its configuration names no limit."""
    context = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return context if isinstance(context, int) else None


def pick_devices(device: str, gpus: int = 1) -> list[str]:
    """Return the devices to run on; `auto` is as many visible GPUs as are asked for, or the CPU."""
    import torch

    if device != "auto":
        return [pick_device(device)]
    found = [f"cuda:{place}" for place in range(min(gpus, torch.cuda.device_count()))]
    if 0 < len(found) < gpus:
        log.info("%s GPUs are asked for, %s are visible", gpus, len(found))
    return found or ["cpu"]


def pick_device(device: str) -> str:
    """Return the one device to run on; `auto` is the first GPU that is visible, or the CPU."""
    import torch

    if device == "auto":
        return pick_devices(device)[0]
    if device != "cpu" and not (device.startswith("cuda") and torch.cuda.is_available()):
        raise InputError(f"there is no device {device!r} here", "scoring.device", "auto, cpu, cuda or cuda:N")
    return device


def save_model(folder: Path | str, model: Any, tokenizer: Any) -> None:
    """Write a model and its tokenizer as one folder, atomically."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)


def locate_model(entry: Entry, registry: Path | str, tokenizer_only: bool = False) -> tuple[Path, str]:
    """Return the folder and revision of a model of the table; fetch it from the hub if it is not local.

    Parameters
    ----------
    entry : Entry
        Row of the table.
    registry : Path or str
        The table, which relative paths start from.
    tokenizer_only : bool, default=False
        Fetch no weights.

    Raises
    ------
    InputError
        If the hub cannot be reached, or does not have or give the model.
    """
    source = Path(entry.source).expanduser()
    if entry.source.startswith((".", "/", "~")) or (Path(registry).parent / source).is_dir():
        folder = Path(registry).parent / source
        if not folder.is_dir():
            raise InputError(
                "there is no such folder", str(folder), f"see model {entry.name!r} in {registry}"
            )
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

    patterns = [*_TOKENIZER_FILES, "config.json"] if tokenizer_only else [*_TOKENIZER_FILES, *_WEIGHT_FILES]
    try:
        found = snapshot_download(
            identifier,
            revision=revision or None,
            allow_patterns=patterns,
            ignore_patterns=["*/*"],  # copies in other formats lie in subfolders
        )
    except (LocalEntryNotFoundError, HFValidationError, httpx.HTTPError, OSError) as error:
        offline = os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0")
        raise InputError(
            f"{what} cannot be fetched: {str(error).splitlines()[0]}",
            where,
            "HF_HUB_OFFLINE is set: unset it to fetch models"
            if offline
            else "check the network, the id and, for a gated model, your access (hf auth login)",
        ) from error
    return Path(found), Path(found).name  # the hub's cache names a snapshot by its commit


def copy_tokenizer(source: Path, folder: Path | str) -> None:
    """Copy the tokenizer files of a model's folder, with config.json, which older tokenizers need."""
    load_tokenizer(source)
    names = {file for pattern in (*_TOKENIZER_FILES, "config.json") for file in source.glob(pattern)}
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        for file in sorted(names):
            shutil.copyfile(file, temporary / file.name)
