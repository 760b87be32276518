"""Model folders: their files, fingerprint, tokenizer. Safetensors only, no remote code."""

import shutil
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import hash_text, read_json, read_object, write_atomically
from fathom.jobs.bounded_calls import call_tokenizer
from fathom.jobs.file_hashes import hash_once
from fathom.models.config_sizes import check_sizes
from fathom.models.weight_files import INDEX, WEIGHTS, choose_weights, list_weights

TOKENIZER_FILES = ("tokenizer*", "vocab*", "merges.txt", "special_tokens_map.json", "added_tokens.json",
                    "spiece.model", "sentencepiece*.model", "chat_template.jinja")  # fmt: skip
ADAPTER_CONFIG = "adapter_config.json"
ORIGIN_FILE = "gguf.json"
"""In a folder that a GGUF file was unpacked to: the file's hash, format, licence and what read it."""
GGUF = ".gguf"
WEIGHT_FILES = (WEIGHTS, INDEX, "config.json", "generation_config.json", ADAPTER_CONFIG, ORIGIN_FILE)
PICKLED_FILES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_MORE_TEMPLATES = "additional_chat_templates/*.jinja"
_PART = 1 << 24  # weights that are looked at together


def fingerprint_folder(folder: Path | str) -> str:
    """Hash the weights, configuration and tokenizer files of a model folder, including their names.

    A link counts as the file that it points to, which is what is loaded: the hub's cache is made of links
    into another folder.

    Raises
    ------
    InputError
        If a file of the folder names one that would be loaded and is not hashed.
    """
    folder = Path(folder)
    check_named_files(folder)
    files = {*list_files(folder), *folder.glob(_MORE_TEMPLATES)}
    return hash_text(*(part for file in sorted(files) for part in (file.name, hash_once(file))))


def list_files(folder: Path) -> list[Path]:
    """Return the files of a model folder that are loaded: weights, configuration and tokenizer."""
    patterns = (*(each for each in WEIGHT_FILES if each != WEIGHTS), *TOKENIZER_FILES)
    others = {file for pattern in patterns for file in folder.glob(pattern) if file.is_file()}
    return sorted({*others, *list_weights(folder)})


def read_origin(folder: Path) -> dict[str, str]:
    """Return what is known of the GGUF file that a folder was unpacked from; nothing of other folders."""
    values = read_object(folder / ORIGIN_FILE) if (folder / ORIGIN_FILE).is_file() else {}
    return {key: str(values.get(key, "")) for key in ("quantization", "licence", "terms") if values}


def check_named_files(folder: Path) -> None:
    """Raise `InputError` if files of a model name others to load than plain files of the same folder.

    Only those are part of :func:`fingerprint_folder`.
    """
    weights = (WEIGHTS, INDEX)
    for file in sorted(folder.glob(INDEX)):
        _check_names(file, "weight_map", weights)
    _check_names(folder / "config.json", "transformers_weights", weights)
    _check_names(folder / "tokenizer_config.json", "fast_tokenizer_files", ("tokenizer*",))


def _check_names(file: Path, key: str, patterns: Sequence[str]) -> None:
    """Raise `InputError` if a key of a JSON file, which may be absent, names other files than these."""
    values = read_json(file) if file.is_file() else {}
    if not isinstance(values, dict):
        raise InputError("not a JSON object", str(file), "copy it again")
    named = values.get(key)
    several = list(named.values()) if isinstance(named, dict) else named
    names = several if isinstance(several, list) else [] if several is None else [several]
    for name in sorted(set(map(str, names))):
        if "/" in name or not any(fnmatch(name, pattern) for pattern in patterns):
            raise InputError(
                f"{key} names {name!r}; only files of its own folder are loaded",
                str(file),
                f"move the file beside it, under a name like {' or '.join(patterns)}",
            )


def check_weight_names(names: Iterable[str], where: str) -> None:
    """Raise `InputError` unless safetensors are among the files of a model, a folder's or the hub's."""
    names = sorted(names)
    if any(fnmatch(name, WEIGHTS) for name in names):
        return
    refuse_pickled(names, where)
    if files := [name for name in names if name.endswith(GGUF)]:
        raise InputError(
            f"its weights are in {len(files)} GGUF files",
            where,
            f"name one of them after the id or folder: /{files[0]}",
        )
    raise InputError("no weights (*.safetensors)", where, "check the path, or the model's id")


def refuse_pickled(names: Iterable[str], where: str, whose: str = "the") -> None:
    """Raise `InputError` if one of some files is a pickle."""
    for name in sorted(names):
        if any(fnmatch(name, pattern) for pattern in PICKLED_FILES):
            raise InputError(
                f"{whose} weights are pickled ({name}), and unpickling can run arbitrary code",
                where,
                "convert them (docs/models.md, Pickled weights), or name the model under models.optional",
            )


def format_size(size: int) -> str:
    """Return a number of bytes in words."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def require_space(folder: Path, needed: int, what: str, where: str = "") -> None:
    """Raise `InputError` if the disk of a folder, which may not be there yet, has less than so many bytes."""
    free = shutil.disk_usage(next(each for each in (folder, *folder.parents) if each.exists())).free
    if needed > free:
        raise InputError(
            f"{what} needs {format_size(needed)} of disk space, {format_size(free)} are free in {folder}",
            where or str(folder),
            "free some space, or set HF_HOME to a folder on a larger disk; no weights were fetched",
        )


def check_folder(folder: Path) -> None:
    """Raise `InputError` unless the folder holds a model that is safe to load."""
    if not folder.is_dir():
        raise InputError("no such folder", str(folder), "check the path, or fetch the model again")
    check_weight_names([file.name for file in folder.iterdir()], str(folder))
    check_named_files(folder)
    if not (folder / "config.json").is_file():
        raise InputError(
            "no config.json in this folder",
            str(folder),
            "copy the whole folder",
        )
    check_sizes(folder)
    if (folder / ADAPTER_CONFIG).is_file():  # transformers would look for the base that it names
        raise InputError(
            "this folder holds both a model and an adapter",
            str(folder),
            "move the model's files, or those of the adapter (adapter_*), to a folder of their own",
        )


def find_damage(folder: Path) -> str:
    """Return what is wrong with the weights of a folder, in words; empty if they are sound.

    Reads all of them: files that are cut off or missing, and values that are not finite, are damage.
    """
    from safetensors import SafetensorError, safe_open

    chosen = choose_weights(folder, (file.name for file in folder.glob(WEIGHTS)))
    if missing := [name for name in chosen if not (folder / name).is_file()]:
        return f"no {missing[0]}, which the index of weights names"
    for file in list_weights(folder):
        try:
            with safe_open(file, framework="pt") as weights:
                names = weights.keys()  # a list: the file itself cannot be iterated over
                for name in names:
                    for part in weights.get_tensor(name).flatten().split(_PART):
                        if part.is_floating_point() and part.element_size() > 1 and not part.isfinite().all():
                            return f"{file.name}: values of {name} are not finite"
        except SafetensorError as error:
            return f"{file.name}: {error}"
    return ""


def load_tokenizer(folder: Path | str) -> Any:
    """Load a fast tokenizer from a folder.

    Raises
    ------
    InputError
        If the folder does not exist or holds no fast tokenizer.
    """
    from transformers import AutoTokenizer

    folder = Path(folder)
    if not folder.is_dir():
        raise InputError("no such folder", str(folder), "check the path")
    check_named_files(folder)
    if not any(file for pattern in TOKENIZER_FILES for file in folder.glob(pattern)):
        raise InputError(
            "no tokenizer in this folder", str(folder), "copy tokenizer.json into the model folder"
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # of any kind: `tokenizers` raises bare ones for a file that it does not know
        raise InputError(
            f"the tokenizer cannot be read: {error or type(error).__name__}",
            str(folder),
            "copy its files and config.json again; a newer format needs newer transformers and tokenizers",
        ) from error
    if not tokenizer.is_fast:
        raise InputError("not a fast tokenizer", str(folder), "convert it: a tokenizer.json is needed")
    return tokenizer


def load_offsets(folder: Path | str) -> Callable[[list[str]], list[list[tuple[int, int]]]]:
    """Return what says where the tokens of texts start and end, in characters, without special tokens.

    Raises
    ------
    InputError
        As :func:`load_tokenizer`.
    """
    tokenizer = load_tokenizer(folder)

    def encode_offsets(texts: list[str]) -> list[list[tuple[int, int]]]:
        how = {"add_special_tokens": False, "return_offsets_mapping": True, "verbose": False}
        encoded = call_tokenizer(tokenizer, texts, str(folder), **how)
        offsets: list[list[tuple[int, int]]] = encoded["offset_mapping"]
        return offsets

    return encode_offsets


def save_model(folder: Path | str, model: Any, tokenizer: Any) -> None:
    """Write a model and its tokenizer to one folder, atomically."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
