"""Which modules of this package a program depends on, so that a changed module re-runs what it changes."""

import ast
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


def find_sources(program: Path | str) -> list[Path]:
    """Return `program` and every module of the package that it imports, directly or through others.

    Imports are read from the source, those inside functions too; nothing is run.

    Parameters
    ----------
    program : Path or str
        A Python file.

    Returns
    -------
    list of Path
        Sorted, without repetition; the program first.
    """
    program = Path(program)
    found: set[Path] = set()
    waiting = list(_imported_modules(program))
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.extend(_imported_modules(module))
    return [program, *sorted(found)]


@cache
def _imported_modules(path: Path) -> tuple[Path, ...]:
    """Return the files of the package's modules that one file imports itself."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(sorted(file for name in names for file in _find_module(name)))


def _find_module(name: str) -> list[Path]:
    """Return the file of a module of the package, or nothing for a name that is none."""
    parts = name.split(".")
    if parts[0] != _PACKAGE.name or len(parts) == 1:
        return []
    base = _PACKAGE.joinpath(*parts[1:])
    return [file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()]
