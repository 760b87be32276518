"""The command as a whole: its verbs explain themselves, at once."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.programs import run_command

import fathom

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
