"""What a run reads is found before it starts, without Snakemake."""

import os
from pathlib import Path

import pytest
from tests.refusals import refuses

from fathom.config.whole import read_config
from fathom.io import paths
from fathom.io.files import hash_file, write_json
from fathom.jobs.job_slices import Slice
from fathom.planning.run_inputs import (
    find_inputs,
    is_unchanged_input,
    measure_folder,
    require_reference,
    sample_input,
)

ROOT = Path(__file__).resolve().parents[2]
DOMAINS = {"domains": {"near": {"categories": ["near"]}, "far": {"categories": ["far"]}},
           "pairs": {"tokenizer": "tiny"},
           "models": {"train": {"tiny": {"domain": "far"}}}}  # fmt: skip
TASKS = {"tasks": {"near": {"kind": "text", "file": "texts.jsonl"}}}


def find(values, results="results/demo"):
    return find_inputs(read_config(values, "test"), results)


@pytest.fixture(autouse=True)
def _work_in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_packages_are_parts_without_files_and_json_lines_have_no_abstract_parts(tmp_path):
    found = find(DOMAINS | {"corpus": {"packages": ["scipy", "numpy"]}})
    assert found.shards == {"scipy": None, "numpy": None}
    assert (found.parts, found.metadata, found.abstract_parts) == (["numpy", "scipy"], None, [])
    assert (found.score_files, found.conditions, found.previous) == ([], ["direct"], "")
    (tmp_path / "mine.jsonl").touch()
    found = find(DOMAINS | {"corpus": {"source": "jsonl", "files": ["mine.jsonl"]}})
    assert (found.parts, found.metadata) == (["mine.jsonl"], None)


def test_a_reference_that_is_not_there_is_named_unless_a_run_makes_it(tmp_path):
    with refuses("references.near", "none.csv"):
        require_reference("none.csv", "references.near")
    require_reference("results/demo/made.csv", "references.near")
    (tmp_path / "none.csv").touch()
    require_reference("none.csv", "references.near")


def test_files_too_large_to_be_read_count_nothing(tmp_path):
    for name, size in (("a.txt", 2_000_000), ("giant.txt", 300_000_000)):
        with (tmp_path / name).open("wb") as stream:
            stream.truncate(size)
    values = DOMAINS | {"corpus": {"source": "folder", "files": [str(tmp_path)]}}
    assert measure_folder(read_config(values, "test")) == {"files-1-of-1": 2.0}
    values["corpus"]["max_file_mb"] = 300
    assert sum(measure_folder(read_config(values, "test")).values()) == 302


def test_a_dump_has_shards_and_parts_for_abstracts(tmp_path):
    (tmp_path / "redpajama").mkdir()
    for name in ("arxiv-metadata-oai-snapshot.json", "redpajama/b.jsonl", "redpajama/a.jsonl.zst"):
        (tmp_path / name).touch()
    corpus = {"source": "arxiv", "abstract_parts": 2}
    found = find(DOMAINS | {"corpus": corpus, "dump": str(tmp_path)})
    assert found.parts == ["a.jsonl.zst", "b.jsonl", "abstracts-00", "abstracts-01"]
    assert found.metadata == tmp_path / "arxiv-metadata-oai-snapshot.json"
    assert found.shards["b.jsonl"] == tmp_path / "redpajama/b.jsonl"


def test_large_json_lines_are_divided_by_their_size_alone(tmp_path):
    for name, size in (("a.jsonl", 25_000_000), ("b.jsonl", 10_000_000), ("c.jsonl.gz", 6_000_000)):
        with (tmp_path / name).open("wb") as stream:
            stream.truncate(size)
    corpus = {"source": "jsonl", "files": ["a.jsonl", "b.jsonl", "c.jsonl.gz"]}
    found = find(DOMAINS | {"corpus": corpus})
    assert found.parts == ["a.jsonl", "b.jsonl", "c.jsonl.gz"]
    assert list(found.slices) == ["a.jsonl.1-of-3", "a.jsonl.2-of-3", "a.jsonl.3-of-3", "b.jsonl",
                                  "c.jsonl.gz.1-of-3", "c.jsonl.gz.2-of-3", "c.jsonl.gz.3-of-3"]  # fmt: skip
    assert found.slices["a.jsonl.2-of-3"] == Slice("a.jsonl", 2, 3)
    assert list(find(DOMAINS | {"corpus": {**corpus, "slice_mb": 100}}).slices) == found.parts


def test_shards_of_a_dump_stay_whole_unless_told_otherwise(tmp_path):
    (tmp_path / "redpajama").mkdir()
    (tmp_path / "arxiv-metadata-oai-snapshot.json").touch()
    with (tmp_path / "redpajama" / "a.jsonl").open("wb") as stream:
        stream.truncate(50_000_000)
    corpus = {"source": "arxiv", "abstract_parts": 1}
    assert list(find(DOMAINS | {"corpus": corpus, "dump": "."}).slices) == ["a.jsonl", "abstracts-00"]
    found = find(DOMAINS | {"corpus": corpus | {"slice_mb": 25}, "dump": "."})
    assert list(found.slices) == ["a.jsonl.1-of-2", "a.jsonl.2-of-2", "abstracts-00"]


def test_a_file_named_like_a_slice_is_refused(tmp_path):
    (tmp_path / "a.jsonl.1-of-2").touch()
    with (tmp_path / "a.jsonl").open("wb") as stream:
        stream.truncate(20_000_000)
    with refuses("slice"):
        find(DOMAINS | {"corpus": {"source": "jsonl", "files": ["a.jsonl", "a.jsonl.1-of-2"]}})


def test_a_folder_of_scores_names_files_and_conditions(tmp_path):
    (tmp_path / "scores").mkdir()
    for name in ("before.csv", "before_stderr.csv", "after.csv"):
        (tmp_path / "scores" / name).touch()
    found = find({"scores": "scores", "train_before_test": TASKS})
    assert sorted(found.conditions) == ["after", "before"]
    assert "scores/before_stderr.csv" in found.score_files
    assert (found.tasks, found.tuned_models, found.shards) == ({}, [], {})


def test_tasks_are_tuned_by_the_models_that_are_scored(tmp_path):
    (tmp_path / "texts.jsonl").touch()
    found = find(DOMAINS | {"train_before_test": TASKS})
    assert list(found.tasks) == ["near"] and found.tuned_models == ["tiny"]
    assert found.conditions == ["direct_eval", "train_before_test"]


@pytest.mark.parametrize(
    ("values", "message"),
    [({"corpus": {"source": "jsonl", "files": ["none.jsonl"]}}, "none.jsonl: there is no such file"),
     ({"train_before_test": TASKS}, "train_before_test.tasks.near.file = texts.jsonl: there is no such"),
     ({"previous": "older"}, "its index is missing")],
)  # fmt: skip
def test_what_is_missing_is_named(values, message):
    with refuses("Hint", message):
        find(DOMAINS | values)


def test_tasks_without_a_model_are_refused(tmp_path):
    (tmp_path / "texts.jsonl").touch()
    with refuses("model", "tune"):
        find({"train_before_test": TASKS})


def test_the_earlier_run_lies_beside_this_one(tmp_path):
    corpus = tmp_path / "elsewhere" / "older" / "corpus"
    corpus.mkdir(parents=True)
    (corpus / "index.parquet").touch()
    assert find(DOMAINS | {"previous": "older"}, "elsewhere/new").previous == "elsewhere/older"


def test_a_touched_input_is_unchanged_and_a_sample_notices_another_content(tmp_path):
    shard, report = tmp_path / "a.jsonl", tmp_path / "results/run/corpus/documents/a.jsonl.json"
    shard.write_text("{}\n")
    write_json(report, {"input": {"bytes": 3, "sha256": hash_file(shard)}})
    table = paths.DOCUMENTS.of(part="a.jsonl")
    assert not is_unchanged_input(shard, Path("results/run"), table)  # older than its report
    newer = report.stat().st_mtime_ns + 10**9
    os.utime(shard, ns=(newer, newer))
    assert is_unchanged_input(shard, Path("results/run"), table)
    before = sample_input(shard)
    shard.write_text("[]\n")
    assert sample_input(shard) != before and sample_input("none") == sample_input(None) == ""
