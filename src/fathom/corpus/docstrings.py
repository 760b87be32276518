"""Documents from the docstrings of installed packages, a corpus available on every installation."""

import contextlib
import importlib
import inspect
import io
import os
import pkgutil
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import ModuleType
from typing import Any

from fathom.config.corpus import Selection
from fathom.corpus.prose import docstring_to_text
from fathom.corpus.records import Document, add_text, clean_line, count_top, part_name, write_documents
from fathom.corpus.selection import DomainSelector, SplitChooser
from fathom.errors import InputError
from fathom.io.contracts.corpus import DOCUMENTS
from fathom.io.files import hash_text
from fathom.io.tables import write_table_in_batches

_SHORTEST = 80
_SKIPPED = {
    "tests", "test", "testing", "conftest", "setup", "externals", "extern", "vendored", "vendor",
    "backends", "distutils", "sphinxext",  # what they import depends on the machine
}  # fmt: skip
# what modules of large packages raise when something optional is missing
_IMPORT_ERRORS = (
    ImportError, AttributeError, LookupError, OSError, RuntimeError, SyntaxError, SystemExit, TypeError,
    ValueError,
)  # fmt: skip


@dataclass
class _Found:
    package: str
    modules: set[str] = field(default_factory=set)
    names: dict[int, tuple[tuple[bool, int, int, str], Any]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def add(self, value: Any, name: str, own: bool) -> None:
        """Record that `value` is available as `name`; `own` means that it is defined there."""
        key = (not own, name.count("."), len(name), name)
        # keeping the object keeps its id unique
        if id(value) not in self.names or key < self.names[id(value)][0]:
            self.names[id(value)] = (key, value)


def read_docstrings(package: str, selection: Selection, output: Path) -> dict[str, Any]:
    """Write the docstrings of a package's public modules, classes, functions and methods; return the report.

    An object's shortest name is its id and title, the prose of its docstring the text, the first paragraph
    the abstract, package and first module (`scipy.stats`) the category. Duplicate texts and texts under 80
    characters are left out. Tests, private and vendored modules, and modules with requirements that another
    machine may lack (window systems, compilers, Sphinx) are not imported.

    Raises
    ------
    InputError
        If the package is not installed or has no docstrings.
    """
    with _quiet():
        found = _find_objects(package)
        texts = {name: _prose(value) for (_, _, _, name), value in found.names.values()}
    kept, counts = _choose_texts(texts)
    if not kept:
        raise InputError(f"package {package} has no docstrings", "corpus.packages", "choose another package")
    selector, splits = DomainSelector(selection), SplitChooser(selection.corpus.splits)
    categories: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    documents: list[Document] = []
    for name in sorted(kept):
        category = _category(name, found.modules)
        categories[category] += 1
        domains, reason = selector.select([category], "")
        if reason:
            left_out[reason] += 1
            continue
        record = {
            "doc_id": name,
            "title": name,
            "abstract": clean_line(kept[name].partition("\n\n")[0]),
            "categories": [category],
            "date": "",
            "domains": domains,
            "split": splits.choose(name),
        }
        documents.append(add_text(record, kept[name]))
    with write_table_in_batches(output, DOCUMENTS) as writer:
        write_documents(writer, documents)
    return {
        "door": "docstrings",
        "part": part_name(output),
        "input": _describe_input(package, kept),
        "modules": len(found.modules),
        "import_errors": sorted(found.errors),
        "records": len(texts),
        "short": counts["short"],
        "duplicates": counts["duplicates"],
        "left_out": dict(left_out),
        "documents": len(documents),
        "categories": count_top(categories),
    }


def _choose_texts(texts: dict[str, str]) -> tuple[dict[str, str], Counter[str]]:
    """Return distinct texts that are long enough, by their shortest name; count the others."""
    counts: Counter[str] = Counter()
    kept: dict[str, str] = {}
    seen: set[str] = set()
    for name in sorted(texts, key=lambda each: (each.count("."), len(each), each)):
        text = texts[name]
        if len(text) < _SHORTEST:
            counts["short"] += 1
        elif text in seen:
            counts["duplicates"] += 1
        else:
            seen.add(text)
            kept[name] = text
    return kept, counts


def _describe_input(package: str, kept: dict[str, str]) -> dict[str, Any]:
    try:
        name = min(packages_distributions().get(package, [package]))
        installed = f"{name} {version(name)}"
    except PackageNotFoundError:
        installed = package
    pieces = [piece for name in sorted(kept) for piece in (name, kept[name])]
    size = sum(len(piece.encode("utf-8", "surrogatepass")) for piece in pieces)
    return {"file": installed, "bytes": size, "sha256": hash_text(*pieces)}


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    os.environ.setdefault("MPLBACKEND", "Agg")
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


def _find_objects(package: str) -> _Found:
    found = _Found(package)
    try:
        root = importlib.import_module(package)
    except ImportError as error:
        hint = "install it, or remove it from the list"
        raise InputError(f"package {package} cannot be imported: {error}", "corpus.packages", hint) from error
    modules = [root, *_import_modules(root, found.errors)]
    found.modules = {module.__name__ for module in modules}
    for module in modules:
        found.add(module, module.__name__, own=True)
        _collect_members(module, found)
    return found


def _import_modules(parent: ModuleType, errors: list[str]) -> Iterator[ModuleType]:
    """Import and yield the public modules under a package, in the order of their names."""
    for info in sorted(pkgutil.iter_modules(getattr(parent, "__path__", [])), key=lambda each: each.name):
        if info.name.startswith(("_", "test_")) or info.name in _SKIPPED:
            continue
        name = f"{parent.__name__}.{info.name}"
        try:
            module = importlib.import_module(name)
        except _IMPORT_ERRORS as error:
            errors.append(
                f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            )
            continue
        yield module
        yield from _import_modules(module, errors)


def _collect_members(module: ModuleType, found: _Found) -> None:
    listed = set(getattr(module, "__all__", ()))
    for name in sorted(listed or {name for name in vars(module) if not name.startswith("_")}):
        if not isinstance(name, str) or name.startswith("_"):
            continue
        try:
            value = getattr(module, name)
        except _IMPORT_ERRORS:  # a removed, deprecated name
            continue
        if inspect.ismodule(value) or not callable(value):
            continue
        home = getattr(value, "__module__", None)
        if isinstance(home, str) and home.partition(".")[0] != found.package:
            continue
        # names that a module merely imports are documented elsewhere; compiled functions have no __module__
        own = isinstance(home, str) and f"{home}.".startswith(f"{module.__name__}.")
        if not own and name not in listed:
            continue
        path = f"{module.__name__}.{name}"
        found.add(value, path, own)
        if inspect.isclass(value):
            for member_name, member in _public_members(value):
                found.add(member, f"{path}.{member_name}", own)


def _public_members(cls: type) -> Iterable[tuple[str, Any]]:
    for name, member in sorted(vars(cls).items()):
        if name.startswith("_") or inspect.isclass(member):
            continue
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__  # noqa: PLW2901
        if inspect.isroutine(member) or inspect.isdatadescriptor(member):
            yield name, member


def _prose(value: Any) -> str:
    docstring = getattr(value, "__doc__", None)
    if not isinstance(docstring, str):
        return ""
    if not inspect.isclass(value) and docstring == type(value).__doc__:
        return ""
    return docstring_to_text(inspect.cleandoc(docstring))


def _category(name: str, modules: set[str]) -> str:
    """Return package and first module: `scipy.stats` of `scipy.stats.norm`, `numpy` of `numpy.mean`."""
    first_two = ".".join(name.split(".")[:2])
    return first_two if first_two in modules else name.partition(".")[0]
