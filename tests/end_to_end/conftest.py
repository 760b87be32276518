"""A small corpus of real text for the end-to-end runs, and one run that several of them look at."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from filelock import FileLock
from tests.end_to_end.project import (
    PAIRS,
    copy_project,
    read_records,
    run_snakemake,
    write_shards,
    write_tiny_config,
)


def _make_once(paths: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that is made by whichever process of this test run needs it first."""
    top = paths.getbasetemp()
    folder = (top.parent if top.name.startswith("popen-") else top) / name
    with FileLock(folder.with_suffix(".lock")):
        if not folder.exists():
            new = paths.mktemp(name)
            make(new)
            new.rename(folder)
    return folder


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """Return documents of two fields."""

    def make(folder: Path) -> None:
        (folder / "records.json").write_bytes(orjson.dumps(read_records(folder)))

    return orjson.loads((_make_once(tmp_path_factory, "docstrings", make) / "records.json").read_bytes())


@pytest.fixture(scope="session")
def from_scratch(tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, object]]) -> Path:
    """Return a project with the pairs of all documents, made on two cores."""

    def make(folder: Path) -> None:
        copy_project(folder)
        anew = sorted(records, key=lambda record: str(record["text"]))
        shards = write_shards(anew, folder / "input", ["b.jsonl.gz", "z.jsonl"])
        # relative: a copy of the project has nothing to make again
        config = write_tiny_config(folder, [path.relative_to(folder) for path in shards])
        pairs = [f"results/tiny/{name}" for name in PAIRS]
        run_snakemake(folder, "-c2", "--configfile", config, "--", *pairs)

    return _make_once(tmp_path_factory, "from-scratch", make)
