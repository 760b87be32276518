"""Without a shared file system: jobs that see nothing but a storage make the bytes of a local run."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cluster.test_cluster import hash_results
from tests.end_to_end.project import (
    ROOT,
    copy_project,
    read_records,
    run_snakemake,
    write_shards,
    write_tiny_config,
)
from tests.storage.cluster import Cluster

pytestmark = pytest.mark.storage
TOOLS = ROOT / "build" / "storage"
BUCKET = "s3://fathom/somewhere"
PORT = 5599
KEYS = {"ACCESS_KEY": "test", "SECRET_KEY": "test", "ENDPOINT_URL": f"http://127.0.0.1:{PORT}"}
VARIABLES = {f"SNAKEMAKE_STORAGE_S3_{name}": value for name, value in KEYS.items()}


def why_not() -> str:
    """Return what is missing for these tests."""
    if not (TOOLS / "installed").exists():
        return "tests/storage/install.sh was not run"
    apart = subprocess.run(["unshare", "--mount", "true"], capture_output=True)
    return "" if apart.returncode == 0 else "jobs need a mount of their own, so root: unshare --mount"


def make_project(folder: Path) -> Path:
    """Make a small project whose models need a GPU, in a clone whose input Git does not know."""
    folder.mkdir()
    copy_project(folder)
    (folder / "docstrings").mkdir()
    shards = write_shards(read_records(folder / "docstrings"), folder / "input", ["a.jsonl", "b.jsonl.gz"])
    config = write_tiny_config(folder, [path.relative_to(folder) for path in shards])
    models = yaml.safe_load(config.read_text())["models"]
    missing = {name: ["SmolLM2-135M-Instruct-Q4_1"] for name in ("score", "optional")}  # it was not fetched
    write_tiny_config(folder, [path.relative_to(folder) for path in shards], models=models | missing)
    path = folder / "profiles" / "kubernetes" / "config.yaml"  # a copy of what the link leads to
    values = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(values | {"default-storage-prefix": BUCKET, "jobs": 3, "retries": 0}))
    (folder / ".gitignore").write_text("/docstrings/\n/input/\n__pycache__/\n")
    for words in ("init", "--quiet"), ("add", "--all"):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def storage() -> Iterator[None]:
    """Run a server for S3 on this machine."""
    if reason := why_not():
        pytest.skip(reason)
    server = subprocess.Popen([TOOLS / "bin" / "moto_server", "-p", str(PORT)], stderr=subprocess.DEVNULL)
    yield
    server.kill()
    server.wait()


@pytest.fixture(scope="module")
def finished(
    storage: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Cluster, Path, Path, str]]:
    """Run the project in the cluster and on this machine; return cluster, both results, and the log."""
    place = tmp_path_factory.mktemp("storage")
    folder = make_project(place / "project")
    (place / "jobs").mkdir()
    shutil.copytree(folder, place / "local")
    pip = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_FIND_LINKS": str(TOOLS / "wheels")}
    path = f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}"
    cluster = Cluster(place / "jobs", place / "project", PATH=path, **pip)
    config = cluster.write_config(place / "kube.json")
    variables = {**os.environ, **VARIABLES, "KUBECONFIG": str(config), "PATH": path, "PYTHONPATH": ""}
    command = [TOOLS / "bin" / "python", "-m", "snakemake", "--configfile", "config/tiny.yaml", "-c2",
               "--profile", "profiles/kubernetes", "--seconds-between-status-checks", "1"]  # fmt: skip
    start = time.monotonic()
    try:
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
        said = done.stdout + done.stderr
        assert done.returncode == 0, said[-5000:]
    finally:
        cluster.stop()
    sys.stdout.write(
        f"{len(cluster.jobs)} jobs in the cluster, {(time.monotonic() - start) / 60:.1f} minutes\n"
    )
    run_snakemake(place / "local", "-c2", "--configfile", "config/tiny.yaml")
    fetch_bucket(place / "bucket")
    yield cluster, place / "bucket", place / "local" / "results" / "tiny", said


def fetch_bucket(folder: Path) -> None:
    """Copy what the bucket has into a folder."""
    code = """
import boto3, pathlib, sys
keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
bucket = boto3.resource("s3", endpoint_url=sys.argv[1], **keys).Bucket("fathom")
for item in bucket.objects.all():
    path = pathlib.Path(sys.argv[2], item.key.removeprefix("somewhere/"))
    path.parent.mkdir(parents=True, exist_ok=True)
    bucket.download_file(item.key, str(path))
"""
    command = [TOOLS / "bin" / "python", "-c", code, KEYS["ENDPOINT_URL"], folder]
    subprocess.run(command, check=True)


def test_results_are_the_bytes_of_a_local_run(finished):
    _, bucket, local, _ = finished
    found, wanted = hash_results(bucket / "results" / "tiny"), hash_results(local)
    # what a job keeps for the next one stays on its machine
    wanted = {name: value for name, value in wanted.items() if "/finished/" not in name}
    assert len(wanted) > 100
    assert found == wanted


def list_rules(job: dict[str, Any]) -> set[str]:
    """Return the rules of a job of the cluster."""
    (container,) = job["spec"]["template"]["spec"]["containers"]
    return set(re.findall(r"--allowed-rules'? (\w+)", container["args"][-1]))


def test_only_what_reads_files_of_the_user_ran_on_this_machine(finished):
    cluster, _, _, said = finished
    everywhere = set(re.findall(r"^(?:localrule|rule) (\w+):", said, re.MULTILINE))
    there = set().union(*map(list_rules, cluster.jobs.values()))
    assert everywhere - there == {"all", "read_jsonlines"}
    assert there <= everywhere


def test_jobs_that_load_a_model_ask_for_gpus_as_kubernetes_takes_them(finished):
    cluster, _, _, _ = finished
    asked = set()
    for job in cluster.jobs.values():
        (container,) = job["spec"]["template"]["spec"]["containers"]
        resources = container["resources"]
        if int(resources["requests"].get("nvidia.com/gpu", 0)):
            assert resources["limits"]["nvidia.com/gpu"] == resources["requests"]["nvidia.com/gpu"]
            asked |= list_rules(job)
    assert asked == {"train_model", "adapt_model", "score_model"}
