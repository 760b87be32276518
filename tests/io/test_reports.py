"""Reports of steps that are damaged or of another version are refused by file and key where they are read."""

import json
from pathlib import Path

import pytest
from tests.programs import run_program
from tests.refusals import refuses

from fathom.benchmark.run_changes import compare_inputs, count_reuse
from fathom.corpus.join_report import describe_reading
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.reports import Join, Part, Tuned, read_report
from fathom.jobs.file_contents import is_unchanged

INPUT = {"file": "a.jsonl", "bytes": 3, "sha256": "0" * 64}
FOLDER = {
    "door": "folder",
    "input": INPUT,
    "files": {"read": 1, "skipped": {"hidden": {"count": 1, "examples": [".a"]}}, "little_prose": {"b": 0.1}},
    "paragraphs_left_out": {"code": 1},
    "gaps": 0,
    "left_out": {"short": 1},
    "malformed": {"count": 1, "first": [{"file": "a.jsonl", "line": 1}]},
    "another": "key",
}
JOINED = {
    "files": {
        "read": 1,
        "skipped": {"hidden": {"count": 1, "examples": [".a"]}},
        "little_prose": {"count": 1, "files": {"b": 0.1}},
    },
    "groups": {
        "copies": {
            "documents": 1,
            "files": [{"file": "b", "documents": 1, "copies": 1, "of": "c", "of_it": 1}],
        }
    },
}
STEP = {"documents": 2, "reused_documents": 1, "sentences": 4, "reused_sentences": 1, "method": {"a": 1}}


def list_places(value, above=()):
    """Yield the way to each value of some JSON."""
    yield above
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from list_places(each, (*above, key))


def change(value, place, new):
    """Return some JSON with another value at a place; `...`: with none."""
    whole = [json.loads(json.dumps(value))]
    holder, last = whole, 0
    for key in place:
        holder, last = holder[last], key
    if new is ...:
        del holder[last]
    else:
        holder[last] = new
    return whole[0] if whole else None


@pytest.mark.parametrize(("report", "shape"), [(FOLDER, Part), (JOINED, Join)])
def test_a_report_is_read_as_it_stands(tmp_path, report, shape):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(report))
    assert read_report(path, shape) == report


@pytest.mark.parametrize(("report", "shape", "use"), [(FOLDER, Part, None), (JOINED, Join, describe_reading)])
def test_what_a_damaged_report_says_is_whole_where_it_is_used(tmp_path, report, shape, use):
    path, refused = tmp_path / "a.json", 0
    for place in list_places(report):
        for new in (None, "x", [], {}, ...):
            path.write_text(json.dumps(change(report, place, new)))
            try:
                found = read_report(path, shape)
            except InputError as error:
                refused += 1
                assert str(path) in str(error) and error.hint
            else:
                if use:
                    use(found)
    assert refused > 40


@pytest.mark.parametrize("value", [None, [], "x", {"input": None}, {"input": {"file": "a"}}])
def test_readers_of_other_runs_and_of_dates_name_the_file(tmp_path, value):
    report = tmp_path / paths.DOCUMENTS.of(part="a.jsonl").ending(".json").below
    report.parent.mkdir(parents=True)
    report.write_text(json.dumps(value))
    shard, memory = tmp_path / "a.jsonl", tmp_path / "m.json"
    shard.write_bytes(b"{}\n")
    for read in (
        lambda: compare_inputs(tmp_path, tmp_path),
        lambda: is_unchanged(shard, report, memory),
        lambda: run_program("gather_timings", "--folder", tmp_path, "--table", tmp_path / "t.csv"),
    ):
        (tmp_path / "timings").mkdir(exist_ok=True)
        with refuses(report):
            read()


def test_a_memory_that_is_damaged_is_made_again(tmp_path):
    shard, report, memory = (tmp_path / name for name in ("a.jsonl", "a.json", "m.json"))
    report.write_text(json.dumps({"door": "jsonlines", "input": INPUT}))
    shard.write_bytes(b"{}\n")
    for said in ("null", "{", '{"bytes": 3, "mtime_ns": []}'):
        memory.write_text(said)
        assert not is_unchanged(shard, report, memory)
        assert json.loads(memory.read_text())["bytes"] == 3


@pytest.mark.parametrize("value", [None, {}, STEP | {"documents": None}, STEP | {"reused_documents": "1"}])
def test_reuse_is_counted_from_whole_reports(tmp_path, value):
    report = tmp_path / paths.SENTENCES.of(slice="a").ending(".json").below
    report.parent.mkdir(parents=True)
    report.write_text(json.dumps(STEP))
    first = count_reuse(tmp_path)[0]
    assert (first.kept, first.now) == (1, 2)
    report.write_text(json.dumps(value))
    with refuses(report):
        count_reuse(tmp_path)


def test_a_tuning_without_a_score_is_refused_by_its_key(tmp_path: Path):
    path = tmp_path / "m.json"
    templates = {"direct": "plain", "tuned": "plain"}
    path.write_text(json.dumps({"metric": "acc", "templates": templates, "direct": 1, "chosen": 1}))
    with refuses(path, "tuned"):
        read_report(path, Tuned)
