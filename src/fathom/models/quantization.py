"""Quantised models: weights of 4 or 8 bits. Marked in every report.

Some need a library and a GPU, and stay small in memory. FP8 and MXFP4 are unpacked on loading, on any
device, as their own kernels would be code from the hub, which is never run.
"""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import read_json

_LIBRARIES = {
    "bitsandbytes-4bit": ("bitsandbytes",),
    "bitsandbytes-8bit": ("bitsandbytes",),
    "gptq": ("optimum", "gptqmodel"),
    "awq": ("gptqmodel",),
}
_UNPACKED_ON_LOADING = ("fp8", "mxfp4")
QUANTIZATIONS = (*_LIBRARIES, *_UNPACKED_ON_LOADING)
"""Values of the registry's column `quantization`; all but bitsandbytes' describe stored weights."""

UNPACKED = "GGUF "
"""Prefix for weights unpacked from a GGUF file, which are not quantised in memory."""

# of matrices that are quantised on loading; 4 bits and a float32 scale for each 64 weights
_BYTES = {"bitsandbytes-4bit": 0.5625, "bitsandbytes-8bit": 1.0}


def find_quantization(folder: Path) -> str:
    """Return how a model's stored weights are quantised, from its configuration; empty if they are not."""
    config = read_json(folder / "config.json")
    stored = config.get("quantization_config") if isinstance(config, dict) else None
    if not stored:
        return ""
    method = str(stored.get("quant_method", "")).lower()
    if method == "bitsandbytes" or (not method and "load_in_4bit" in stored):
        return "bitsandbytes-4bit" if stored.get("load_in_4bit") else "bitsandbytes-8bit"
    return re.sub(r"[^a-z0-9-]", "-", method) or "unknown"


def is_small(quantization: str) -> bool:
    """Say whether weights stay quantised in memory, which needs a GPU."""
    return quantization in _LIBRARIES


def choose_quantization(folder: Path, wanted: str) -> str:
    """Return how a model is quantised in memory: as in its row, else as stored; empty if it is not.

    Raise `InputError` if the weights are stored in another or an unknown format.
    """
    stored = find_quantization(folder)
    if wanted.startswith(UNPACKED):
        return ""
    if stored and stored not in QUANTIZATIONS:
        hint = f"known: {', '.join(QUANTIZATIONS)}; or use the model before it was quantised, or a server"
        raise InputError(f"the weights are quantised by {stored}, which is not supported", str(folder), hint)
    if wanted and stored and wanted != stored:
        raise InputError(f"the weights are stored as {stored}, not {wanted}", str(folder), "correct the row")
    if wanted and not stored and wanted not in _BYTES:
        hint = f"name the repository of the quantised weights, or choose {' or '.join(_BYTES)}"
        raise InputError(f"the weights are not stored as {wanted}", str(folder), hint)
    return wanted or stored


def check_quantization(quantization: str, device: str, where: str) -> None:
    """Raise `InputError` if quantised weights lack their library or a GPU."""
    missing = [name for name in _LIBRARIES.get(quantization, ()) if find_spec(name) is None]
    if missing:
        what = f"weights in {quantization} need {' and '.join(missing)}, not installed here"
        raise InputError(what, where, f"pip install {' '.join(missing)}")
    if is_small(quantization) and not device.startswith("cuda"):
        raise InputError(f"weights in {quantization} need a GPU", where, "set scoring.device to auto or cuda")


def count_bytes_per_weight(folder: Path, quantization: str) -> float | None:
    """Return the bytes of a weight that is quantised on loading; None if weights stay as they are stored."""
    return None if find_quantization(folder) else _BYTES.get(quantization)


def estimate_bytes_per_weight(quantization: str) -> float:
    """Return the bytes of a quantised weight before its file is fetched; gptq and awq count as 4 bits."""
    return _BYTES.get(quantization, _BYTES["bitsandbytes-4bit"])


def make_loading_options(folder: Path, quantization: str, dtype: str) -> dict[str, Any]:
    """Return what `from_pretrained` needs to quantise on loading, or to unpack; else nothing."""
    if quantization in _UNPACKED_ON_LOADING:
        from transformers import FineGrainedFP8Config, Mxfp4Config

        kind = FineGrainedFP8Config if quantization == "fp8" else Mxfp4Config
        return {"quantization_config": kind(dequantize=True)}
    if not quantization or find_quantization(folder):
        return {}
    import torch
    from transformers import BitsAndBytesConfig

    if quantization == "bitsandbytes-8bit":
        return {"quantization_config": BitsAndBytesConfig(load_in_8bit=True)}
    compute = getattr(torch, dtype)
    config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=compute)
    return {"quantization_config": config}
