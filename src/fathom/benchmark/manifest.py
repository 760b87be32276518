"""Manifest of a benchmark: hashes, inputs, parameters, versions; no time stamps and no paths of a machine."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fathom import __version__
from fathom.config.benchmark import Variant
from fathom.config.whole import Config
from fathom.io.files import hash_file, require_file

PACKAGES = (
    "numpy", "polars", "pyarrow", "pylatexenc", "scikit-learn", "sentence-transformers", "spacy",
    "tokenizers", "torch", "transformers",
)  # fmt: skip
"""Packages whose versions can change a benchmark, beside this one."""

SECTIONS = ("corpus", "keywords", "sentences", "embedding", "matches", "vocabulary", "pairs")
"""Sections of the configuration that a benchmark depends on, with its own domain."""

Report = Mapping[str, Any]


def make_manifest(
    files: Mapping[str, Path | str],
    config: Config,
    domain: str,
    variant: Variant,
    join_report: Report,
    reports: Mapping[str, Report],
) -> dict[str, Any]:
    """Gather what a benchmark was made from.

    Parameters
    ----------
    files : mapping of str to path
        Files of the benchmark, under the names that they go by.
    config : Config
        The whole configuration; what a benchmark does not depend on is left out.
    domain, variant : str
        Which benchmark it is.
    join_report : mapping
        Report of the corpus; its `inputs` name and hash what was read.
    reports : mapping
        Reports of the steps, by name.

    Returns
    -------
    dict
        Ready for :func:`fathom.io.files.write_json`; the same for the same content, wherever the files lie.

    Raises
    ------
    InputError
        If a file is missing.
    """
    parameters = config.model_dump(mode="json", by_alias=True)
    manifest = {
        "domain": domain,
        "variant": variant,
        "files": {name: hash_file(require_file(path)) for name, path in sorted(files.items())},
        "inputs": join_report.get("inputs", []),
        "parameters": {
            **{section: parameters[section] for section in SECTIONS},
            "domain": parameters["domains"].get(domain),
        },
        "packages": find_versions(),
        "reports": {"join": join_report, **reports},
    }
    shown: dict[str, Any] = drop_folders(manifest)
    return shown


def find_versions() -> dict[str, str]:
    """Return the versions of the packages that matter; one that is not installed is left out."""
    found = {"fathom": __version__}
    for name in PACKAGES:
        try:
            found[name] = version(name).partition("+")[0]  # `+cpu`, `+cu130`: builds of the same version
        except PackageNotFoundError:
            continue
    return found


def drop_folders(value: Any) -> Any:
    """Return JSON data where every absolute path, or path of a home folder, has become a file name."""
    if isinstance(value, Mapping):
        return {key: drop_folders(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [drop_folders(each) for each in value]
    if isinstance(value, str) and value.startswith(("/", "~", "../", "./")) and "\n" not in value:
        return Path(value).name
    return value
