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

from fathom.commands.main import main
from fathom.corpus.documents.reading_process import ReadingProcess
from fathom.io.files import write_json_lines
from fathom.jobs.program import EXTRAS, explain_missing, require_extra

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HIDE = """
import sys
from importlib.machinery import PathFinder

class Remaining(PathFinder):
    find_distributions = PathFinder.find_distributions

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Remaining
"""
SHOW = """
from importlib import import_module
from pathlib import Path
from fathom.commands.main import main
import fathom.statistics

main(["page", "run"])
main(["page", "log.csv"])
main(["summary", "run"])
main(["scores", "direct=log.csv", "--output", "scores"])
main(["export", "run", "--output", "exported"])
main(["contamination", "own.jsonl", "own.jsonl"])
main(["plan", "--separate", "run"])
for file in Path(fathom.statistics.__file__).parent.glob("*.py"):
    import_module(f"fathom.statistics.{file.stem}")
"""
USE = """
import fathom
from fathom.commands.main import main

assert fathom.score("gpt2", "own.jsonl")["rank"].min() >= 1
main(["score", "gpt2", "own.jsonl"])
main(["best", "own.jsonl", "gpt2", "other"])
main(["summary", "run"])
fathom.DomainRank, fathom.DomainRankCallback
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


def list_hidden(*extras: str) -> set[str]:
    """Return the packages, as they are imported, that Fathom with some extras does not bring."""
    asked = [each for extra in extras for each in PROJECT["optional-dependencies"][extra]]
    needed = list_needed(PROJECT["dependencies"] + asked) | {"fathom-lm", "setuptools", "pip"}
    installed = packages_distributions()
    return {name for name, of in installed.items() if not needed & set(map(canonicalize_name, of))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two models, pairs, and a finished run."""
    folder = tmp_path_factory.mktemp("alone")
    write_model(folder)
    shutil.copytree(folder / "gpt2", folder / "other")
    write_json_lines(folder / "own.jsonl", ROWS)
    lines = [f"{model},{item},{item % 3}" for model in "ab" for item in range(9)]
    (folder / "log.csv").write_text("\n".join(["model,item,score", *lines]))
    write_run(folder / "run", {"alpha": 1.0, "beta": 9.0}, keywords=4, each=5, variants=("tf",))
    return folder


def run_without(hidden: Iterable[str], code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code where some packages cannot be imported."""
    return subprocess.run(
        [sys.executable, "-c", f"HIDDEN = {set(hidden)!r}{HIDE}{code}"], cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True,
    )  # fmt: skip


def test_pages_tables_and_statistics_need_no_model(folder):
    hidden = list_hidden()
    assert {"torch", "transformers", "safetensors", "spacy_lookups_data", "huggingface_hub"} <= hidden
    done = run_without(hidden, SHOW, folder)
    assert done.returncode == 0, done.stderr
    assert "fathom-lm[models]" in done.stdout, "the ceiling takes lemmas"
    for place in ("run/index.html", "log.csv.html", "scores", "exported"):
        assert (folder / place).exists(), place


def test_models_are_scored_without_the_workflow(folder):
    hidden = list_hidden("models")
    assert {"snakemake", "spacy", "gensim", "sklearn", "matplotlib", "datasets"} <= hidden
    done = run_without(hidden, USE, folder)
    assert done.returncode == 0, done.stderr
    assert "Ceiling, bits: " in done.stdout


@pytest.mark.parametrize(
    ("words", "extra", "missing"),
    [(["score", "gpt2", "own.jsonl"], "models", "torch"),
     (["score", "http://127.0.0.1:1/v1#m", "own.jsonl"], "models", "spacy-lookups-data"),
     (["best", "own.jsonl", "gpt2", "other"], "models", "transformers"),
     (["watch", "checkpoints", "--pairs", "own.jsonl"], "models", "torch"),
     (["build", "texts", "--models", "gpt2"], "workflow", "snakemake"),
     (["plan"], "workflow", "torch"),
     (["demo"], "workflow", "snakemake"),
     (["run", "-n"], "workflow", "spacy")],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)  # fmt: skip
def test_a_verb_names_the_extra_that_it_needs(folder, monkeypatch, capsys, words, extra, missing):
    hidden = list_hidden()
    monkeypatch.setattr("fathom.jobs.program.find_spec", lambda name: None if name in hidden else name)
    monkeypatch.chdir(folder)
    before = set(folder.rglob("*"))
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 1
    said = capsys.readouterr().err
    assert f"pip install 'fathom-lm[{extra}]'" in said and missing in said and f"fathom {words[0]}" in said
    assert set(folder.rglob("*")) == before


def test_extras_are_those_of_the_project():
    extras = PROJECT["optional-dependencies"]
    for extra, packages in EXTRAS.items():
        listed = {canonicalize_name(Requirement(each).name) for each in extras[extra]} - {PROJECT["name"]}
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
    monkeypatch.setattr("fathom.jobs.program.find_spec", lambda name: None if name == "spacy" else name)
    with refuses("here", "not installed: spacy\n", "fathom-lm[workflow]"):
        require_extra("workflow", "here")


def test_a_missing_reader_ends_the_reading_of_documents(tmp_path, monkeypatch):
    (tmp_path / "lxml.py").write_text("raise ModuleNotFoundError('No module named lxml', name='lxml')\n")
    (tmp_path / "a.html").write_text("<p>The court hears the appeal.</p>")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with ReadingProcess(1) as process, pytest.raises(ModuleNotFoundError) as caught:
        process.read(tmp_path / "a.html")
    assert explain_missing(caught.value) is not None
