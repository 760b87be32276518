"""What a run checks and says around its jobs, without Snakemake."""

from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from tests.refusals import refuses

from fathom.config.whole import read_config
from fathom.errors import InputError
from fathom.planning import run_hooks
from fathom.planning.hub_checks import Answers
from fathom.planning.run import Run
from fathom.planning.run_hooks import RunHooks, read_profile

ROOT = Path(__file__).resolve().parents[2]
VALUES = {
    "run": "small",
    "domains": {"near": {"categories": ["sklearn"]}},
    "pairs": {"tokenizer": "gpt2"},
    "models": {"score": ["gpt2", "gpt2-medium"], "optional": ["gpt2-medium"]},
}


def make_job(rule, log=(), **wildcards):
    return SimpleNamespace(
        rule=SimpleNamespace(name=rule), wildcards_dict=wildcards, wildcards=SimpleWildcards(wildcards),
        log=list(log), is_group=lambda: False,
    )  # fmt: skip


def make_error(name):
    return InputError(f"no {name}", "here")


class SimpleWildcards(dict):
    def __getattr__(self, name):
        return self[name]


@pytest.fixture
def workflow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_hooks, "check_fetched", lambda *_: Answers([], []))
    return SimpleNamespace(
        is_main_process=True, executor_settings=None,
        resource_settings=SimpleNamespace(default_resources={}), workdir_init=str(tmp_path),
        dag_settings=SimpleNamespace(targets=["all"]), start_time=datetime.now(),
        dag=SimpleNamespace(needrun_jobs=lambda: iter([make_job("score_model", model="gpt2")])),
        scheduler=SimpleNamespace(job_rate_limiter=None, failed=[], run=lambda jobs, executor=None: None),
    )  # fmt: skip


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def hooks(workflow, warnings):
    run = Run(read_config(VALUES, "test"), "my.yaml", "results/small", ROOT)
    return RunHooks(run, workflow, None, warnings.append)


def test_a_run_says_which_models_it_goes_without_unless_it_fetches_them(hooks, workflow, warnings):
    hooks.start()
    assert [each.startswith("left out") and "gpt2-medium" in each for each in warnings] == [True]
    workflow.dag_settings.targets = ["fetch"]
    hooks.start()
    assert len(warnings) == 1


def test_what_cannot_be_fetched_stops_a_run_with_every_message(hooks, warnings, monkeypatch, capsys):
    asked = []

    def refuse(config, registry, jobs):
        asked.extend(jobs)
        return Answers([make_error("a"), make_error("b")], ["the hub is slow"])

    monkeypatch.setattr(run_hooks, "check_fetched", refuse)
    with pytest.raises(SystemExit) as ended:
        hooks.start()
    assert ended.value.code == 1 and asked == [("score_model", {"model": "gpt2"})]
    assert capsys.readouterr().err.count("Error: ") == 2 and warnings[-1] == "the hub is slow"


def test_the_queue_is_asked_where_anything_was_submitted(hooks, workflow, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(run_hooks, "refuse_leftover_jobs", lambda *given: asked.append(given))
    hooks.start()
    assert asked == []
    (tmp_path / "results/slurm-logs").mkdir(parents=True)
    hooks.start()
    workflow.executor_settings = SimpleNamespace(jobname_prefix="mine")
    hooks.start()
    assert asked == [(tmp_path, run_hooks.JOB_PREFIX, False), (tmp_path, "mine", True)]


@pytest.mark.parametrize("given", ["2d", "0", "-1", "1.5", ""])
def test_a_longest_time_that_is_no_number_of_minutes_is_refused(given):
    with refuses(f"max_minutes is {given!r}", "default-resources in the profile"):
        read_profile({"max_minutes": SimpleNamespace(raw=f"'{given}'")})


@pytest.mark.parametrize(("cpu", "gpu", "whose"), [
    ("1-00:00:00", "1-00:00:00", "the partitions give"),
    (10_000, 1440, "the partitions with GPUs give"),
])  # fmt: skip
def test_partitions_shorter_than_the_profile_says_stop_a_run(
    hooks, workflow, tmp_path, capsys, cpu, gpu, whose
):
    limits = {"cpu": {"max_runtime": cpu}, "a100": {"max_runtime": gpu, "max_gpu": 4}}
    path = tmp_path / "partitions.yaml"
    path.write_text(yaml.safe_dump({"partitions": limits}))
    workflow.executor_settings = SimpleNamespace(partition_config=path)
    resources = workflow.resource_settings.default_resources
    resources["max_minutes"] = SimpleNamespace(raw="1440")
    hooks.start()
    resources["max_minutes"] = SimpleNamespace(raw="2880")
    with pytest.raises(SystemExit) as ended:
        hooks.start()
    said = capsys.readouterr().err
    assert ended.value.code == 1
    for part in (str(path), f"{whose} a job at most 1,440 minutes", "2,880", "set max_minutes"):
        assert part in said, part


def test_a_group_asks_for_no_more_time_than_the_cluster_gives(hooks, workflow):
    """Ten jobs, four side by side: on the third attempt three times 240 minutes."""
    from snakemake.jobs import GroupJob
    from snakemake.resources import Resource, Resources

    dag = SimpleNamespace(
        workflow=SimpleNamespace(local_exec=False, attempt=1, execution_settings=SimpleNamespace(attempt=1))
    )
    one = SimpleNamespace(dag=dag, pipe_group=None, resources={"runtime": 240, "side_by_side": 1})
    given = []
    workflow.scheduler.run = lambda jobs, executor=None: given.extend(
        job.resources["runtime"] for job in jobs
    )

    def submit():
        alone = SimpleNamespace(is_group=lambda: False, resources={"runtime": 480})
        group = GroupJob("matches", [one] * 10, Resources({"side_by_side": Resource("side_by_side", 4)}))
        group.toposorted = [[one] * 10]
        workflow.scheduler.run([group, alone])
        return [given.pop(0) for _ in range(2)]

    hooks.start()
    assert submit() == [720, 480]
    workflow.resource_settings.default_resources["max_minutes"] = SimpleNamespace(raw="600")
    hooks.start()
    assert submit() == [600, 480]


def test_failed_jobs_are_explained_and_optional_models_go_on(hooks, workflow, tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(run_hooks.failures, "say_at_the_end", said.append)
    hooks.explain_failures()
    assert said == []
    (tmp_path / "a.log").write_text("Error: there is no such file\n")
    workflow.scheduler.failed = [
        make_job("fetch_model", model="gpt2-medium"),
        make_job("score_model", [tmp_path / "a.log"], model="gpt2"),
    ]
    workflow.dag_settings.targets = ["fetch"]
    hooks.explain_failures()
    assert "gpt2-medium could not be fetched; continuing without it" in said[0]
    assert "score_model" in said[0] and "there is no such file" in said[0]
    workflow.dag_settings.targets = ["all"]
    hooks.explain_failures()
    assert "continuing" not in said[1] and "fetch_model" in said[1]


def test_the_end_of_a_run_names_what_to_read_first(hooks, workflow, tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(run_hooks.failures, "say_at_the_end", said.append)
    cards = [f"results/small/near/benchmark/{variant}/README.md" for variant in ("tf", "tfidf")]
    made = ["results/small/index.html", *cards, "results/small/near/keywords.tsv"]
    workflow.dag.jobs = [SimpleNamespace(output=[name]) for name in made]
    hooks.name_results()
    assert said == [], "no file exists"
    for name in made[1:]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    hooks.name_results()
    (tmp_path / made[0]).touch()
    hooks.name_results()
    workflow.dag.jobs.pop(0)  # a page that this target does not make may be old
    hooks.name_results()
    workflow.is_main_process = False
    hooks.name_results()
    of_cards = f"Results: {cards[0]} and 1 more like it"
    assert said == [of_cards, f"Results: {made[0]}", of_cards]


def test_missing_references_are_said_once_and_by_the_main_process_alone(
    hooks, workflow, warnings, monkeypatch
):
    asked = []
    monkeypatch.setattr(
        run_hooks, "describe_missing_references", lambda *given: asked.append(given[2]) or "lacks"
    )
    style = hooks.find_style("a.mplstyle")
    assert [style(None), hooks.find_style("a.mplstyle", asked=False)(None)] == ["a.mplstyle"] * 2
    assert warnings == ["lacks"] and asked == [["all"]]
    workflow.is_main_process = False
    later = RunHooks(hooks._run, workflow, None, warnings.append)
    assert later.find_style("a.mplstyle")(None) == "a.mplstyle" and len(warnings) == 1


def test_leftover_jobs_end_with_their_message(hooks, tmp_path, monkeypatch, capsys):
    (tmp_path / "results/slurm-logs").mkdir(parents=True)

    def refuse(*_):
        raise make_error("place in the queue")

    monkeypatch.setattr(run_hooks, "refuse_leftover_jobs", refuse)
    with refuses(error=SystemExit):
        hooks.start()
    assert "no place in the queue" in capsys.readouterr().err
