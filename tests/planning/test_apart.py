"""What goes to jobs that see no file of the machine that plans them."""

from pathlib import Path

import pytest
from tests.tables import write_models

from fathom.config.whole import Config, read_config
from fathom.errors import InputError
from fathom.models.registry import read_registry
from fathom.planning.apart import Findings, check_stored, require_git, require_sent
from fathom.planning.outputs import Outputs
from fathom.planning.question_files import QuestionFiles
from fathom.planning.run_inputs import Inputs, find_inputs

LORA = {"base": "small", "paths": [["near"]], "lora": {}}
WHOLE = {"base": "small", "paths": [["far"]]}


def configure(folder: Path, **changes: object) -> Config:
    """Return the configuration of a run on two files."""
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).write_text(
            '{"id": "1", "text": "A model learns.", "categories": ["near"]}\n' * 30_000
        )
    values = {
        "run": "mine",
        "corpus": {"source": "jsonl", "files": ["a.jsonl", "b.jsonl"], "slice_mb": 1},
        "domains": {"near": {"categories": ["near"]}, "far": {"categories": ["far"], "benchmark": False}},
        "pairs": {"tokenizer": "small"},
        "models": {"score": ["small", "small+near", "small+far"], "adapt": [LORA, WHOLE]},
    }
    return read_config(values | changes, "test")


def forbid() -> Inputs:
    """Stand for looking at files where there are none."""
    raise AssertionError


def test_a_job_elsewhere_knows_what_was_found_where_the_run_was_planned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = configure(tmp_path)
    found = Findings(Path("kept.json"), reads=False).recall(
        "inputs", Inputs, lambda: find_inputs(config, "results/mine")
    )
    assert len(found.slices) > len(found.parts) == 2
    known = Findings(Path("kept.json"), reads=True).recall("inputs", Inputs, forbid)
    assert known == found
    assert [each.name for each in known.slices.values()] == [*known.slices]


def test_several_findings_lie_in_one_file(tmp_path):
    files = {"mine": QuestionFiles(Path("a.txt"), [Path("b.csv")], [], [], [("near", "tf")])}
    findings = Findings(tmp_path / "deep" / "kept.json", reads=False)
    assert findings.recall("names", list[str], lambda: ["a"]) == ["a"]
    findings.recall("questions", dict[str, QuestionFiles], lambda: files)
    known = Findings(findings.path, reads=True)
    assert known.recall("names", list[str], forbid) == ["a"]
    assert known.recall("questions", dict[str, QuestionFiles], forbid) == files


def test_code_that_git_does_not_know_would_reach_no_job(tmp_path):
    (tmp_path / "clone" / ".git").mkdir(parents=True)
    require_git(tmp_path / "clone")
    with pytest.raises(InputError, match=str(tmp_path)):
        require_git(tmp_path)


def test_a_file_that_no_job_would_have_is_named(tmp_path):
    require_sent(tmp_path / "a" / "models.tsv", [tmp_path / "a"])
    with pytest.raises(InputError, match=r"models\.tsv: "):
        require_sent(tmp_path / "models.tsv", [tmp_path / "a", tmp_path / "b"])


@pytest.mark.parametrize(
    ("model", "wanted"),
    [("small", ["small"]), ("small+far", ["small+far"]), ("small+near", ["small+near", "small"])],
)
def test_with_a_storage_weights_are_inputs_an_adapter_with_its_base(tmp_path, monkeypatch, model, wanted):
    monkeypatch.chdir(tmp_path)
    config = configure(tmp_path)
    inputs = find_inputs(config, "results/mine")
    stored = Outputs(config, inputs, "results/mine", stored=True)
    assert stored.fetched_weights == ["small"]
    assert stored.find_weights(model) == [f"results/mine/models/{name}/weights" for name in wanted]
    assert stored.list_before("small") == []
    local = Outputs(config, inputs, "results/mine")
    assert (local.fetched_weights, local.find_weights(model)) == ([], [])


def test_what_a_run_with_a_storage_cannot_do_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = configure(tmp_path)
    table = write_models(tmp_path / "models.tsv", {"name": "small", "source": "small"})
    rows = read_registry(table)
    check_stored(config, rows, ())
    with pytest.raises(InputError, match=r"behind a server.*small"):
        check_stored(config, rows, ["small"])
    with pytest.raises(InputError, match="previous"):
        check_stored(configure(tmp_path, previous="older"), rows, ())
