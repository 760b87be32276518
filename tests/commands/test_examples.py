"""Help of every verb ends with examples that run as they stand, and shells complete what it has."""

import argparse
import shlex
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.benchmark.test_reference_request import PROMPT, pair
from tests.explorer.runs import write_questions, write_run
from tests.tables import write_delimited
from tests.test_notebook import ROWS, write_model

from fathom.commands import check_gpu
from fathom.commands.main import main, make_parser
from fathom.commands.verbs import VerbParser
from fathom.io.files import write_json_lines
from fathom.planning.builds import look_at, write_configuration

TEXT = "The court of number {} hears the appeal of the plaintiff. The judge rejects it.\n"


def list_verbs() -> dict[str, VerbParser]:
    """Return the parsers of all verbs."""
    (verbs,) = (each for each in make_parser()._actions if isinstance(each, argparse._SubParsersAction))
    return dict(verbs.choices)


EXAMPLES = [each for parser in list_verbs().values() for each in parser.examples]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all that examples name."""
    folder = tmp_path_factory.mktemp("examples")
    write_model(folder)
    shutil.copytree(folder / "gpt2", folder / "path" / "to" / "model")
    shutil.copytree(folder / "gpt2", folder / "checkpoints" / "checkpoint-1")
    more = [
        {"prompt": "It maximizes the expected", "target": " reward"},
        {"prompt": "The", "target": " agent"},
    ]
    write_json_lines(folder / "pairs.jsonl", [*ROWS, *more])  # a watch names keywords of three targets
    write_json_lines(folder / "corpus.jsonl", [{"text": TEXT.format(number)} for number in range(3)])
    for name in ("docs", "demo"):
        write_run(folder / "results" / name, {"alpha": 1.0, "beta": 9.0}, keywords=4, each=5)
    (folder / "results" / "courses").mkdir()
    write_questions(folder / "results" / "courses")
    lines = ["model,item,score", *(f"{model},{item},{item % 3}" for model in "ab" for item in range(9))]
    for name in ("first", "second"):
        (folder / "logs" / name).mkdir(parents=True)
        (folder / "logs" / name / "log.csv").write_text("\n".join(lines))
    (folder / "docs").mkdir()
    for number in range(3):
        (folder / "docs" / f"{number}.txt").write_text(TEXT.format(number))
    rows = [f"{number},{TEXT.format(number)}" for number in range(5)]
    (folder / "opinions.csv").write_text("id,body\n" + "".join(rows))
    write_delimited(
        folder / "keywords.tsv", ["keyword", "documents"], [[f"graphs {each}", 10] for each in range(20)]
    )
    (folder / "answer.txt").write_text(f"# Category 1: Graphs\n{pair(PROMPT, ' edge')}\n")
    (folder / "list.txt").write_text("graphs\n")
    return folder


@pytest.fixture
def started(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Leave out what takes minutes; return the commands that would be started."""
    started: list[list[str]] = []

    def start(command, *_, **__):
        started.append(list(map(str, command)))
        return subprocess.CompletedProcess(command, 0, "", "")

    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    write_configuration(Path("docs.yaml"), "docs", look_at("docs", {}), ["SmolLM2-135M-Instruct-Q4_1"])
    for module in ("builds", "plans"):
        monkeypatch.setattr(f"fathom.planning.{module}.subprocess", SimpleNamespace(run=start))
    for module in ("builds", "starting"):
        monkeypatch.setattr(f"fathom.planning.{module}.run_to_end", lambda *words: start(*words).returncode)
    monkeypatch.setattr("fathom.commands.watch.time.sleep", lambda _: None)
    rehearsed = SimpleNamespace(
        drawn=[], name="x", targets="", jobs=1, planned=1, seconds=1, succeeded=True, log="x"
    )
    monkeypatch.setattr("fathom.planning.rehearsal.rehearse.rehearse", lambda *_: rehearsed)
    monkeypatch.setattr(check_gpu, "run", lambda _: None)
    return started


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_run_as_they_stand(started, monkeypatch, example):
    command, *words = shlex.split(example.partition(" > ")[0])
    assert command == "fathom"
    if words[0] == "build":
        monkeypatch.setattr("builtins.input", lambda _: "y")
        monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    try:
        main(words)
    except SystemExit as stop:
        assert stop.code == 0
    if words[0] in ("demo", "build", "run", "plan") and "--separate" not in words:
        assert all(
            "snakemake" in each and Path(each[each.index("--snakefile") + 1]).is_file() for each in started
        )
        assert started


def test_each_verb_has_two_and_its_help_ends_with_them():
    for name, parser in list_verbs().items():
        assert len(parser.examples) == 2, name
        assert parser.format_help().splitlines()[-2:] == [f"  {each}" for each in parser.examples]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_verbs_and_options(capsys, shell):
    main(["completion", shell])
    script = capsys.readouterr().out
    assert "contamination" in script and "with-pairs" not in script and "without-pairs" in script
    if shell == "bash":
        ask = (
            "COMP_WORDS=(fathom contam); COMP_CWORD=1; compopt() { :; }; _shtab_fathom; echo ${COMPREPLY[@]}"
        )
        done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True)
        assert done.stdout.split() == ["contamination"], done.stderr
