"""The manifest of a benchmark: hashes, inputs, parameters, versions; no timestamps and no local paths."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fathom import __version__
from fathom.config.benchmark import Variant
from fathom.config.whole import Config
from fathom.io.files import hash_file, require_file

PACKAGES = (
    "gensim", "numpy", "polars", "pyarrow", "pylatexenc", "scikit-learn", "sentence-transformers", "spacy",
    "tokenizers", "torch", "transformers",
)  # fmt: skip
"""Packages, besides this one, whose versions can change a benchmark."""

SECTIONS = ("corpus", "keywords", "sentences", "embedding", "matches", "vocabulary", "pairs")
"""Sections of the configuration that a benchmark depends on, besides that of its domain."""

Report = Mapping[str, Any]


def make_manifest(
    files: Mapping[str, Path | str],
    config: Config,
    domain: str,
    variant: Variant,
    join_report: Report,
    reports: Mapping[str, Report],
) -> dict[str, Any]:
    """Collect everything that a benchmark was made from.

    Parameters
    ----------
    files : mapping of str to Path or str
        Files of the benchmark, by the names that the manifest gives them.
    config : Config
        The whole configuration; sections that a benchmark does not depend on are left out.
    domain, variant : str
        Domain and variant of the benchmark.
    join_report : mapping
        Report of the corpus; its `inputs` are the names and hashes of the files that were read.
    reports : mapping
        Reports of the steps, by name.

    Returns
    -------
    dict
        Ready for :func:`fathom.io.files.write_json`; equal content gives an equal manifest, wherever the
        files are.

    Raises
    ------
    InputError
        If a file is missing.
    """
    parameters = config.model_dump(mode="json", by_alias=True, exclude={"corpus": {"slice_mb"}})
    if config.sentences.limit is None:
        del parameters["sentences"]["limit"]  # manifests stay as they were before there was a limit
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
    """Return the versions of this package and of the installed ones among PACKAGES."""
    found = {"fathom": __version__}
    for name in PACKAGES:
        try:
            found[name] = version(name).partition("+")[0]  # `+cpu`, `+cu130`: builds of the same version
        except PackageNotFoundError:
            continue
    return found


def drop_folders(value: Any) -> Any:
    """Return JSON data in which absolute, relative and home-folder paths are reduced to file names."""
    if isinstance(value, Mapping):
        return {key: drop_folders(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [drop_folders(each) for each in value]
    if isinstance(value, str) and value.startswith(("/", "~", "../", "./")) and "\n" not in value:
        return Path(value).name
    return value
