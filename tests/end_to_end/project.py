"""A copy of the project to run and to change, and a tiny configuration for it."""

import gzip
import json
import os
import shutil
import subprocess
from pathlib import Path

import orjson
import polars as pl
import yaml
from tests.programs import MODELS, find_python, run_program

ROOT = Path(__file__).resolve().parents[2]
HASH_SEED = "12345"
LONGEST = 1500
"""Characters of a document's text: enough for pairs, and little to embed."""
PAIRS = tuple(f"near/benchmark/{variant}/pairs.{kind}" for variant in ("tf", "tfidf")
              for kind in ("jsonl", "parquet"))  # fmt: skip
"""Pairs of a run of the tiny configuration, in the folder of the run."""
COPIED = ("Snakefile", "config", "envs", "profiles", "scripts", "src", "workflow")


def copy_project(folder: Path) -> Path:
    """Copy what a run needs into an empty folder, so that a test may change it."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, folder / name)
    return folder


def find_warm_python() -> str:
    """Return an executable for snakemake and its jobs, which has their imports already."""
    return find_python(MODELS, PYTHONHASHSEED=HASH_SEED)


def run_snakemake(
    folder: Path, *arguments: object, python: str = "", code: int | None = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run snakemake in a folder, its jobs too, by `python`; environment variables come as keywords.

    It has to end with an exit code; None: any.
    """
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
    done = subprocess.run(
        [python or find_warm_python(), "-m", "snakemake", *map(str, arguments)],
        cwd=folder, env=variables | environment, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert code in (None, done.returncode), done.stdout + done.stderr
    return done


def read_records(folder: Path) -> list[dict[str, object]]:
    """Return documents of two fields: docstrings of a subpackage of scikit-learn and of one of scipy."""
    chosen = {"sklearn": ("sklearn.linear_model", "near"), "scipy": ("scipy.signal", "far")}
    found: list[dict[str, object]] = []
    for package, (category, field) in chosen.items():
        selection = {"domains": {"all": {"categories": [category]}}}
        files = ("--documents", folder / f"{package}.parquet", "--report", folder / f"{package}.json")
        named = ("--part", package, "--settings", json.dumps(selection))
        run_program("read_docstrings", *named, *files)
        for row in pl.read_parquet(folder / f"{package}.parquet").sort("doc_id").to_dicts():
            found.append(
                {"id": row["doc_id"], "title": row["title"], "abstract": row["abstract"],
                 "text": row["text"][:LONGEST], "categories": [field]}
            )  # fmt: skip
    assert len(found) > 100
    return found


def write_tiny_config(folder: Path, files: list[Path], **changes: object) -> Path:
    """Write a configuration whose models are tiny and whose benchmark has a dozen keywords."""
    values = {
        "run": "tiny",
        "corpus": {
            "source": "jsonl",
            "files": [str(path) for path in files],
            # by content hardly any group of so few documents would be held out
            "splits_by": "id",
            "splits": {"benchmark": 0.5, "adapt-train": 0.4, "adapt-valid": 0.05, "adapt-test": 0.05},
        },
        "domains": {"near": {"categories": ["near"]}, "far": {"categories": ["far"], "benchmark": False}},
        # in so few documents most phrases have the same words beside them everywhere
        "keywords": {"count": 12, "min_count": 3, "complete": None, "drop_truncated": None},
        "pairs": {"tokenizer": "tiny", "per_keyword": 5, "max_tokens": 64, "min_association": 0,
                  "gifts": True},
        "models": {"train": {"tiny": {"domain": "far", "layers": 2, "width": 32, "heads": 2,
                                      "vocabulary": 512, "context": 64, "steps": 4, "batch": 4,
                                      "sequence": 32}},
                   "adapt": [{"base": "tiny", "paths": [["near"]], "steps": 3, "batch": 4, "sequence": 32}]},
        "summary": {"rounds": 50}}  # fmt: skip
    path = folder / "config" / "tiny.yaml"
    path.write_text(yaml.safe_dump(values | changes))
    return path


def write_shards(records: list[dict[str, object]], folder: Path, names: list[str]) -> list[Path]:
    """Deal records out to JSON lines files, some of them compressed."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for place, name in enumerate(names):
        lines = b"".join(orjson.dumps(record) + b"\n" for record in records[place :: len(names)])
        path = folder / name
        path.write_bytes(gzip.compress(lines, mtime=0) if name.endswith(".gz") else lines)
        paths.append(path)
    return paths
