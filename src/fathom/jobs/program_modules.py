"""Which modules of this package a program depends on, so that a changed module re-runs what it changes."""

import platform
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fathom.io.files import hash_text
from fathom.jobs.code_hashes import read_source, save_sources

_PACKAGE = Path(__file__).parents[1]
_PATHS = _PACKAGE / "io" / "paths.py"  # another path is another input or output of a rule, not another code
_DECIDES_NOTHING = {"config", "io", "jobs"}  # rooms of the kernel whose code changes no result


def find_sources(program: Path | str, modules: Iterable[str] = ()) -> list[Path]:
    """Return `program` and every module of the package that it imports, directly or through others.

    Imports are read from the source, those inside functions too; nothing is run. The list of paths is left
    out: a path that is added there re-runs nothing.

    Parameters
    ----------
    program : Path or str
        A Python file.
    modules : iterable of str
        Full names of modules that it imports by name alone.

    Returns
    -------
    list of Path
        Sorted, without repetition; the program first.
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
    """Return a hash of what a program does: of its code and of that of all modules that it imports.

    Comments and docstrings are not part of it, nor is the place where the library is installed.

    Parameters
    ----------
    program : Path or str
        A Python file.
    modules : iterable of str
        Full names of modules that it imports by name alone.
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

    Parameters
    ----------
    files : sequence of Path
        Python files, such as those of :func:`find_sources`.
    """
    names = {name.partition(".")[0] for file in files for name in read_source(file).imports}
    return names - set(sys.stdlib_module_names) - {_PACKAGE.name}


def describe_method(module: Path | str, packages: Sequence[str]) -> dict[str, Any]:
    """Describe the code that makes a result, so that a later run can tell whether it would make the same.

    Parameters
    ----------
    module : Path or str
        The module that makes it. Modules that it imports count too, except those of the kernel that
        change no result: configuration, reading and writing, running.
    packages : sequence of str
        Packages whose version can change the result.

    Returns
    -------
    dict
        `code`, a hash, and `packages`, with Python itself among them.
    """
    own = Path(module).resolve()
    others = [file for file in find_sources(own)[1:] if file != own and _decides(file)]
    parts = [part for file in [own, *others] for part in (file.name, read_source(file).code)]
    save_sources()
    versions = {name: _find_version(name) for name in packages}
    return {"code": hash_text(*parts), "packages": {"python": platform.python_version(), **versions}}


def _decides(file: Path) -> bool:
    """Say whether a module of the package can change a result."""
    parts = file.relative_to(_PACKAGE).parts
    return len(parts) > 1 and parts[0] not in _DECIDES_NOTHING


def _find_version(package: str) -> str:
    """Return the version of an installed package, or nothing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


@cache
def _imported_modules(path: Path) -> tuple[Path, ...]:
    """Return the files of the package's modules that one file imports itself."""
    return tuple(file for name in read_source(path).imports for file in _find_module(name))


def _find_module(name: str) -> list[Path]:
    """Return the file of a module of the package, or nothing for a name that is none."""
    parts = name.split(".")
    if parts[0] != _PACKAGE.name or len(parts) == 1:
        return []
    base = _PACKAGE.joinpath(*parts[1:])
    return [file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()]
