"""The Slurm profile against the workflow: snakemake says nothing of a name that no rule has."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from snakemake_executor_plugin_slurm.partitions import read_partition_file

from fathom.running.queue import JOB_PREFIX

ROOT = Path(__file__).resolve().parents[2]
PROFILE = ROOT / "workflow" / "profiles" / "slurm"
SETTINGS = yaml.safe_load((PROFILE / "config.yaml").read_text())
PARTITIONS = read_partition_file(PROFILE / "partitions.yaml")
# name, body; a rule made by `use rule` has its base's resources
RULES = {
    name: body
    for path in sorted((ROOT / "workflow" / "rules").glob("*.smk"))
    for name, body in re.findall(
        r"^ *rule (\w+):\n(.*?)(?=^ *(?:use )?rule |\Z)", path.read_text(), re.MULTILINE | re.DOTALL
    )
}
INHERITED = [
    name
    for path in (ROOT / "workflow" / "rules").glob("*.smk")
    for name in re.findall(r"^ *use rule \w+ as (\w+) with:", path.read_text(), re.MULTILINE)
]
ATTEMPTS = 1 + SETTINGS["retries"]


def find_partition(name: str, attempt: int) -> str:
    """Return the partition that the plugin chooses for a rule's job, or nothing."""
    resources = {key: int(value) * 2 ** (attempt - 1)
                 for key, value in re.findall(r"(mem_mb|runtime)=(?:grow\()?(\d+)", RULES[name])}  # fmt: skip
    assert set(resources) == {"mem_mb", "runtime"}, name
    resources |= {key: int(value) for key, value in re.findall(r"\b(gpu)=(\d+)", RULES[name])}
    resources |= SETTINGS["set-resources"].get(name, {})
    (threads,) = re.findall(r"threads: (\d+)", RULES[name]) or [1]
    scores = {
        partition.name: partition.score_job_fit(SimpleNamespace(resources=resources, threads=int(threads)))
        for partition in PARTITIONS
    }
    fitting = {partition: score for partition, score in scores.items() if score is not None}
    return max(fitting, key=fitting.get, default="")


def test_all_rules_were_found():
    assert {"match_sentences", "train_model", "plot_model_ranks", "read_metadata"} <= set(RULES)


@pytest.mark.parametrize("key", ["groups", "set-resources"])
def test_every_name_in_the_profile_is_a_rule(key):
    assert set(SETTINGS[key]) - {*RULES, *INHERITED} == set()


def test_group_sizes_are_of_groups():
    assert set(SETTINGS["group-components"]) <= set(SETTINGS["groups"].values())


def test_grouped_rules_need_no_gpu():
    for name in SETTINGS["groups"]:
        assert "gpu=" not in RULES[name], f"{name}: a group would ask for the GPUs of all its jobs at once"


def test_groups_are_cut_to_size_and_nothing_else_is():
    # snakemake takes a limit of mem_mb, runtime, gpu or cores for the most that any one job may ask for
    assert set(SETTINGS["resources"]) == {"side_by_side"}
    assert SETTINGS["set-resource-scopes"] == {"side_by_side": "local"}
    assert SETTINGS["default-resources"]["side_by_side"] == 1
    assert "cores" not in SETTINGS
    together = SETTINGS["resources"]["side_by_side"]
    largest = max(partition.limits.max_mem_mb for partition in PARTITIONS if not partition.limits.max_gpu)
    for name in SETTINGS["groups"]:
        memory = int(re.search(r"mem_mb=grow\((\d+)\)", RULES[name])[1])
        assert together * memory * 2 ** (ATTEMPTS - 1) <= largest, name


def test_gpu_models_are_given_to_gpu_rules_and_offered_by_a_partition():
    offered = {model for partition in PARTITIONS for model in partition.limits.available_gpu_models or []}
    assert offered == {"a100", "h100"}
    for name, resources in SETTINGS["set-resources"].items():
        if "gpu_model" in resources:
            assert "gpu=1" in RULES[name], f"{name}: the model alone would ask for a GPU"
            assert resources["gpu_model"] in offered


@pytest.mark.parametrize("name", sorted(RULES))
def test_every_attempt_fits_a_partition_of_its_kind(name):
    model = SETTINGS["set-resources"].get(name, {}).get("gpu_model", "a100")
    wanted = model if "gpu=1" in RULES[name] else "cpu"
    assert {find_partition(name, attempt) for attempt in range(1, ATTEMPTS + 1)} == {wanted}


def test_what_keeps_a_run_from_hanging_or_losing_jobs_is_set():
    assert SETTINGS["slurm-status-command"] == "squeue"
    assert SETTINGS["slurm-no-requeue"] is True
    assert SETTINGS["rerun-incomplete"] is True
    assert SETTINGS["keep-incomplete"] is True
    assert SETTINGS["slurm-jobname-prefix"] == JOB_PREFIX
    assert "slurm-array-jobs" not in SETTINGS
    assert SETTINGS["default-resources"]["mem_mb"] >= 800
    assert SETTINGS["slurm-logdir"] in (ROOT / "workflow" / "rules" / "hooks.smk").read_text()
    assert not (ROOT / "workflow" / "profiles" / "default").exists()
    assert (ROOT / "slurm").resolve() == PROFILE
