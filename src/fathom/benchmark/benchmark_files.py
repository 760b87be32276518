"""The files of a benchmark: its manifest, and `fathom.load_benchmark`.

A manifest has hashes, inputs, parameters and versions; no timestamps and no local paths.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import polars as pl

from fathom import __version__
from fathom.config.benchmark import REFERENCE, VARIANTS, Variant
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import hash_file, read_json, read_object, require_file
from fathom.io.names import place_inside
from fathom.io.tables import read_table
from fathom.jobs.program import log


@dataclass(frozen=True)
class Benchmark:
    """The pairs of a benchmark, and how they were made.

    `pairs` (polars.DataFrame of shape (n_pairs, 10)): pairs that meet the contract PAIRS. `manifest`: inputs,
    parameters and versions; empty for a reference benchmark.
    """

    domain: str
    variant: str  # `tf` or `tfidf`, the vocabulary of the targets, or `reference`
    pairs: pl.DataFrame = field(repr=False)
    manifest: Mapping[str, Any] = field(repr=False)
    report: Mapping[str, Any] = field(repr=False)  # counts of the step that made the pairs
    card: str = field(repr=False)  # README.md of the benchmark (Markdown)


def name_reference(folder: Path, domain: str) -> dict[str, str]:
    """Return the configured name of a domain's leading reference by its variant, if the run has one.

    `folder`: of the run.
    """
    report = place_inside(folder, paths.PAIRS.ending(".json").of(domain=domain, variant=REFERENCE).below)
    name = read_object(report).get("name") if report.is_file() else None
    return {REFERENCE: name} if isinstance(name, str) else {}


def load_benchmark(folder: Path | str) -> Benchmark:
    """Read a benchmark of a run.

    Raise `InputError` if there is no such benchmark, it has no pairs, or they do not match its manifest.
    `folder`: `results/{run}/{domain}/benchmark/{variant}`.

    Examples
    --------
    >>> import fathom
    >>> benchmark = fathom.load_benchmark("results/demo/machine-learning/benchmark/tf")
    >>> benchmark
    Benchmark(domain='machine-learning', variant='tf')
    >>> benchmark.pairs.select("prompt", "target").row(0)
    ('The agent learns a', ' policy')
    >>> benchmark.manifest["parameters"]["matches"]["min_cosine"]
    0.3
    >>> len(fathom.score("gpt2", benchmark.pairs)) == len(benchmark.pairs)
    True
    """
    folder = Path(folder)
    if not (folder / "pairs.parquet").is_file():
        raise InputError(
            "there is no pairs.parquet", str(folder), "give results/RUN/DOMAIN/benchmark/VARIANT"
        )
    pairs = read_table(folder / "pairs.parquet", PAIRS)
    if pairs.is_empty():
        raise InputError("the benchmark has no pair", str(folder))
    if pairs["association"].is_nan().all() and pairs["variant"][0] in VARIANTS:
        log.info("%s: the association of its pairs is unknown, as in benchmarks of earlier versions", folder)
    manifest = read_manifest(folder / "manifest.json") if (folder / "manifest.json").is_file() else {}
    known = manifest.get("files", {}).get("pairs.parquet")
    if known and known != hash_file(folder / "pairs.parquet"):
        raise InputError("the pairs differ from manifest.json", str(folder), "make the benchmark again")
    report, card = folder / "pairs.json", folder / "README.md"
    return Benchmark(
        domain=manifest.get("domain") or folder.resolve().parents[1].name,
        variant=pairs["variant"][0],
        pairs=pairs,
        manifest=manifest,
        report=read_json(report) if report.is_file() else {},
        card=card.read_text(encoding="utf-8") if card.is_file() else "",
    )


PACKAGES = (
    "gensim", "numpy", "polars", "pyarrow", "pylatexenc", "scikit-learn", "sentence-transformers", "spacy",
    "tokenizers", "torch", "transformers",
)  # fmt: skip
"""Packages, besides this one, whose versions can change a benchmark."""

SECTIONS = ("corpus", "keywords", "sentences", "embedding", "matches", "vocabulary", "pairs")
"""Sections of the configuration that a benchmark depends on, besides its domain's."""

_KINDS: dict[str, type] = {
    "domain": str, "variant": str, "files": dict, "inputs": list, "parameters": dict, "packages": dict,
    "reports": dict,
}  # fmt: skip
_WORDS: dict[type, str] = {str: "text", int: "a whole number", list: "a list", dict: "an object"}

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

    Returned: ready for :func:`fathom.io.files.write_json`; equal content gives an equal manifest, wherever
    the files are. `config`: the whole configuration; sections that a benchmark does not depend on are left
    out. `join_report`: report of the corpus; its `inputs` are the names and hashes of the files that were
    read.
    """
    parameters = config.model_dump(mode="json", by_alias=True, exclude={"corpus": {"slice_mb"}})
    if config.sentences.limit is None:
        del parameters["sentences"]["limit"]  # without a limit, manifests are as before it was introduced
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


def read_manifest(path: Path | str) -> dict[str, Any]:
    """Read a manifest, which may be an older one that lacks parts."""
    manifest = read_object(path)
    for name, kind in _KINDS.items():
        _require_kind(manifest.get(name, kind()), kind, name, path)
    for place, each in enumerate(manifest.get("inputs", []), start=1):
        _require_kind(each, dict, f"entry {place} of inputs", path)
    for part, name in (("parameters", "corpus"), ("parameters", "domain"), ("reports", "held_out_overlap")):
        value = manifest.get(part, {}).get(name)
        _require_kind({} if value is None else value, dict, f"{part}.{name}", path)
    for name, value in (manifest.get("reports", {}).get("held_out_overlap") or {}).items():
        _require_kind(value, int, f"reports.held_out_overlap.{name}", path)
    return manifest


def _require_kind(value: Any, kind: type, what: str, path: Path | str) -> None:
    if not isinstance(value, kind):
        raise InputError(
            f"not a manifest of a benchmark: {what} is not {_WORDS[kind]}",
            str(path),
            "make the benchmark again",
        )


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
