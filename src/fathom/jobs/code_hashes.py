"""What a Python file does and imports, without its comments and docstrings: these change no result.

Parsing takes longer than planning a run, so what was found is remembered by the content of the file.
"""

import ast
import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.io.files import write_atomically
from fathom.io.places import find_cache

_FORMAT = 1
"""Number of the way in which code is hashed."""
_KEPT = 2000
"""Files that are remembered; the oldest are forgotten."""


class Source(NamedTuple):
    """What a Python file does.

    Attributes
    ----------
    code : str
        Hash of its syntax tree without docstrings; comments, blank lines and line breaks are not part of it.
    imports : tuple of str
        Full names of all that it imports, inside functions too, sorted.
    """

    code: str
    imports: tuple[str, ...]


_NEW: dict[str, Source] = {}
"""What was found since the memory was last saved, by the sha256 of the file's content."""


@cache
def read_source(path: Path) -> Source:
    """Return what a Python file does; nothing is run.

    Parameters
    ----------
    path : Path
        It is read once in a process: that it changes meanwhile is not noticed.

    Raises
    ------
    InputError
        If the file is no Python.
    """
    content = path.read_bytes()
    key = hashlib.sha256(content).hexdigest()
    memory = _load_memory()
    if key not in memory:
        try:
            tree = ast.parse(content)
        except (SyntaxError, ValueError) as error:
            raise InputError(f"this is no Python: {error}", str(path)) from error
        code = hashlib.sha256("\n".join(_list_parts(tree)).encode("utf-8", "surrogatepass")).hexdigest()
        memory[key] = _NEW[key] = Source(code, tuple(sorted(set(_list_imports(tree)))))
    return memory[key]


def _list_parts(value: Any) -> Iterator[str]:
    """Yield a syntax tree in a text that is the same in all versions of Python, without docstrings.

    What is empty is left out, for newer versions add fields to a node.
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
    """Say whether a statement is a text alone: that of a module, a class, a function, or an attribute."""
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return alone and isinstance(node.value.value, str)


def _list_imports(tree: ast.Module) -> Iterator[str]:
    """Yield the full names of all that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def _load_memory() -> dict[str, Source]:
    """Return what is remembered by the sha256 of a file's content; nothing where it cannot be read."""
    with suppress(OSError, InputError, ValueError, TypeError, AttributeError):
        saved = json.loads(_find_memory().read_bytes())
        return {key: Source(str(code), tuple(map(str, names))) for key, (code, names) in saved.items()}
    return {}


def save_sources() -> None:
    """Save what was found, for the next process; where nothing can be written, it parses the files again."""
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
