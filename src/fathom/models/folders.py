"""Model folders: their files, sizes, fingerprint, tokenizer. Safetensors only, no remote code.

Weights are the files that transformers loads. Sizes in config.json are compared with them before anything of
these sizes is built.
"""

import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import hash_text, read_json, read_object, refuse_stand_in, write_atomically
from fathom.jobs.bounded_calls import call_tokenizer
from fathom.jobs.file_hashes import hash_once

_NUMBERED = re.compile(r"-[0-9]+-of-[0-9]+\.safetensors$")
WEIGHTS, INDEX = "*.safetensors", "*.safetensors.index.json"
"""Patterns of files of weights, and of the index over several files."""


def list_weights(folder: Path) -> list[Path]:
    """Return the files of weights that are loaded from a folder, by name."""
    names = choose_weights(folder, (file.name for file in folder.glob(WEIGHTS)))
    return [file for file in sorted(folder / name for name in names) if file.is_file()]


def require_parts(folder: Path) -> None:
    """Raise `InputError` if files of weights named by an index or by their numbering are missing."""
    names = sorted(file.name for file in folder.glob(WEIGHTS))
    missing = [name for name in choose_weights(folder, names) if not (folder / name).is_file()]
    index = next((file.name for file in sorted(folder.glob(INDEX))), "")
    if missing:
        more = f", and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise InputError(
            f"no {missing[0]}, which {index or 'config.json'} names{more}",
            str(folder),
            "copy the whole folder again; remove an index of other weights",
        )
    parts = [name for name in names if _NUMBERED.search(name)]
    if parts and not index and "model.safetensors" not in names:
        what = f"{parts[0]} is a part of the weights without an index (model.safetensors.index.json)"
        raise InputError(what, str(folder), "copy the index beside the weights, or the whole folder again")


def choose_weights(folder: Path, names: Iterable[str]) -> list[str]:
    """Return the files in safetensors that transformers would load; they need not exist yet.

    Repositories hold others beside them, such as `consolidated.safetensors`: the same weights once more.
    """
    names = {name for name in names if fnmatch(name, WEIGHTS)}
    config = read_json(folder / "config.json") if (folder / "config.json").is_file() else {}
    named = config.get("transformers_weights") if isinstance(config, dict) else None
    for name in (named, "model.safetensors", "model.safetensors.index.json", "adapter_model.safetensors"):
        if not isinstance(name, str):
            continue
        if name in names:
            return [name]
        if fnmatch(name, INDEX) and (folder / name).is_file():
            found = read_object(folder / name).get("weight_map")
            return sorted(set(map(str, found.values()))) if isinstance(found, dict) else []
    return sorted(names)


TOKENIZER_FILES = ("tokenizer*", "vocab*", "merges.txt", "special_tokens_map.json", "added_tokens.json",
                    "spiece.model", "sentencepiece*.model", "chat_template.jinja")  # fmt: skip
ADAPTER_CONFIG = "adapter_config.json"
ORIGIN_FILE = "gguf.json"
"""In a folder unpacked from a GGUF file: the file's hash, format, licence and reader."""
GGUF = ".gguf"
WEIGHT_FILES = (WEIGHTS, INDEX, "config.json", "generation_config.json", ADAPTER_CONFIG, ORIGIN_FILE)
PICKLED_FILES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_MORE_TEMPLATES = "additional_chat_templates/*.jinja"
_PART = 1 << 24  # weights checked together


def is_gguf(path: Path) -> bool:
    """Tell a GGUF file by its name; it may be missing."""
    return path.name.lower().endswith(GGUF) and not path.is_dir()


def fingerprint_folder(folder: Path | str) -> str:
    """Hash the weights, configuration and tokenizer files of a model folder, including their names.

    A link counts as the file that it points to, as the hub's cache is made of links.
    Raise `InputError` if a file names one that would be loaded and is not hashed.
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


def read_origin(folder: Path) -> dict[str, Any]:
    """Return the record of the GGUF file that a folder was unpacked from; empty for other folders."""
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
    values = read_json(file) if file.is_file() else {}
    if not isinstance(values, dict):
        raise InputError("not a JSON object", str(file), "copy it again")
    named = values.get(key)
    several = list(named.values()) if isinstance(named, dict) else named
    names = several if isinstance(several, list) else [] if several is None else [several]
    for name in sorted(set(map(str, names))):
        if "/" in name or not any(fnmatch(name, pattern) for pattern in patterns):
            what = f"{key} names {name!r}, but only files of the same folder are loaded"
            hint = f"move the file beside it, under a name like {' or '.join(patterns)}"
            raise InputError(what, str(file), hint)


def check_weight_names(names: Iterable[str], where: str) -> None:
    """Raise `InputError` unless safetensors are among the files of a model, a folder's or the hub's."""
    names = sorted(names)
    if any(fnmatch(name, WEIGHTS) for name in names):
        return
    refuse_pickled(names, where)
    if files := [name for name in names if name.endswith(GGUF)]:
        hint = f"name one of them after the id or folder: /{files[0]}"
        raise InputError(f"its weights are in {len(files)} GGUF files", where, hint)
    raise InputError("no weights (*.safetensors)", where, "check the path, or the model's id")


def refuse_pickled(names: Iterable[str], where: str, whose: str = "the") -> None:
    """Raise `InputError` if one of these files is a pickle."""
    for name in sorted(names):
        if any(fnmatch(name, pattern) for pattern in PICKLED_FILES):
            what = f"{whose} weights are pickled ({name}), and unpickling can run arbitrary code"
            hint = "convert them (docs/models.md, Pickled weights), or name the model under models.optional"
            raise InputError(what, where, hint)


def format_size(size: int) -> str:
    """Return a number of bytes in words."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def require_space(folder: Path, needed: int, what: str, where: str = "") -> None:
    """Raise `InputError` if the disk of a folder, which may not be there yet, has less than so many bytes."""
    free = shutil.disk_usage(next(each for each in (folder, *folder.parents) if each.exists())).free
    if needed > free:
        raise InputError(
            f"{what} needs {format_size(needed)} of disk space, but {folder} has only {format_size(free)} "
            "free",
            where or str(folder),
            "free some space, or set HF_HOME to a folder on a larger disk; no weights were fetched",
        )


def check_folder(folder: Path) -> None:
    """Raise `InputError` unless the folder holds a model that is safe to load."""
    if not folder.is_dir():
        raise InputError("no such folder", str(folder), "check the path, or fetch the model again")
    check_weight_names([file.name for file in folder.iterdir()], str(folder))
    for file in list_files(folder):
        refuse_stand_in(file)
    check_named_files(folder)
    if not (folder / "config.json").is_file():
        raise InputError("no config.json in this folder", str(folder), "copy the whole folder")
    check_sizes(folder)
    if (folder / ADAPTER_CONFIG).is_file():  # transformers would look for the adapter's base
        hint = "move the model's files, or those of the adapter (adapter_*), to a folder of their own"
        raise InputError("this folder holds both a model and an adapter", str(folder), hint)


def find_damage(folder: Path) -> str:
    """Describe what is wrong with the weights of a folder; empty if they are sound.

    Reads all of them: files that are cut off or missing, and values that are not finite, are damage.
    """
    from safetensors import SafetensorError, safe_open

    chosen = choose_weights(folder, (file.name for file in folder.glob(WEIGHTS)))
    if missing := [name for name in chosen if not (folder / name).is_file()]:
        return f"no {missing[0]}, which the index of weights names"
    for file in list_weights(folder):
        try:
            with safe_open(file, framework="pt") as weights:
                names = weights.keys()  # a list, as the file itself is not iterable
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
    except Exception as error:  # any exception: `tokenizers` raises bare ones for unknown files
        what = f"the tokenizer cannot be read: {error or type(error).__name__}"
        hint = "copy its files and config.json again; a newer format needs newer transformers and tokenizers"
        raise InputError(what, str(folder), hint) from error
    if not tokenizer.is_fast:
        raise InputError("not a fast tokenizer", str(folder), "convert it: a tokenizer.json is needed")
    return tokenizer


def load_offsets(folder: Path | str) -> Callable[[list[str]], list[list[tuple[int, int]]]]:
    """Return a function that finds the first and last characters of tokens, without special tokens."""
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


_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_POSITIVE = (*_LAYERS, "vocab_size", "hidden_size", "n_embd", "num_attention_heads", "n_head",
             "num_key_value_heads", "head_dim", "max_position_embeddings", "n_positions")  # fmt: skip
_BLOCK = re.compile(r"\.(\d+)\.")
_AGAIN = "it is damaged, or belongs to another model: copy the whole folder again"


def check_sizes(folder: Path) -> None:
    """Raise `InputError` if config.json has sizes below 1, or more layers than the weights have tensors."""
    path = folder / "config.json"
    whole = read_object(path)
    for values in (whole, whole.get("text_config")):
        found = _find_numbers(values, _POSITIVE)
        for key, value in found.items():
            if value < 1:
                raise InputError(f"{key} = {value:,}: it must be at least 1", str(path), _AGAIN)
        layers = {key: value for key, value in found.items() if key in _LAYERS}
        if not layers:
            continue
        require_parts(folder)
        tensors = sum(len(read_shapes(file)) for file in list_weights(folder))
        for key, value in layers.items():
            if value > tensors:
                what = f"{key} = {value:,}, but the weights have {tensors:,} tensors in all"
                raise InputError(what, str(path), _AGAIN)


def check_blocks(names: Iterable[str], config: Any, folder: Path) -> None:
    """Raise `InputError` if weights that no module takes belong to layers that config.json leaves out.

    Layers that only predict tokens further ahead are left out on purpose (`num_nextn_predict_layers`).
    """
    layers = config.get_text_config().num_hidden_layers
    known = layers + (getattr(config.get_text_config(), "num_nextn_predict_layers", None) or 0)
    left_out = sorted(name for name in names if (block := _BLOCK.search(name)) and int(block[1]) >= known)
    if left_out:
        what = f"num_hidden_layers = {layers:,}, but the weights have {left_out[-1]}"
        raise InputError(what, str(folder / "config.json"), _AGAIN)


def _find_numbers(values: Any, names: Iterable[str]) -> dict[str, int]:
    known = values if isinstance(values, dict) else {}
    return {name: known[name] for name in names if type(known.get(name)) is int}


def read_shapes(file: Path) -> dict[str, tuple[list[int], str]]:
    """Return shape and type of each tensor of a file by name; raise `InputError` if it is damaged."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="np") as weights:
            names = weights.keys()  # a list, as the file itself is not iterable
            slices = ((name, weights.get_slice(name)) for name in names)
            return {name: (part.get_shape(), part.get_dtype()) for name, part in slices}
    except (SafetensorError, OSError) as error:
        raise InputError(f"the model cannot be loaded: {error}", str(file), "copy the file again") from error
