from pathlib import Path

from tests.refusals import refuses

from fathom.benchmark.benchmark_files import PACKAGES, drop_folders, find_versions, make_manifest
from fathom.config.whole import Config
from fathom.io.files import hash_file

VALUES = {
    "domains": {"graphs": {"categories": ["cs.AI"]}, "other": {"categories": ["cs.CL"], "benchmark": False}},
    "pairs": {"tokenizer": "gpt2"},
}


def make(files: dict[str, Path] | None = None, **changes) -> dict:
    config = Config.model_validate({**VALUES, **changes})
    return make_manifest(
        files or {}, config, "graphs", "tfidf", {"inputs": [{"file": "a", "sha256": "b"}]}, {}
    )


def test_files_are_hashed_under_their_names(tmp_path):
    path = tmp_path / "anything"
    path.write_text("content")
    assert make({"pairs.jsonl": path})["files"] == {"pairs.jsonl": hash_file(path)}


def test_a_missing_file_is_an_error(tmp_path):
    with refuses("no such file"):
        make({"pairs.jsonl": tmp_path / "none"})


def test_only_what_a_benchmark_depends_on_is_in():
    assert make(scoring={"batch_tokens": 7}, run="other", dump="/data/arxiv") == make()
    assert make(pairs={"tokenizer": "gpt2", "seed": 1}) != make()
    assert make(vocabulary={"min_cosine": 0.2}) != make()
    assert make()["parameters"]["domain"]["categories"] == ["cs.AI"]
    assert make(sentences={"limit": 900})["parameters"]["sentences"]["limit"] == 900
    assert "limit" not in make()["parameters"]["sentences"]  # as in manifests from before there was one


def test_versions_are_public_ones_of_installed_packages():
    found = find_versions()
    assert set(found) <= {"fathom", *PACKAGES} and {"fathom", "polars"} <= set(found)
    assert not any("+" in version for version in found.values())


def test_local_paths_become_file_names():
    value = {"a": ["/x/y/z.gz", "~/m", "org/model"], "b": {"c": ("../d/e", 1, None)}, "text": "and/or"}
    assert drop_folders(value) == {
        "a": ["z.gz", "m", "org/model"], "b": {"c": ["e", 1, None]}, "text": "and/or",
    }  # fmt: skip
