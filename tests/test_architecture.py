"""The house rules that a program can check."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.programs import LIGHT, list_programs, run_program

_ROOT = Path(__file__).resolve().parents[1]
_LIBRARY = _ROOT / "src" / "fathom"
_MODULES = sorted(_LIBRARY.rglob("*.py"))
_SCRIPTS = list_programs()
_CODE = [*_MODULES, *_SCRIPTS]
_LEVELS = {"errors": 0, "io": 1, "config": 2, "jobs": 3, "numerics": 3, "statistics": 4, "corpus": 4,
           "logs": 4,
           "benchmark": 5, "models": 6, "scoring": 7, "coverage": 7, "studies": 8, "exports": 8, "layers": 8,
           "tuning": 8, "ranking": 8, "answering": 8, "questions": 9, "figures": 10, "explorer": 11,
           "planning": 12, "commands": 13, "__init__": 14}  # fmt: skip
_HEAVY = {"torch", "transformers", "spacy", "sentence_transformers", "gensim", "sklearn", "scipy",
          "matplotlib", "rdflib"}  # fmt: skip
_ENVIRONMENT = os.environ | {"PYTHONPATH": str(_ROOT / "src")}


def _name(path: Path) -> str:
    return str(path.relative_to(_ROOT))


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(_LIBRARY.parent).with_suffix("").parts)


def _room(path: Path) -> str:
    return path.relative_to(_LIBRARY).with_suffix("").parts[0]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _imports(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute: find_sources reads them"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def _functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _length(function: ast.FunctionDef) -> int:
    """Return the lines of a function from the first after its docstring."""
    first = function.body[1 if ast.get_docstring(function) and len(function.body) > 1 else 0]
    return (function.end_lineno or 0) - first.lineno + 1


def test_there_is_something_to_check():
    assert len(_MODULES) > 10
    assert len(_SCRIPTS) > 5
    assert {path.stem for path in _LIBRARY.glob("*.py")} == {"__init__", "errors"}
    assert {_room(path) for path in _MODULES} - {"__init__"} <= set(_LEVELS)


def _check(rule: Callable[[Path], object], paths: list[Path] = _CODE) -> None:
    """Check that a rule finds nothing wrong in any of the files; otherwise say what and where."""
    found = {_name(path): wrong for path in paths if (wrong := rule(path))}
    assert found == {}


def test_rooms_import_downwards_only():
    def find(path: Path) -> set[str]:
        room = _room(path)
        others = {name.split(".")[1] for name in _imports(_tree(path)) if name.startswith("fathom.")}
        others -= {room, "__version__"}
        return {other for other in others if _LEVELS[other] >= _LEVELS.get(room, 0)}

    _check(find, _MODULES)


def test_no_module_that_a_folder_imports_imports_the_folder():
    imports = {_dotted(path): _imports(_tree(path)) for path in _MODULES}
    folders = {_dotted(path.parent) for path in _MODULES if path.parent.parent.parent == _LIBRARY}

    def uses(module: str, other: str) -> bool:
        return any(f"{name}.".startswith(f"{other}.") for name in imports[module])

    def find(path: Path) -> set[str]:
        name = _dotted(path)
        others = {each for each in folders if not name.startswith(f"{each}.") and uses(name, each)}
        return {each for each in others for inner in imports if inner.startswith(each) and uses(inner, name)}

    assert len(folders) > 1
    _check(find, _MODULES)


def test_the_library_knows_neither_snakemake_nor_yaml():
    def find(path: Path) -> set[str]:
        # configuration is read from YAML, and a card's front matter is written in it
        foreign = {"snakemake"} if path.name in {"yaml_files.py", "card.py"} else {"snakemake", "yaml"}
        return foreign & {name.split(".")[0] for name in _imports(_tree(path))}

    _check(find, _MODULES)


def test_measurements_and_programs_import_what_there_is():
    # no test runs perf/, and an import inside a function is met late
    for path in [*sorted((_ROOT / "perf").rglob("*.py")), *_SCRIPTS]:
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "fathom":
                module = import_module(str(node.module))
                for alias in node.names:
                    found = hasattr(module, alias.name) or find_spec(f"{node.module}.{alias.name}")
                    assert found, f"{_name(path)}: {node.module}.{alias.name}"


def test_modules_and_functions_are_short():
    _check(lambda path: [lines] if (lines := len(path.read_text().splitlines())) > 600 else [])
    _check(lambda path: {f.name: _length(f) for f in _functions(_tree(path)) if _length(f) > 60})


def test_nothing_is_executed_unpickled_or_trusted():
    calls = {"eval", "exec", "compile", "__import__", "os.system", "torch.load", "yaml.load"}
    modules = {"pickle", "joblib", "dill", "shelve"}
    trust = {"trust_remote_code", "allow_pickle", "shell"}

    def find(path: Path) -> list[str]:
        nodes = list(ast.walk(_tree(path)))
        found = [name for node in nodes if isinstance(node, ast.Call) if (name := _called(node)) in calls]
        found += {name.split(".")[0] for name in _imports(_tree(path))} & modules
        keywords = [node for node in nodes if isinstance(node, ast.keyword) and node.arg in trust]
        found += [ast.unparse(node) for node in keywords if ast.unparse(node.value) != "False"]
        return found

    _check(find)


def _hands_on(handler: ast.ExceptHandler) -> bool:
    """Say whether a handler raises what it caught, or gives it to the thread that waits for it."""
    raises = any(isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(handler))
    return raises or any(
        isinstance(node, ast.Call) and _called(node).endswith(".set_exception") for node in ast.walk(handler)
    )


def test_no_error_is_swallowed():
    def find(path: Path) -> list[int]:
        handlers = [node for node in ast.walk(_tree(path)) if isinstance(node, ast.ExceptHandler)]
        bare = [node for node in handlers if not node.type]
        all_kinds = [node for node in handlers if node.type and ast.unparse(node.type) == "BaseException"]
        broad = [*bare, *(node for node in all_kinds if not _hands_on(node))]
        every = [node for node in handlers if node.type and ast.unparse(node.type) == "Exception"]
        # what a library says with an error of any kind may be said in other words
        swallowed = [node for node in every
                     if not isinstance(last := node.body[-1], ast.Raise) or not last.cause]  # fmt: skip
        return [node.lineno for node in [*broad, *swallowed]]

    _check(find)


def test_the_library_does_not_print():
    def find(path: Path) -> list[int]:
        calls = [node for node in ast.walk(_tree(path)) if isinstance(node, ast.Call)]
        return [node.lineno for node in calls if _called(node) == "print"]

    _check(find, [path for path in _MODULES if _room(path) != "commands"])


def test_everything_public_is_described():
    def find(path: Path) -> list[str]:
        tree = _tree(path)
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        bare = [node for node in nodes if not node.name.startswith("_") and not ast.get_docstring(node)]
        described = ast.get_docstring(tree) or path.name == "__init__.py"
        return [node.name for node in bare if not _is_inner(tree, node)] + [""] * (not described)

    _check(find)


def _called(node: ast.Call) -> str:
    """Return the name that a call calls."""
    return ast.unparse(node.func)


def _is_inner(tree: ast.Module, node: ast.AST) -> bool:
    """Say whether a function stands inside another one."""
    return any(node is not outer and node in ast.walk(outer) for outer in _functions(tree))


def test_importing_the_whole_library_imports_nothing_heavy():
    names = [".".join(path.relative_to(_ROOT / "src").with_suffix("").parts) for path in _MODULES]
    names = [name.removesuffix(".__init__") for name in names]
    code = f"import {', '.join(names)}, sys; print(sorted(set(sys.modules) & {_HEAVY!r}))"
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=_ENVIRONMENT
    )
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("path", _SCRIPTS, ids=_name)
def test_every_program_explains_itself_without_heavy_imports(path, tmp_path):
    assert path.stem.count("_") >= 1, "verb_noun.py"
    explain = tmp_path / "explain.py"
    explain.write_text(
        "import runpy, sys; sys.argv = [sys.argv[1], '--help']\n"
        "try:\n    runpy.run_path(sys.argv[0], run_name='__main__')\n"
        f"finally:\n    print('HEAVY', sorted(set(sys.modules) & {_HEAVY!r}))"
    )
    run = run_program(
        explain, path, imports=(*LIGHT, "polars", "pyarrow.parquet")
    )  # polars computes nothing here
    assert run.stdout.rstrip().endswith("HEAVY []")
    first = " ".join(ast.get_docstring(_tree(path)).split())[:40]
    assert first in " ".join(run.stdout.split())
    assert "--log" in run.stdout


def test_no_file_names_a_place_of_one_machine():
    kinds = {".py", ".smk", ".yaml", ".md", ".toml", ".rst", ".tsv", ".json"}
    folders = ["src", "scripts", "config", "workflow", "docs", "envs", "perf"]
    files = [path for folder in folders for path in (_ROOT / folder).rglob("*") if path.suffix in kinds]
    files += [_ROOT / name for name in ("README.md", "Snakefile", "Makefile", "pyproject.toml")]
    places = ["/work" + "/", "/root" + "/", "/home" + "/"]
    found = [_name(path) for path in files
             if any(place in path.read_text(encoding="utf-8") for place in places)]  # fmt: skip
    assert found == []
