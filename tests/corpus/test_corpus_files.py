"""Which files a corpus is read from."""

from pathlib import Path

import pytest
from tests.refusals import refuses

from fathom.corpus.corpus_files import METADATA_NAME, find_dump, find_json_lines


def make_dump(folder: Path, metadata: str = METADATA_NAME, shards: tuple[str, ...] = ("a.jsonl",)) -> Path:
    (folder / "redpajama").mkdir(parents=True)
    (folder / metadata).touch()
    for shard in shards:
        (folder / "redpajama" / shard).touch()
    return folder


def test_dump_lists_shards_by_name_and_the_metadata(tmp_path):
    dump = make_dump(tmp_path, METADATA_NAME + ".zst", ("b.jsonl.gz", "a.jsonl.zst", "notes.txt", "c.jsonl"))
    shards, metadata = find_dump(dump)
    assert list(shards) == ["a.jsonl.zst", "b.jsonl.gz", "c.jsonl"]
    assert metadata.name == METADATA_NAME + ".zst"


def test_dump_of_abstracts_only_has_no_shards(tmp_path):
    (tmp_path / METADATA_NAME).touch()
    assert find_dump(tmp_path) == ({}, tmp_path / METADATA_NAME)


@pytest.mark.parametrize(("files", "problem"), [
    ([], "no such folder"), (["redpajama/a.jsonl"], METADATA_NAME),
    ([METADATA_NAME, METADATA_NAME + ".gz"], "2 metadata"),
])  # fmt: skip
def test_a_dump_without_one_file_of_metadata_is_refused(tmp_path, files, problem):
    for name in files:
        (tmp_path / "dump" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "dump" / name).touch()
    with refuses(problem, tmp_path / "dump"):
        find_dump(tmp_path / "dump")


def test_files_and_folders_of_json_lines(tmp_path):
    (tmp_path / "more").mkdir()
    for name in ("one.jsonl", "more/two.jsonl.gz", "more/three.txt"):
        (tmp_path / name).touch()
    assert list(find_json_lines([str(tmp_path / "one.jsonl"), str(tmp_path / "more")])) == [
        "one.jsonl",
        "two.jsonl.gz",
    ]


@pytest.mark.parametrize(("names", "entries", "problem"), [
    ([], [], "no input files are given"),
    ([], ["missing.jsonl"], "there is no such file or folder"),
    (["empty/note.txt"], ["empty"], "holds no .jsonl file"),
    (["a/x.jsonl", "b/x.jsonl"], ["a", "b"], "has the same name as"),
    (["x.jsonl"], ["x.jsonl", "x.jsonl"], "listed twice"),
    (["a/x.jsonl"], ["a", "a/../a"], "listed twice"),
    (["a/x.jsonl"], ["a/x.jsonl", "a"], "listed twice"),
    (["my cases.jsonl"], ["my cases.jsonl"], "blanks or special characters"),
])  # fmt: skip
def test_bad_entries_are_named(tmp_path, names, entries, problem):
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with refuses(problem, *entries[-1:]):
        find_json_lines([str(tmp_path / entry) for entry in entries])
