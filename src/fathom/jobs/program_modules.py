"""The modules that a program depends on, so that a changed module re-runs what it affects.

Comments and docstrings change no result. Parsing takes longer than planning a run, so its results are
remembered by the file's content.
"""

import ast
import hashlib
import json
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.io.files import hash_text, write_atomically
from fathom.io.places import find_cache

_FORMAT = 1
"""Version of the hashing of code."""
_KEPT = 2000
"""Most files to remember; the oldest are forgotten."""
_PACKAGE = Path(__file__).parents[1]
_PATHS = _PACKAGE / "io" / "paths.py"  # a changed path changes inputs or outputs of rules, not code
_DECIDES_NOTHING = {"config", "io", "jobs"}  # rooms of the kernel whose code changes no result


class Source(NamedTuple):
    """Code and imports of a Python file.

    `code`: hash of its syntax tree without docstrings; comments, blank lines and line breaks are not part of
    it. `imports`: full names of all that it imports, inside functions too, sorted.
    """

    code: str
    imports: tuple[str, ...]


_NEW: dict[str, Source] = {}
"""Findings since the memory was last saved, by the sha256 of the file's content."""


@cache
def read_source(path: Path) -> Source:
    """Return code and imports of a Python file without running it.

    `path`: read once in a process; later changes are not noticed.
    """
    content = path.read_bytes()
    key = hashlib.sha256(content).hexdigest()
    memory = _load_memory()
    if key not in memory:
        try:
            tree = ast.parse(content)
        except (SyntaxError, ValueError) as error:
            raise InputError(f"not valid Python: {error}", str(path)) from error
        code = hashlib.sha256("\n".join(_list_parts(tree)).encode("utf-8", "surrogatepass")).hexdigest()
        memory[key] = _NEW[key] = Source(code, tuple(sorted(set(_list_imports(tree)))))
    return memory[key]


def _list_parts(value: Any) -> Iterator[str]:
    """Yield a syntax tree as text that is the same in all versions of Python, without docstrings.

    Empty fields are left out, as newer versions add fields to nodes.
    """
    if isinstance(value, ast.AST):
        yield f"{type(value).__name__}("
        for name in value._fields:
            field = getattr(value, name, None)
            if field is not None and field != []:
                yield name
                yield from _list_parts(field)
        yield ")"
    elif isinstance(value, list):
        yield "["
        for each in value:
            if not _is_docstring(each):
                yield from _list_parts(each)
        yield "]"
    else:
        yield repr(value)


def _is_docstring(node: Any) -> bool:
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return alone and isinstance(node.value.value, str)


def _list_imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def _load_memory() -> dict[str, Source]:
    """Return remembered findings by the sha256 of a file's content; empty if unreadable."""
    with suppress(OSError, InputError, ValueError, TypeError, AttributeError):
        saved = json.loads(_find_memory().read_bytes())
        return {key: Source(str(code), tuple(map(str, names))) for key, (code, names) in saved.items()}
    return {}


def save_sources() -> None:
    """Save findings for the next process, which otherwise parses the files again."""
    if not _NEW:
        return
    _load_memory.cache_clear()  # other processes may have added to it
    whole = _load_memory()
    whole.update(_NEW)
    kept = dict(list(whole.items())[-_KEPT:])
    with suppress(OSError, InputError), write_atomically(_find_memory()) as temporary:
        temporary.write_text(json.dumps(kept), encoding="utf-8")
    _NEW.clear()


def _find_memory() -> Path:
    """Return the file of the memory; versions of Python have their own."""
    version = "-".join(map(str, (_FORMAT, *sys.version_info[:2])))
    return find_cache() / f"sources-{version}.json"


def find_sources(program: Path | str, modules: Iterable[str] = ()) -> list[Path]:
    """Return `program` and every module of the package that it imports, directly or through others.

    Imports are read from the source, those inside functions too; nothing is run. The list of paths is left
    out: a path that is added there re-runs nothing. `modules`: full names of modules that it imports by name
    alone. Returned: sorted, without repetition; the program first.
    """
    program = Path(program)
    found: set[Path] = set()
    waiting = [*_imported_modules(program), *(file for name in modules for file in _find_module(name))]
    while waiting:
        module = waiting.pop()
        if module not in found and module != _PATHS:
            found.add(module)
            waiting.extend(_imported_modules(module))
    return [program, *sorted(found)]


def hash_program(program: Path | str, modules: Iterable[str] = ()) -> str:
    """Return a hash of the code of a program and all modules that it imports.

    Comments, docstrings and the library's location are not part of it.
    """
    first, *others = find_sources(program, modules)
    parts = [
        part for file in others for part in (file.relative_to(_PACKAGE).as_posix(), read_source(file).code)
    ]
    code = hash_text(read_source(first).code, *parts)
    save_sources()
    return code


def find_packages(files: Sequence[Path]) -> set[str]:
    """Return the packages that some files import, by the names that they import: `sklearn`, not scikit-learn.

    Python's own are left out, and so is this package.
    """
    names = {name.partition(".")[0] for file in files for name in read_source(file).imports}
    return names - set(sys.stdlib_module_names) - {_PACKAGE.name}


def describe_method(module: Path | str, packages: Sequence[str]) -> dict[str, Any]:
    """Describe the code behind a result, so that a later run can tell whether it would make the same.

    `module`: the module that makes it. Modules that it imports count too, except those of the kernel that
    change no result: configuration, reading and writing, running. Returned: `code`, a hash, and `packages`,
    with Python itself among them.
    """
    own = Path(module).resolve()
    others = [file for file in find_sources(own)[1:] if file != own and _decides(file)]
    parts = [part for file in [own, *others] for part in (file.name, read_source(file).code)]
    save_sources()
    versions = {name: _find_version(name) for name in packages}
    return {"code": hash_text(*parts), "packages": {"python": platform.python_version(), **versions}}


def _decides(file: Path) -> bool:
    parts = file.relative_to(_PACKAGE).parts
    return len(parts) > 1 and parts[0] not in _DECIDES_NOTHING


def _find_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


@cache
def _imported_modules(path: Path) -> tuple[Path, ...]:
    return tuple(file for name in read_source(path).imports for file in _find_module(name))


def _find_module(name: str) -> list[Path]:
    """Return the file of a module of the package, or nothing for other names."""
    parts = name.split(".")
    if parts[0] != _PACKAGE.name or len(parts) == 1:
        return []
    base = _PACKAGE.joinpath(*parts[1:])
    return [file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()]
