"""A small corpus of real text for the end-to-end runs."""

import json
import os
import subprocess
import sys

import polars as pl
import pytest
from tests.end_to_end.project import ROOT


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """Return documents of two fields: docstrings of two subpackages of scikit-learn and of scipy."""
    folder = tmp_path_factory.mktemp("docstrings")
    chosen = {"sklearn": ("sklearn.linear_model", "near"), "scipy": ("scipy.signal", "far")}
    found: list[dict[str, object]] = []
    for package, (category, field) in chosen.items():
        selection = {"domains": {"all": {"categories": [category]}}}
        subprocess.run(
            [
                *(sys.executable, str(ROOT / "scripts" / "read_docstrings.py"), "--package", package),
                *("--settings", json.dumps(selection), "--output", str(folder / f"{package}.parquet")),
                *("--report", str(folder / f"{package}.json")),
            ],
            check=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        )
        for row in pl.read_parquet(folder / f"{package}.parquet").sort("doc_id").to_dicts():
            found.append(
                {"id": row["doc_id"], "title": row["title"], "abstract": row["abstract"],
                 "text": row["text"], "categories": [field]}
            )  # fmt: skip
    assert len(found) > 100
    return found
