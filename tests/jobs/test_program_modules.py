"""Which modules a program depends on."""

import ast
from pathlib import Path

import pytest
from tests.programs import list_programs

from fathom.jobs import program_modules as sources
from fathom.jobs.program_modules import find_sources

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


def test_imports_are_those_that_a_parser_finds():
    for path in [*list_programs(), *sorted((_ROOT / "src" / "fathom").rglob("*.py"))]:
        names = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        assert sources.list_imported_names(path) == names, path


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
    sources._imported_modules.cache_clear()
    before = sources.describe_method(module, [])
    (package / "io" / "files.py").write_text("changed = True")
    assert sources.describe_method(module, []) == before
    (package / "numerics" / "matrix_products.py").write_text("changed = True")
    assert sources.describe_method(module, []) != before
