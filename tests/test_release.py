"""What is released: the wheel's data, one version, a lock that pins all, and the image's file."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

import fathom
from fathom.io import places

_ROOT = Path(__file__).resolve().parents[1]
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text())
_PACKAGE = _ROOT / "src" / "fathom"
_RECIPE = _ROOT / "Containerfile"
_LOCKS = [
    _ROOT / name for name in ("requirements.lock", "docs/site/requirements.lock", "container/cloud.lock")
]


def _normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _read_lock(lock: Path) -> dict[str, Version]:
    pins = dict(line.split("==") for line in lock.read_text().splitlines() if not line.startswith("#"))
    return {name: Version(version) for name, version in pins.items()}


def test_the_wheel_holds_the_workflow_where_it_is_looked_for(tmp_path, monkeypatch):
    wheel = _PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["src/fathom"]
    for source, place in wheel["force-include"].items():
        assert (_ROOT / source).exists() and place in (
            f"fathom/pipeline/{source}",
            "fathom/pipeline/profiles",
        )
    assert places.find_root() == _ROOT
    monkeypatch.setattr(places, "_PACKAGE", tmp_path / "site-packages" / "fathom")
    assert places.find_root() == tmp_path / "site-packages" / "fathom" / "pipeline"


def test_the_package_has_its_data():
    data = {path for path in _PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    folders = {path.parent for path in data if path.suffix == ".py"}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []
    names = {path.name for path in data}
    assert {"py.typed", "fathom.mplstyle"} <= names
    assert any("licen" in name.lower() for name in names), "licences of the page's libraries"


def test_one_version_everywhere():
    citation = yaml.safe_load((_ROOT / "CITATION.cff").read_text())
    version = _PROJECT["project"]["version"]
    assert citation["version"] == version == fathom.__version__
    changes = re.findall(r"^## (.*)$", (_ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changes[0] == "Unreleased"
    assert changes[1].split()[0] == version
    assert {"cff-version", "title", "message", "authors", "license"} <= set(citation)
    assert citation["license"] == _PROJECT["project"]["license"]


def test_the_archive_is_told_what_citations_say(tmp_path):
    program = _ROOT / "scripts" / "jobs" / "write_archive_metadata.py"
    written = tmp_path / "metadata.json"
    subprocess.run([sys.executable, program, "--output", written], cwd=_ROOT, check=True)
    assert written.read_text() == (_ROOT / ".zenodo.json").read_text(), "run `make docs`"


@pytest.mark.parametrize("lock", _LOCKS, ids=lambda path: str(path.relative_to(_ROOT)))
def test_locks_pin_every_package_once(lock):
    lines = lock.read_text().splitlines()
    names = [_normalize(line.split("==")[0]) for line in lines if not line.startswith("#")]
    assert len(names) > 10
    assert names == sorted(set(names)) == list(_read_lock(lock))


def test_the_lock_satisfies_what_the_package_asks_for():
    pins = _read_lock(_LOCKS[0])
    project = _PROJECT["project"]
    asked = chain(project["dependencies"], *project["optional-dependencies"].values())
    for requirement in map(Requirement, asked):
        if requirement.name == project["name"]:  # an extra of extras
            continue
        assert requirement.specifier.contains(pins[_normalize(requirement.name)]), requirement


def test_the_lock_serves_the_first_release_of_each_python():
    names = _PROJECT["project"]["classifiers"]
    pythons = re.findall(r"^Programming Language :: Python :: (3\.\d+)$", "\n".join(names), re.MULTILINE)
    pins, seen = _read_lock(_LOCKS[0]), 0
    for package in distributions():
        if pins.get(_normalize(package.name)) == Version(package.version):
            wanted = SpecifierSet(package.metadata.get("Requires-Python", ""))
            assert [each for each in pythons if f"{each}.0" not in wanted] == [], package.name
            seen += 1
    assert len(pythons) > 2 and seen > 100


def _read_recipe() -> list[tuple[str, str]]:
    """Return the instructions of the image's file, each with what follows it."""
    text = re.sub(r"^#.*\n", "", _RECIPE.read_text(), flags=re.MULTILINE).replace("\\\n", "")
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def test_the_image_holds_what_the_workflow_needs():
    copies = [each.split() for name, each in _read_recipe() if name == "COPY" and "--from=" not in each]
    copied = {source for *sources, _ in copies for source in sources}
    assert all((_ROOT / source).exists() for source in copied)
    packaged = set(_PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"])
    assert copied == packaged - {"workflow/profiles"} | {
        "src", "pyproject.toml", "requirements.lock", "container/cloud.lock", "README.md", "LICENSE"
    }  # fmt: skip


def test_the_image_has_two_stages_of_one_python_and_runs_as_a_user():
    steps = _read_recipe()
    values = dict(steps)
    minor = re.fullmatch(r"PYTHON=docker\.io/library/python:(3\.\d+)-slim-\w+", values["ARG"])
    assert minor
    assert Version(minor[1]) in Requirement(f"x{_PROJECT['project']['requires-python']}").specifier
    assert [each for name, each in steps if name == "FROM"] == ["${PYTHON} AS build", "${PYTHON}"]
    assert (values["USER"], values["ENTRYPOINT"]) == ("1000", '["fathom"]')
    known = {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT"}
    assert {name for name, _ in steps} <= known


def test_the_shell_of_the_image_is_valid():
    for shell in (each for name, each in _read_recipe() if name == "RUN"):
        done = subprocess.run(["sh", "-n"], input=shell, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
