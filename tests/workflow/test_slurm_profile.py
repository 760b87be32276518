"""The Slurm profile against the workflow: snakemake says nothing of a name that no rule has."""

import re
from types import SimpleNamespace

import pytest
import yaml
from snakemake_executor_plugin_slurm.partitions import read_partition_file
from tests.planning.test_needs import VALUES, make_needs
from tests.plans import INHERITED, ROOT
from tests.plans import RULES as RULES_BY_NAME

from fathom.figures.catalogue import CATALOGUE
from fathom.jobs.resources import JOB_PREFIX
from fathom.planning import needs as needs_module
from fathom.planning.model_memory import read_cards
from fathom.planning.needs import MINUTES, Need, Needs

PROFILE = ROOT / "workflow" / "profiles" / "slurm"
SETTINGS = yaml.safe_load((PROFILE / "config.yaml").read_text())
PARTITIONS = read_partition_file(PROFILE / "partitions.yaml")
_, _, LOOP = (ROOT / "workflow" / "rules" / "figures.smk").read_text().partition("    rule:\n")
RULES = RULES_BY_NAME | {figure.rule: LOOP.partition("\nrule ")[0] for figure in CATALOGUE.values()}
ATTEMPTS = 1 + SETTINGS["retries"]

GPU_CARDS = SETTINGS["default-resources"]["gpu_cards"].strip("'")
CARDS = read_cards(GPU_CARDS)
LIMIT = SETTINGS["default-resources"]["max_minutes"]
# runs on a model of the registry; those that train one on a model of its own
LOADING = re.compile(r'\*\*needs\.ask\(\s*"(\w+)"')


@pytest.fixture(scope="module")
def needs() -> Needs:
    adapt = [{"base": name, "paths": [["near"]]} for name in ("Llama-3.2-1B", "Llama-3.2-3B")]
    models = VALUES["models"] | {"adapt": adapt}
    return make_needs("results/none", GPU_CARDS, limit=LIMIT, models=models)


WITH_GPU = re.compile(r"gpu=|\*\*\w+\.ask")
"""What a rule says that may ask for a GPU."""
OF_OTHERS = {"write_open_questions"}
"""Rules that ask for what the models of other rules need."""


def find_resources(name: str, attempt: int) -> dict[str, int]:
    """Return what a rule that loads no model asks for."""
    found = re.findall(r"(mem_mb|runtime)=(?:(?:grow|minutes)\()?(\d+)", RULES[name])
    resources = {key: int(value) * 2 ** (attempt - 1) for key, value in found}
    assert set(resources) == {"mem_mb", "runtime"}, name
    return resources


def ask(need: Need) -> dict[str, object]:
    """Return what a need is as resources of a job."""
    return {"mem_mb": need.host_mb, "runtime": need.minutes, "gpu": need.gpus, "gpu_model": need.model}


def find_partition(name: str, resources: dict[str, object]) -> str:
    """Return the partition that the plugin chooses for a rule's job, or nothing."""
    resources = resources | SETTINGS.get("set-resources", {}).get(name, {})
    (threads,) = re.findall(r"threads: (\d+)", RULES[name]) or [1]
    scores = {
        partition.name: partition.score_job_fit(SimpleNamespace(resources=resources, threads=int(threads)))
        for partition in PARTITIONS
    }
    fitting = {partition: score for partition, score in scores.items() if score is not None}
    return max(fitting, key=fitting.get, default="")


def test_the_longest_time_and_the_attempts_are_those_of_the_profile():
    partitions = yaml.safe_load((PROFILE / "partitions.yaml").read_text())["partitions"]
    assert min(each["max_runtime"] for each in partitions.values()) == LIMIT
    assert needs_module.ATTEMPTS == ATTEMPTS


def test_no_rule_asks_for_more_time_than_partitions_give():
    timed = re.compile(r"runtime=(?:minutes\(|\d)|needs\.ask")
    assert {name for name, body in RULES.items() if not timed.search(body)} <= OF_OTHERS


def test_all_rules_were_found():
    assert {"match_sentences", "train_model", "plot_model_ranks", "read_metadata"} <= set(RULES)


@pytest.mark.parametrize("key", ["groups", "set-resources"])
def test_every_name_in_the_profile_is_a_rule(key):
    assert set(SETTINGS.get(key, {})) - {*RULES, *INHERITED} == set()


def test_group_sizes_are_of_groups_whose_rules_need_no_gpu():
    assert set(SETTINGS["group-components"]) <= set(SETTINGS["groups"].values())
    for name in SETTINGS["groups"]:
        assert not WITH_GPU.search(RULES[name]), (
            f"{name}: a group would ask for the GPUs of all its jobs at once"
        )


def test_groups_are_cut_to_size_and_nothing_else_is():
    # snakemake takes a limit of mem_mb, runtime, gpu or cores for the most that any one job may ask for
    assert set(SETTINGS["resources"]) == {"side_by_side"}
    assert SETTINGS["set-resource-scopes"] == {"side_by_side": "local"}
    assert SETTINGS["default-resources"]["side_by_side"] == 1
    assert "cores" not in SETTINGS
    together = SETTINGS["resources"]["side_by_side"]
    largest = max(partition.limits.max_mem_mb for partition in PARTITIONS if not partition.limits.max_gpu)
    for name in SETTINGS["groups"]:
        memory = int(re.search(r"mem_mb=grow\((\d+)[,)]", RULES[name])[1])
        assert together * memory * 2 ** (ATTEMPTS - 1) <= largest, name


def test_the_cards_are_those_of_the_partitions():
    offered = {model: partition.limits.max_gpu for partition in PARTITIONS
               for model in partition.limits.available_gpu_models or []}  # fmt: skip
    assert {card.model: card.most for card in CARDS} == offered


def test_rules_with_a_gpu_are_those_whose_needs_follow_from_the_model():
    loading = {found for body in RULES.values() for found in LOADING.findall(body)}
    with_gpu = {name for name, body in RULES.items() if WITH_GPU.search(body)}
    # embeddings and densities are computed on a GPU only where the configuration says so
    varied = {"vary_correlation", "vary_percentile", "vary_records"}
    densities = {"expand_corpus", "map_others", "measure_coverage", "ask_questions", *varied}
    # one job scores all models in turn, so it asks for what the largest needs
    # and one that writes questions asks for what its model needs to answer them
    assert loading | {"embed_sentences", "average_abstracts"} | densities | OF_OTHERS == with_gpu
    assert loading | {"score_chat", "tune_preparation"} == set(MINUTES)


@pytest.mark.parametrize("name", sorted(set(RULES) - set(MINUTES) - OF_OTHERS))
def test_every_attempt_fits_a_partition_without_gpus(name):
    found = {find_partition(name, find_resources(name, attempt)) for attempt in range(1, ATTEMPTS + 1)}
    assert found == {"cpu"}


@pytest.mark.parametrize(
    ("name", "model", "wanted"),
    [("score_model", "Llama-3.2-1B", "a100"), ("score_model", "Qwen2.5-14B", "h100"),
     ("tune_model", "Llama-2-7b", "a100"), ("measure_layers", "Llama-2-7b", "h100"),
     ("measure_layers", "Llama-3.2-1B", "a100"), ("adapt_model", "Llama-3.2-1B+near", "a100"),
     ("adapt_model", "Llama-3.2-3B+near", "h100"), ("train_model", "tiny", "a100")],
)  # fmt: skip
def test_a_job_gets_the_partition_whose_gpus_hold_its_model(needs, name, model, wanted):
    for attempt in range(1, ATTEMPTS + 1):
        assert find_partition(name, ask(needs.find(name, model, attempt))) == wanted, attempt


@pytest.mark.parametrize("name", ["score_model", "measure_layers"])
def test_scoring_on_processors_goes_to_a_partition_without_gpus(name):
    needs = make_needs("results/none", GPU_CARDS, limit=LIMIT, scoring={"device": "cpu"})
    assert find_partition(name, ask(needs.find(name, "Llama-2-7b"))) == "cpu"


def test_a_job_that_ran_out_of_gpu_memory_gets_a_larger_gpu(needs):
    assert find_partition("score_model", ask(needs.find("score_model", "Llama-2-7b"))) == "a100"
    assert find_partition("score_model", ask(needs.find("score_model", "Llama-2-7b", 1, 1))) == "h100"


def test_what_keeps_a_run_from_hanging_or_losing_jobs_is_set():
    assert SETTINGS["slurm-status-command"] == "squeue"
    assert SETTINGS["slurm-no-requeue"] is True
    assert SETTINGS["keep-incomplete"] is True
    assert SETTINGS["slurm-jobname-prefix"] == JOB_PREFIX
    assert "slurm-array-jobs" not in SETTINGS
    assert SETTINGS["default-resources"]["mem_mb"] >= 800
    assert SETTINGS["slurm-logdir"] in (ROOT / "src" / "fathom" / "planning" / "run_hooks.py").read_text()
    default = yaml.safe_load((ROOT / "profiles" / "default" / "config.yaml").read_text())
    assert default == {"rerun-incomplete": True}, "what it sets is set for --profile slurm too"
    assert (ROOT / "slurm").resolve() == PROFILE
