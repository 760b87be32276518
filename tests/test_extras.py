"""What the library does with its own requirements alone, and what it says where an extra is missing."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.explorer.runs import write_run
from tests.refusals import refuses
from tests.test_notebook import ROWS, write_model

from fathom.corpus.documents.reading_process import ReadingProcess
from fathom.io.files import write_json_lines
from fathom.jobs.extras import EXTRAS, explain_missing, require_extra

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HIDE = """
import sys
from importlib.machinery import PathFinder

class Remaining(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Remaining
"""
USE = """
import fathom
from fathom.commands.main import main

assert fathom.score("gpt2", "own.jsonl")["rank"].min() >= 1
main(["score", "gpt2", "own.jsonl"])
main(["best", "own.jsonl", "gpt2", "other"])
main(["contamination", "own.jsonl", "own.jsonl"])
main(["page", "run"])
main(["summary", "run"])
fathom.DomainRank, fathom.DomainRankCallback
main(VERB)
"""


def list_needed(requirements: Iterable[str]) -> set[str]:
    """Return the distributions that these requirements install, with what those ask for in turn."""
    found = set[tuple[str, str]]()
    waiting = list(map(Requirement, requirements))
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in {"", *requirement.extras} - {each for known, each in found if known == name}:
            found.add((name, extra))
            asked = map(Requirement, requires(name) or [])
            waiting += [each for each in asked if not each.marker or each.marker.evaluate({"extra": extra})]
    return {name for name, _ in found}


@pytest.fixture(scope="module")
def hidden() -> list[str]:
    """Return the packages, as they are imported, that `pip install fathom-lm` does not bring."""
    needed = list_needed(PROJECT["dependencies"]) | {"fathom-lm", "setuptools", "pip"}
    installed = packages_distributions()
    return sorted(name for name, of in installed.items() if not needed & set(map(canonicalize_name, of)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two models, pairs, and a finished run."""
    folder = tmp_path_factory.mktemp("alone")
    write_model(folder)
    shutil.copytree(folder / "gpt2", folder / "other")
    write_json_lines(folder / "own.jsonl", ROWS)
    write_run(folder / "run", {"alpha": 1.0, "beta": 9.0}, keywords=4, each=5, variants=("tf",))
    return folder


def test_library_and_commands_do_without_extras_and_name_a_missing_one(folder, hidden):
    assert {"snakemake", "spacy", "gensim", "sklearn", "matplotlib", "datasets"} <= set(hidden)
    verb = ["build", "texts", "--models", "gpt2", "--yes"]
    code = f"HIDDEN, VERB = {set(hidden)!r}, {verb!r}{HIDE}{USE}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "snakemake" in done.stderr and "spacy" in done.stderr
    assert "pip install 'fathom-lm[workflow]'" in done.stderr
    assert (folder / "run" / "index.html").is_file()


def test_extras_are_those_of_the_project():
    extras = PROJECT["optional-dependencies"]
    for extra, packages in EXTRAS.items():
        listed = {canonicalize_name(Requirement(each).name) for each in extras[extra]}
        assert listed == set(map(canonicalize_name, packages.values())), extra
    (whole,) = map(Requirement, extras["all"])
    assert whole.extras == set(EXTRAS) == set(extras) - {"all", "dev"}
    installed = packages_distributions()
    for packages in EXTRAS.values():
        for name, distribution in packages.items():
            assert canonicalize_name(distribution) in map(canonicalize_name, installed[name])


def test_only_packages_of_extras_are_explained():
    found = explain_missing(ModuleNotFoundError("No module", name="sklearn.metrics"), "here")
    assert found is not None
    assert (found.what, found.where) == ("not installed: scikit-learn", "here")
    assert "fathom-lm[workflow]" in found.hint
    assert explain_missing(ModuleNotFoundError("No module", name="fathom.scroing")) is None
    assert explain_missing(ModuleNotFoundError("no name")) is None


def test_an_extra_that_is_there_in_part_is_missing(monkeypatch):
    require_extra("workflow", "here")
    monkeypatch.setattr("fathom.jobs.extras.find_spec", lambda name: None if name == "spacy" else name)
    with refuses("here", "not installed: spacy\n", "fathom-lm[workflow]"):
        require_extra("workflow", "here")


def test_a_missing_reader_ends_the_reading_of_documents(tmp_path, monkeypatch):
    (tmp_path / "lxml.py").write_text("raise ModuleNotFoundError('No module named lxml', name='lxml')\n")
    (tmp_path / "a.html").write_text("<p>The court hears the appeal.</p>")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with ReadingProcess(1) as process, pytest.raises(ModuleNotFoundError) as caught:
        process.read(tmp_path / "a.html")
    assert explain_missing(caught.value) is not None
