"""A run is known before its first job, and what its jobs get is found by their wildcards."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from tests.refusals import refuses

from fathom.io import paths
from fathom.io.files import hash_file, write_json
from fathom.planning.apart import Marks, RunStorage
from fathom.planning.run import Run, RunJobs, read_checked

ROOT = Path(__file__).resolve().parents[2]
VALUES = {
    "run": "small",
    "corpus": {"source": "jsonl", "files": ["mine.jsonl"]},
    "domains": {"near": {"categories": ["near"], "title": "Near things"},
                "far": {"categories": ["far"], "benchmark": False}},
    "pairs": {"tokenizer": "gpt2"},
    "models": {"score": ["gpt2"], "on_disk": 1},
}  # fmt: skip


@pytest.fixture(autouse=True)
def _work_in_a_folder_with_a_corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.jsonl").write_text("{}\n")


def find(profile=None, **changes):
    config, source = read_checked(VALUES | changes, ["my.yaml"], ROOT)
    return Run(config, source, "results/small", ROOT, profile)


def make_jobs(run, in_module=False):
    workflow = SimpleNamespace(
        is_main_process=True, remote_exec=False, configfiles=[],
        modifier=SimpleNamespace(is_main_snakefile=lambda: not in_module),
        storage_settings=SimpleNamespace(default_storage_provider=None),
    )  # fmt: skip
    marks = Marks(lambda path: f"old {path}", lambda path, *_: path, str, os.path.exists)
    return RunJobs(run, RunStorage(workflow, "small", ROOT, marks))


def job(**wildcards):
    return SimpleNamespace(**wildcards)


def test_a_wrong_configuration_is_refused_by_its_files_and_the_command_line():
    with refuses("gpt3", "my.yaml, --config", "models.score"):
        read_checked(VALUES | {"models": {"score": ["gpt3"]}}, ["my.yaml"], ROOT, given=True)
    with refuses("domans", "config"):
        read_checked({"domans": {}}, [], ROOT)


def test_a_key_that_stands_twice_in_a_file_is_refused(tmp_path):
    (tmp_path / "my.yaml").write_text("run: a\nrun: b\n")  # Snakemake takes the last one in silence
    with refuses("my.yaml", "'run'"):
        read_checked(VALUES, [str(tmp_path / "my.yaml")], ROOT)


def test_a_run_goes_without_optional_models_that_were_not_fetched(tmp_path):
    models = {"score": ["gpt2", "gpt2-medium"], "optional": ["gpt2-medium"]}
    assert (run := find(models=models)).left_out == ["gpt2-medium"]
    assert run.config.models.scored == ["gpt2"]
    (tmp_path / "results/small/models/gpt2-medium").mkdir(parents=True)
    (tmp_path / "results/small/models/gpt2-medium/model.json").touch()
    assert find(models=models).left_out == []


def test_what_is_missing_and_what_fits_no_gpu_stops_a_run():
    with refuses("corpus.files", "no.jsonl"):
        find(corpus={"source": "jsonl", "files": ["no.jsonl"]})
    with refuses("sentences.splitter"):
        find(sentences={"splitter": "xx_no_pipeline"})
    large = {"score": ["Qwen2.5-14B"]}
    assert find(models=large).needs.find("score_model", "Qwen2.5-14B").gpus == 1
    with refuses("gpu_cards", "Qwen2.5-14B"):
        find({"gpu_cards": "small:8000"}, models=large)


def test_fetched_helpers_are_inputs_only_where_they_are_needed():
    assert find(sentences={"splitter": "rules"}).fetched_pipeline == []
    hub = {"model": "org/embedder", "revision": "0" * 40}
    assert find(embedding=hub).fetched_embedder == ["results/small/corpus/embedder.json"]


def test_an_order_that_is_not_known_yet_is_said():
    study = {"base": "gpt2", "evaluation_domain": "near", "candidates": ["far", "near"]}
    (warning,) = find(models={"score": ["gpt2"], "continual": {"mine": study}}).warn()
    assert "models.continual.mine" in warning and "results/small/orders/mine.yaml" in warning
    assert list(find().warn()) == []


def test_files_from_outside_are_absolute_in_a_module(tmp_path):
    run = find()
    assert make_jobs(run).outside("mine.jsonl") == "mine.jsonl"
    assert make_jobs(run, in_module=True).outside("mine.jsonl") == str(tmp_path / "mine.jsonl")
    assert make_jobs(run).own("config/models.tsv") == str(ROOT / "config" / "models.tsv")


def test_a_shard_with_a_newer_date_and_the_same_bytes_is_old(tmp_path):
    jobs, part = make_jobs(find()), job(part="mine.jsonl")
    assert jobs.find_shard(part) == "mine.jsonl" and len(jobs.sample_shard(part)) > 0
    report = Path(paths.DOCUMENTS.of(part="mine.jsonl").ending(".json").under("results/small"))
    report.parent.mkdir(parents=True)
    write_json(report, {"input": {"bytes": 3, "sha256": hash_file("mine.jsonl")}})
    os.utime(tmp_path / "mine.jsonl", (2e9, 2e9))
    assert jobs.find_shard(part) == "old mine.jsonl"
    (tmp_path / "mine.jsonl").write_text("[]\n")
    os.utime(tmp_path / "mine.jsonl", (2.1e9, 2.1e9))
    assert jobs.find_shard(part) == "mine.jsonl"


def test_a_job_gets_what_belongs_to_its_slice_and_domain(tmp_path):
    with (tmp_path / "mine.jsonl").open("wb") as stream:
        stream.truncate(25_000_000)
    jobs = make_jobs(find(targets={"phrases": {"near": "nearness"}}))
    second = job(slice="mine.jsonl.2-of-3")
    assert jobs.find_documents(second) == "<results>/corpus/documents/mine.jsonl.parquet"
    assert jobs.number_slice(second) == [2, 3]
    assert [jobs.find_title(job(domain=name)) for name in ("near", "far")] == ["Near things", "far"]
    assert [jobs.find_phrase(job(domain=name)) for name in ("near", "far")] == ["nearness", "far"]


def test_what_targets_are_near_to_is_the_title_as_it_is_written():
    domains = {name: {"categories": [name], "title": "Things"} for name in ("near", "far")}
    jobs = make_jobs(find(domains=domains))
    assert [jobs.find_title(job(domain=name)) for name in domains] == ["Things (near)", "Things (far)"]
    assert [jobs.find_phrase(job(domain=name)) for name in domains] == ["Things", "Things"]


def test_a_fetched_model_is_known_by_its_own_row_and_its_weights_never_by_date():
    jobs, model = make_jobs(find()), job(model="gpt2")
    assert jobs.find_pointer(model) == jobs.name_pointer(model) == "results/small/models/gpt2/model.json"
    assert jobs.find_weights(model) == ["old results/small/models/gpt2/weights"]
    assert jobs.keep_finished("scores")(model) == "results/small/models/gpt2/finished/scores"
    entry = json.loads(jobs.find_entry(model))
    assert entry["name"] == "gpt2" and "weights" not in entry
    assert make_jobs(find(models={"score": ["gpt2"]})).find_weights(model) == []


def test_a_task_is_made_from_its_file_or_from_what_the_run_makes(tmp_path):
    (tmp_path / "texts.jsonl").touch()
    tasks = {"own": {"kind": "text", "file": "texts.jsonl"}, "held": {"kind": "text", "domain": "near"},
             "asked": {"kind": "completion", "domain": "near", "variant": "tf"}}  # fmt: skip
    models = {"score": ["gpt2", "toy"], "train": {"toy": {"domain": "far"}}}
    jobs = make_jobs(find(models=models, train_before_test={"tasks": tasks, "models": ["gpt2"]}))
    sources = {name: jobs.find_task_source(job(task=name)) for name in tasks}
    assert sources == {
        "own": "texts.jsonl",
        "held": "results/small/corpus/texts/near.parquet",
        "asked": "results/small/near/benchmark/tf/pairs.parquet",
    }
    overlaps = {name: jobs.find_task_overlap(job(task=name)) for name in tasks}
    assert overlaps == {"own": [], "held": [], "asked": "results/small/near/benchmark/tf/overlap.parquet"}


def test_questions_come_from_files_from_pairs_and_from_a_model_that_writes():
    values = yaml.safe_load((ROOT / "config" / "courses.yaml").read_text())
    run = Run(*read_checked(values, ["courses.yaml"], ROOT), "results/courses", ROOT)
    jobs, chosen = make_jobs(run), job(set="courses")
    assert jobs.find_questions("source")(chosen) == str(ROOT / "config/questions/courses/tables.yaml")
    assert len(jobs.find_questions("tables")(chosen)) == 3
    people = jobs.find_questions("users")(chosen)
    assert people == jobs.find_open_questions(chosen) and jobs.find_joining_pairs(chosen) == []
    values["models"]["score"] = ["gpt2"]
    values["coverage"]["questions"]["courses"] |= {"writer": "gpt2", "written": 2}
    run = Run(*read_checked(values, ["courses.yaml"], ROOT), "results/courses", ROOT)
    jobs = make_jobs(run)
    assert jobs.find_open_questions(chosen) == [*people, "<results>/questions/courses/written.jsonl"]
    assert jobs.find_writer(chosen) == "results/courses/models/gpt2/model.json"
    assert jobs.find_writer_weights(chosen) == []
    asked = run.needs.find("answer_questions", "gpt2")
    found = {name: find(chosen, 1) for name, find in jobs.ask_for_writer().items()}
    assert found["runtime"] == asked.minutes and found["mem_mb"] == asked.host_mb
    assert set(found) == {"mem_mb", "runtime", "gpu", "gpu_mem_mb", "gpu_model"}
