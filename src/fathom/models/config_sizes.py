"""Sizes in a model's config.json, compared with its weights before anything of these sizes is built."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import read_object
from fathom.models.weight_files import list_weights, require_parts

_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_POSITIVE = (*_LAYERS, "vocab_size", "hidden_size", "n_embd", "num_attention_heads", "n_head",
             "num_key_value_heads", "head_dim", "max_position_embeddings", "n_positions")  # fmt: skip
_BLOCK = re.compile(r"\.(\d+)\.")
_AGAIN = "it is damaged, or of another model: copy the whole folder again"


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
        tensors = _count_tensors(folder) if layers else 0
        for key, value in layers.items():
            if value > tensors:
                raise InputError(
                    f"{key} = {value:,}, but the weights have {tensors:,} tensors in all", str(path), _AGAIN
                )


def check_blocks(names: Iterable[str], config: Any, folder: Path) -> None:
    """Raise `InputError` if weights that no module takes belong to layers that config.json leaves out.

    Layers that only predict tokens further ahead are left out on purpose (`num_nextn_predict_layers`).
    """
    layers = config.get_text_config().num_hidden_layers
    known = layers + (getattr(config.get_text_config(), "num_nextn_predict_layers", None) or 0)
    left_out = sorted(name for name in names if (block := _BLOCK.search(name)) and int(block[1]) >= known)
    if left_out:
        raise InputError(
            f"num_hidden_layers = {layers:,}, but the weights have {left_out[-1]}",
            str(folder / "config.json"),
            _AGAIN,
        )


def _find_numbers(values: Any, names: Iterable[str]) -> dict[str, int]:
    known = values if isinstance(values, dict) else {}
    return {name: known[name] for name in names if type(known.get(name)) is int}


def _count_tensors(folder: Path) -> int:
    from safetensors import SafetensorError, safe_open

    require_parts(folder)
    count = 0
    for file in list_weights(folder):
        try:
            with safe_open(file, framework="np") as weights:
                count += len(weights.keys())
        except SafetensorError as error:
            raise InputError(
                f"the model cannot be loaded: {error}", str(file), "copy the file again"
            ) from error
    return count
