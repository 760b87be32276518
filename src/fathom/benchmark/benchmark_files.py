"""Loading of a benchmark that the workflow made: `fathom.load_benchmark`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from fathom.benchmark.manifest import read_manifest
from fathom.config.benchmark import VARIANTS
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import hash_file, read_json
from fathom.io.tables import read_table
from fathom.jobs.program import log


@dataclass(frozen=True)
class Benchmark:
    """The pairs of a benchmark, and how they were made.

    Attributes
    ----------
    variant : str
        `tf` or `tfidf`, the vocabulary of the targets, or `reference`.
    pairs : polars.DataFrame of shape (n_pairs, 10)
        Pairs that meet the contract PAIRS.
    manifest : mapping
        Inputs, parameters and versions; empty for a reference benchmark.
    report : mapping
        Counts of the step that made the pairs.
    card : str
        README.md of the benchmark (Markdown).
    """

    domain: str
    variant: str
    pairs: pl.DataFrame = field(repr=False)
    manifest: Mapping[str, Any] = field(repr=False)
    report: Mapping[str, Any] = field(repr=False)
    card: str = field(repr=False)


def load_benchmark(folder: Path | str) -> Benchmark:
    """Read a benchmark of a run.

    Parameters
    ----------
    folder : Path or str
        `results/{run}/{domain}/benchmark/{variant}`.

    Raises
    ------
    InputError
        If there is no such benchmark, it has no pairs, or they do not match its manifest.

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
        log.info("%s: the association of its pairs is unknown, as if an earlier version made them", folder)
    manifest = read_manifest(folder / "manifest.json") if (folder / "manifest.json").is_file() else {}
    known = manifest.get("files", {}).get("pairs.parquet")
    if known and known != hash_file(folder / "pairs.parquet"):
        raise InputError("the pairs are not those of manifest.json", str(folder), "make the benchmark again")
    report, card = folder / "pairs.json", folder / "README.md"
    return Benchmark(
        domain=manifest.get("domain") or folder.resolve().parents[1].name,
        variant=pairs["variant"][0],
        pairs=pairs,
        manifest=manifest,
        report=read_json(report) if report.is_file() else {},
        card=card.read_text(encoding="utf-8") if card.is_file() else "",
    )
