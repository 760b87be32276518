"""What a file does is read once for each content, and from memory as from the file."""

import ast
import json

import pytest
from tests.refusals import refuses

from fathom.jobs import program_modules as module
from fathom.jobs.program_modules import read_source, save_sources


@pytest.fixture
def memory(tmp_path, monkeypatch):
    """Return the folder of the memory, empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    start_anew()
    yield tmp_path / "cache" / "fathom"
    start_anew()


def start_anew():
    """Forget what this process knows."""
    module._NEW.clear()
    module._load_memory.cache_clear()
    read_source.cache_clear()


def write_module(folder, text="import a.b\nfrom c import d, e\nVALUE = 1\n"):
    """Write a file of code."""
    path = folder / "code.py"
    path.write_text(text)
    return path


def test_a_known_content_is_not_parsed_again(tmp_path, memory, monkeypatch):
    path = write_module(tmp_path)
    first = read_source(path)
    save_sources()
    assert first.imports == ("a.b", "c", "c.d", "c.e")
    start_anew()
    monkeypatch.setattr(ast, "parse", None)
    assert read_source(path) == first
    (saved,) = memory.iterdir()
    assert len(json.loads(saved.read_text())) == 1


def test_imports_inside_functions_count_and_those_in_texts_do_not(tmp_path, memory):
    path = write_module(tmp_path, 'TEXT = """\nimport a\n"""\ndef f():\n    import b as c  # d\n')
    assert read_source(path).imports == ("b",)


@pytest.mark.parametrize("damage", [b"", b"[1]", b'{"a": 3}', b"\xff\x00"])
def test_a_damaged_memory_is_replaced(tmp_path, memory, damage):
    path = write_module(tmp_path)
    first = read_source(path)
    save_sources()
    (saved,) = memory.iterdir()
    saved.write_bytes(damage)
    start_anew()
    assert read_source(path) == first
    save_sources()
    assert len(json.loads(saved.read_text())) == 1


def test_what_another_process_found_meanwhile_stays(tmp_path, memory):
    read_source(write_module(tmp_path))
    save_sources()
    start_anew()
    (saved,) = memory.iterdir()
    read_source(write_module(tmp_path, "VALUE = 2\n"))
    saved.write_text(json.dumps({**json.loads(saved.read_text()), "0" * 64: ["1" * 64, []]}))
    save_sources()
    assert len(json.loads(saved.read_text())) == 3


def test_without_a_place_for_the_memory_files_are_parsed(tmp_path, memory, monkeypatch):
    path = write_module(tmp_path)
    first = read_source(path)
    start_anew()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert read_source(path) == first
    save_sources()


def test_a_file_that_is_no_python_is_named(tmp_path, memory):
    with refuses("code.py"):
        read_source(write_module(tmp_path, "def f(:\n"))
