"""Wrong words after `fathom`: a message before anything is fetched, and nothing written."""

from pathlib import Path

import pytest
from tests.programs import run_command
from tests.refusals import refuses

from fathom.commands.main import main
from fathom.corpus.own_texts import read_texts
from fathom.io.files import require_file

OFFLINE = {"HF_HUB_OFFLINE": "1"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pairs.jsonl").write_text('{"prompt": "The cat sat on the", "target": " mat"}\n')
    (tmp_path / "cut.jsonl").write_text('{"prompt": "The cat sat on the", "target": " mat"}\n{"prompt": 3')
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").touch()
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "--separate", ".", "--bits", "nan"], ["plan", "--separate", ".", "--factors", "inf"],
        ["watch", "docs", "--pairs", "pairs.jsonl", "--every", "inf"],
        ["watch", "docs", "--pairs", "pairs.jsonl", "--idle", "nan"],
        ["watch", "docs", "--pairs", "pairs.jsonl", "--every", "soon"],
        ["questions", ".", "--most", "-1"],
    ],
)  # fmt: skip
def test_numbers_that_are_none_are_wrong_arguments(folder: Path, words: list[str]) -> None:
    before = sorted(folder.rglob("*"))
    assert repr(words[-1]) in run_command(*words, folder=folder, code=2).stderr
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["score", "gpt2", "cut.jsonl"], "cut.jsonl, line 2"),
        (["score", "gpt2", "docs"], "docs: this is a folder"),
        (["score", "gpt2", "pairs.jsonl", "--output", "a.parquet", "b.parquet"], "--output"),
        (["bits", "none", "--models", "gpt2"], "none: there is no such file or folder"),
        (["watch", "docs", "--pairs", "none.jsonl", "--base", "gpt2"], "none.jsonl: there is no such file"),
    ],
)
def test_what_is_here_is_looked_at_before_a_model_is_fetched(
    folder: Path, words: list[str], message: str
) -> None:
    before = sorted(folder.rglob("*"))
    with refuses(message):
        run_command(*words, folder=folder, environment=OFFLINE | {"HF_HOME": str(folder / "home")})
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(("words", "right"), [
    (["scoer"], "score"), (["models", "lits"], "list"),
    (["watch", "docs", "--fail-on", "forgeting"], "forgetting"),
])  # fmt: skip
def test_a_wrong_choice_is_told_the_nearest_one(capsys, words, right):
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr().err.rpartition("error: ")[2]
    assert ended.value.code == 2 and repr(words[-1]) in said and f"did you mean {right}?" in said
    assert "_" not in said  # names as they are typed


def test_a_wrong_gpu_is_named_by_its_option(folder: Path) -> None:
    with refuses("--gpu-cards: 'a100'") as caught:
        run_command("plan", "--gpu-cards", "a100", folder=folder)
    assert str(caught.value).count("Hint: ") == 1


def test_texts_without_text_say_why(folder: Path) -> None:
    with refuses("docs", "left out: files: the file is empty 1") as caught:
        read_texts([str(folder / "docs")], {}, 1000)
    assert "duplicates" not in str(caught.value)


def test_a_folder_is_no_file(folder: Path) -> None:
    with refuses("docs: this is a folder"):
        require_file(folder / "docs")


def test_an_answer_without_any_entry_is_refused_with_its_faults(folder: Path) -> None:
    (folder / "answer.txt").write_text("Sorry.\n")
    (folder / "list.txt").write_text("graphs\n")
    with refuses("no entry", "faults.csv"):
        run_command("request", "read", "--answer", "answer.txt", "--categories", "list.txt", "--output",
                    "own.jsonl", "--faults", "faults.csv", folder=folder)  # fmt: skip
    assert "graphs" in (folder / "faults.csv").read_text() and not (folder / "own.jsonl").exists()
