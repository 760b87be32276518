"""Which modules of this package a program depends on, so that a changed module re-runs what it changes."""

import platform
import re
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fathom.io.files import hash_file, hash_text

_PACKAGE = Path(__file__).parents[1]
# a parser would take a quarter of the time that Snakemake needs to start
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\w[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.MULTILINE
)
_QUOTES = ('"""', "'''")
_COMMENT = re.compile(r"#[^\n]*")
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


def find_packages(files: Sequence[Path]) -> set[str]:
    """Return the packages that some files import, by the names that they import: `sklearn`, not scikit-learn.

    Python's own are left out, and so is this package.

    Parameters
    ----------
    files : sequence of Path
        Python files, such as those of :func:`find_sources`.
    """
    names = {name.partition(".")[0] for file in files for name in list_imported_names(file)}
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
    parts = [part for file in [own, *others] for part in (file.name, hash_file(file))]
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
def list_imported_names(path: Path) -> frozenset[str]:
    """Return the full names of all that one file imports itself."""
    text = path.read_text(encoding="utf-8")
    names: set[str] = set()
    for found in _IMPORT.finditer(text):
        if any(text.count(quotes, 0, found.start()) % 2 for quotes in _QUOTES):  # the text of a string
            continue
        module, members, modules = found.groups()
        if module is None:
            names.update(_split_names(modules))
        else:
            names.add(module)
            names.update(f"{module}.{name}" for name in _split_names(members))
    return frozenset(names)


def _split_names(listed: str) -> list[str]:
    """Return the names of a list as in `import a as b, c`, which may have brackets and comments."""
    return [each.split()[0] for each in _COMMENT.sub("", listed).strip("()").split(",") if each.strip()]


@cache
def _imported_modules(path: Path) -> tuple[Path, ...]:
    """Return the files of the package's modules that one file imports itself."""
    return tuple(file for name in list_imported_names(path) for file in _find_module(name))


def _find_module(name: str) -> list[Path]:
    """Return the file of a module of the package, or nothing for a name that is none."""
    parts = name.split(".")
    if parts[0] != _PACKAGE.name or len(parts) == 1:
        return []
    base = _PACKAGE.joinpath(*parts[1:])
    return [file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()]
