"""With a storage, the job of the page gets all that the page reads: it sees no folder of the run."""

import os
import re
import subprocess
import sys

from tests.plans import ROOT

from fathom.explorer.reader import is_read

PLUGIN = """
from pathlib import Path

from snakemake_interface_storage_plugins.storage_object import StorageObjectRead, StorageObjectWrite
from snakemake_interface_storage_plugins.storage_provider import (
    StorageProviderBase,
    StorageQueryValidationResult,
)


class StorageProvider(StorageProviderBase):
    example_queries = classmethod(lambda cls: [])
    rate_limiter_key = default_max_requests_per_second = lambda self, *_: None
    use_rate_limiter = lambda self: False
    list_objects = lambda self, query: []
    is_valid_query = classmethod(lambda cls, query: StorageQueryValidationResult(query, True))


class StorageObject(StorageObjectRead, StorageObjectWrite):
    async def inventory(self, cache):
        cache.exists_in_storage[self.cache_key()] = False

    get_inventory_parent = retrieve_object = store_object = remove = cleanup = lambda self: None
    local_suffix = lambda self: self.query.removeprefix("/")
    exists = lambda self: False
    mtime = size = lambda self: 0
"""
JOB = re.compile(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)+)", re.MULTILINE)
FILE = re.compile(r"/results/plan/([^,\s]+)")


def plan(folder, configuration):
    """Return rule, inputs and outputs of each job of a run whose results lie in a storage."""
    plugin = folder / "snakemake_storage_plugin_empty"
    plugin.mkdir()
    (folder / "config").symlink_to(ROOT / "config")
    (plugin / "__init__.py").write_text(PLUGIN)
    paths = os.pathsep.join([str(folder), str(ROOT / "src")])
    words = ["-n", "-c2", "--snakefile", ROOT / "Snakefile", "--configfile", ROOT / configuration,
             "--config", "run=plan", "--default-storage-provider", "empty",
             "--default-storage-prefix", "/store", "--shared-fs-usage", "sources"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *words], cwd=folder, env=os.environ | {"PYTHONPATH": paths},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for rule, body in JOB.findall(done.stdout):
        lines = dict(line.strip().split(": ", 1) for line in body.splitlines() if ": " in line)
        yield rule, *(FILE.findall(lines.get(key, "")) for key in ("input", "output"))


def test_the_page_gets_every_file_of_the_run_that_it_reads(tmp_path):
    jobs = list(plan(tmp_path, "config/figures-demo.yaml"))
    made = {file for rule, _, files in jobs if rule != "write_explorer" for file in files}
    (given,) = (set(files) for rule, files, _ in jobs if rule == "write_explorer")
    wanted = set(filter(is_read, made))
    assert {name.rpartition("/")[2] for name in wanted} >= {
        "pairs.parquet",
        "overlap.json",
        "checkpoints.csv",
    }
    assert not wanted - given
