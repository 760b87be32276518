"""Which modules a program depends on."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.programs import list_programs
from tests.refusals import refuses

from fathom.jobs import program_modules as module
from fathom.jobs import program_modules as sources
from fathom.jobs.program_modules import find_sources, hash_program, read_source, save_sources

_ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("program", list_programs(), ids=lambda path: path.name)
def test_sources_of_every_program_exist(program):
    found = find_sources(program)
    assert found[0] == program
    assert found[1:] == sorted(set(found[1:]))
    assert all(file.is_file() and file.is_relative_to(_ROOT / "src" / "fathom") for file in found[1:])
    assert {"program.py", "section.py", "errors.py"} <= {file.name for file in found}


def test_a_path_that_is_added_re_runs_nothing():
    (program,) = (path for path in list_programs() if path.stem == "score_model")
    names = {file.name for file in find_sources(program)}
    assert "run_path.py" in names and "paths.py" not in names


def test_imports_inside_functions_and_through_others_are_found(tmp_path, monkeypatch):
    package = tmp_path / "fathom"
    (package / "room").mkdir(parents=True)
    texts = {"__init__.py": "", "room/__init__.py": "import fathom.unused_by_name_only",
             "a.py": "def f():\n    if True:\n        from fathom.b import thing\n        return thing",
             "b.py": "from fathom import c\nthing = c", "c.py": "import fathom.a  # or d\nimport numpy",
             "d.py": "", "room/e.py": ""}  # fmt: skip
    for name, text in texts.items():
        (package / name).write_text(text)
    program = tmp_path / "program.py"
    program.write_text(
        "import os\nimport fathom.a as a, json\nfrom fathom.room import e\nfrom fathom.a import b_name"
    )
    monkeypatch.setattr(sources, "_PACKAGE", package)
    names = [str(file.relative_to(tmp_path)) for file in find_sources(program)]
    assert names == ["program.py", "fathom/a.py", "fathom/b.py", "fathom/c.py", "fathom/room/__init__.py",
                     "fathom/room/e.py"]  # fmt: skip


def test_of_the_kernel_only_what_computes_is_part_of_a_method(tmp_path, monkeypatch):
    package = tmp_path / "fathom"
    (package / "room").mkdir(parents=True)
    for name in ("__init__.py", "room/__init__.py", "io/__init__.py", "io/files.py", "numerics/__init__.py",
                 "numerics/matrix_products.py"):  # fmt: skip
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text("")
    module = package / "room" / "vectors.py"
    module.write_text(
        "from fathom.io.files import hash_file\nfrom fathom.numerics.matrix_products import prepack_layer"
    )
    monkeypatch.setattr(sources, "_PACKAGE", package)

    def describe() -> dict:
        read_source.cache_clear()
        return sources.describe_method(module, [])

    before = describe()
    (package / "io" / "files.py").write_text("changed = True")
    assert describe() == before
    (package / "numerics" / "matrix_products.py").write_text("changed = True")
    assert describe() != before


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return the folder of a package; of two programs beside it one uses ranks."""
    package = tmp_path / "fathom"
    package.mkdir()
    for name, text in {"ranks.py": RANKS, "lazy.py": "SEED = 1\n", "other.py": "SEED = 1\n"}.items():
        (package / name).write_text(text)
    (tmp_path / "score.py").write_text("from fathom.ranks import rank\n")
    (tmp_path / "draw.py").write_text("from fathom.other import SEED\n")
    monkeypatch.setattr(sources, "_PACKAGE", package)
    return package


RANKS = '''"""Ranks."""

LIMIT = 3
"""How many."""


class Ranks:
    """Ranks of targets."""


def rank(value):
    """Return a rank."""
    from fathom.lazy import SEED

    return value + SEED  # the first is 1
'''


def hash_programs(package):
    """Return the hashes of both programs, as a new process makes them."""
    read_source.cache_clear()
    sources._imported_modules.cache_clear()
    return [hash_program(package.parent / name) for name in ("score.py", "draw.py")]


@pytest.mark.parametrize(
    ("old", "new"),
    [("Return a rank.", "Return another one."), ("Ranks of targets.", "Of prompts."),
     ("How many.", "At most."), ("# the first is 1", "# 1"), ('    """Return a rank."""\n', ""),
     ("value + SEED", "(\n value +\n SEED\n)")],
)  # fmt: skip
def test_text_in_a_module_changes_no_hash(package, old, new):
    before = hash_programs(package)
    (package / "ranks.py").write_text(RANKS.replace(old, new))
    assert old in RANKS and hash_programs(package) == before


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [("ranks.py", "value + SEED", "value - SEED"), ("ranks.py", "LIMIT = 3", "LIMIT = 4"),
     ("ranks.py", "LIMIT = 3", 'LIMIT = "3"'), ("lazy.py", "SEED = 1", "SEED = 2")],
)  # fmt: skip
def test_changed_code_changes_the_hash_of_those_that_import_it(package, module, old, new):
    score, draw = hash_programs(package)
    path = package / module
    path.write_text(path.read_text().replace(old, new))
    changed = hash_programs(package)
    assert changed[0] != score and changed[1] == draw


def test_a_module_that_is_known_by_name_alone_counts(package):
    program = package.parent / "draw.py"
    assert hash_program(program, ["fathom.ranks"]) != hash_program(program)


def test_hashes_of_a_clone_are_those_of_another_process_and_place(tmp_path):
    code = "; ".join([
        "import sys", "from pathlib import Path", "from fathom.jobs.program_modules import hash_program",
        "print(*(hash_program(Path(path)) for path in sys.argv[1:]))",
    ])  # fmt: skip
    programs = [str(path) for path in list_programs()[:12]]

    def hash_all(paths, seed, place):
        environment = {
            "PYTHONPATH": str(place),
            "PYTHONHASHSEED": seed,
            "XDG_CACHE_HOME": str(tmp_path / seed),
        }
        done = subprocess.run(
            [sys.executable, "-c", code, *paths], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return dict(zip(paths, done.stdout.split(), strict=True))

    shutil.copytree(_ROOT / "src", tmp_path / "installed", ignore=shutil.ignore_patterns("__pycache__"))
    first = hash_all(programs, "1", _ROOT / "src")
    assert hash_all(programs[::-1], "2", tmp_path / "installed") == first
    assert len(set(first.values())) == len(programs)


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
