"""Which packages the checks need, and which of them are missing; imports none of them."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from fathom.errors import InputError

REQUIRED = {
    "torch": "2.8", "transformers": "5.10", "numpy": "", "orjson": "", "polars": "", "pyarrow": "",
    "pydantic": "", "safetensors": "", "tokenizers": "", "tqdm": "", "snowballstemmer": "",
    "spacy-lookups-data": "",
}  # fmt: skip
"""Packages without which nothing runs, with the oldest version, if it matters."""
OPTIONAL = {"peft": "LoRA", "accelerate": "the Hugging Face Trainer", "lm_eval": "lm-evaluation-harness"}
"""Packages without which some checks do not run, and what they are for."""


def list_packages() -> dict[str, str]:
    """Return the installed versions of all packages that matter; empty where one is not installed."""
    return {name: _find_version(name) for name in (*REQUIRED, *OPTIONAL)}


def _find_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def check_packages(packages: Mapping[str, str]) -> None:
    """Raise `InputError` that names all packages that are missing or too old."""
    wrong = [
        f"{name} {packages[name] or 'is missing'}" + (f" ({oldest} or later is needed)" if oldest else "")
        for name, oldest in REQUIRED.items()
        if not packages[name] or _split(packages[name]) < _split(oldest)
    ]
    if wrong:
        names = " ".join(line.split()[0] for line in wrong)
        raise InputError("; ".join(wrong), "packages", f"python -m pip install --upgrade {names}")


def _split(text: str) -> tuple[int, ...]:
    """Return the first two numbers of a version: (2, 8) of 2.8.0+cu128."""
    parts = text.partition("+")[0].split(".")[:2]
    return tuple(int(part) for part in parts if part.isdecimal())
