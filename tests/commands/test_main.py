"""The command as a whole: its verbs explain themselves, at once."""

import argparse
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.programs import run_command
from tests.refusals import refuses

import fathom
from fathom.commands import demo
from fathom.commands.main import main

ROOT = Path(__file__).resolve().parents[2]
SLOW = {"numpy", "orjson", "pandas", "polars", "pyarrow", "pydantic", "snakemake", "torch", "yaml"}
VERBS = ([], ["score"], ["plan"], ["summary"], ["request"], ["request", "write"], ["request", "send"],
         ["request", "read"], ["check-gpu"])  # fmt: skip


def test_every_verb_explains_itself_at_once() -> None:
    code = f"""
import sys
from fathom.commands.main import main
for words in {VERBS!r}:
    try:
        main([*words, "--help"])
    except SystemExit as stop:
        assert stop.code == 0
assert not set(sys.modules) & {SLOW!r}, set(sys.modules) & {SLOW!r}
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for words in VERBS:
        assert " ".join(["usage: fathom", *words, "[-h]"]) in done.stdout


def test_the_installed_command_is_this_one() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert settings["scripts"] == {"fathom": "fathom.commands.main:main"}
    assert settings["version"] == fathom.__version__


@pytest.mark.parametrize("words", [[], ["scroe"], ["request"], ["request", "wirte"]])
def test_wrong_verbs_are_wrong_arguments(words: list[str]) -> None:
    run_command(*words, code=2)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_verbs_each_with_a_sentence(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", shell])
    said = capsys.readouterr().out
    assert all(verb in said for verb in ("compare-runs", "check-gpu", "--configfile"))
    assert "Downloads nothing" not in said, "the second sentence of check-gpu"


def test_the_demo_names_itself_where_packages_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fathom.jobs.program.find_spec", lambda name: None)
    with refuses("fathom demo", "fathom-lm[workflow]"):
        demo.run(argparse.Namespace(cores=1))
