"""What rules pass to Snakemake and to programs: patterns of wildcards, resources, options."""

import ast
import asyncio
import errno
import inspect
import json
import math
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from fathom.config.whole import Config
from fathom.io.places import shorten_path
from fathom.jobs.program_modules import hash_program

_MB = 1 << 20


def one_of(names: Iterable[str]) -> str:
    """Return a wildcard constraint that matches exactly these names."""
    return "|".join(re.escape(name) for name in names) or "(?!)"


def grow(first: int, per_mb: float = 0.0) -> Callable[..., int]:
    """Return a resource that doubles with each attempt, so that a retry after a failure gets more.

    Parameters
    ----------
    per_mb : float
        Added for each MB of existing inputs, which are few before the first job.
    """

    def amount(wildcards: Any, attempt: int) -> int:
        return first << (attempt - 1)

    def amount_by_input(wildcards: Any, input: Iterable[Any], attempt: int, async_run: Any = None) -> int:
        sizes = [_measure(path, async_run) for path in input]
        return (first + math.ceil(per_mb * sum(sizes) / _MB)) << (attempt - 1)

    return amount_by_input if per_mb else amount


def lengthen(first: int, most: int = 0) -> Callable[..., int]:
    """Return the minutes of a job, which double with each attempt, up to `most` if given.

    A cluster never starts a job that asks for more time than its partitions give.
    """

    def amount(wildcards: Any, attempt: int) -> int:
        wanted = first << (attempt - 1)
        return min(wanted, most) if most else wanted

    return amount


def _measure(path: Any, async_run: Any) -> int:
    """Return the bytes of an input, in a storage or on this machine; 0 if it does not exist yet."""
    if async_run is not None and getattr(path, "is_storage", False):
        if _is_looping():  # a storage cannot be asked now; Snakemake tries again before the job
            raise FileNotFoundError(errno.ENOENT, "not asked yet", path)
        return int(async_run(path.size())) if async_run(path.exists_in_storage()) else 0
    file = Path(path)
    return file.stat().st_size if file.is_file() else 0


def _is_looping() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Programs:
    """The programs that rules call.

    `dump`: takes names of sections of the configuration; returns them as JSON, see
    :meth:`fathom.planning.settings.Settings.of`.
    """

    def __init__(self, scripts: Path, dump: Callable[..., str]) -> None:
        self._scripts, self._dump = scripts, dump

    def call(self, program: str, /, *modules: str, **given: Any) -> dict[str, Any]:
        """Return the params of a rule: its program, the program's options, and a hash of the code behind it.

        The hash makes a change of code re-run what it affects; see :func:`hash_program`.

        Parameters
        ----------
        *modules : str
            Full names of modules that it imports dynamically.
        **given : object
            Options, see :func:`pass_options`. Without `settings`, a program gets the sections that its own
            parameter `settings` names, see :func:`find_sections`.
        """
        path = find_program(self._scripts, program)
        return {**self.fetch(program, **given), "code": lambda wildcards: _hash_once(path, modules)}

    def fetch(self, program: str, /, **given: Any) -> dict[str, Any]:
        """Return the params of a rule that fetches, without a hash: changed code fetches the same."""
        path = find_program(self._scripts, program)
        # a function that names `input` is no param whose change re-runs a job: a clone may be moved
        return {
            "program": lambda wildcards, input: shorten_path(path),
            "options": pass_options(path, cache(lambda: self._dump(*find_sections(path))), **given),
        }


def find_program(scripts: Path, name: str) -> Path:
    """Return the file of a program by its name, without `.py`."""
    (path,) = scripts.glob(f"*/{name}.py")
    return path


_hash_once = cache(hash_program)  # jobs are many, programs few


def pass_options(
    program: Path, settings: Callable[[], str] | None = None, /, **given: Any
) -> Callable[..., str]:
    """Return a param: the options of a rule's program, by the names that its signature states.

    Each option takes the value given here, else the input, output or wildcard of its name. Names unknown to
    the program, such as inputs that only have to exist, are not passed, nor are None and empty lists.

    Parameters
    ----------
    **given : object
        Values, or functions of wildcards, input or output, as Snakemake's own params.

    Raises
    ------
    ValueError
        When a job is planned: if the program has no such option, or one that it requires is missing.
    """

    # a function that names `input` or `output` would be no param whose change re-runs a job
    def find(wildcards: Any, **others: Any) -> str:
        input, output = others["input"], others["output"]
        required = find_options(program)
        unknown = sorted(set(given) - set(required))
        if unknown:
            raise ValueError(f"{program.name} has no option {', '.join(unknown)}")
        sources = {"wildcards": wildcards, "input": input, "output": output}
        values = dict([*wildcards.items(), *input.items(), *output.items()])
        values.update((name, _evaluate(value, sources)) for name, value in given.items())
        if settings is not None and required.get("settings") and "settings" not in values:
            values["settings"] = settings()
        missing = [name for name, needed in required.items() if needed and values.get(name) is None]
        if missing:
            raise ValueError(f"{program.name} needs {', '.join(missing)}")
        passed = ((name, values[name]) for name in required if name in values)
        return " ".join(words for name, value in passed if (words := _write_option(name, value)))

    return find


def say_places(places: Iterable[Sequence[str]], files: Iterable[str]) -> list[str]:
    """Return tables with the keys that their paths do not show, as programs take them."""
    return [f"{'/'.join(place)}={path}" for place, path in zip(places, files, strict=True)]


def folder_of(name: str) -> Callable[..., Path]:
    """Return a param: the folder of a named input or output, which a program takes as a whole."""

    def find(wildcards: Any, input: Any, output: Any) -> Path:
        files = getattr(input, name, None) or getattr(output, name)
        return Path(files if isinstance(files, str) else files[0]).parent

    return find


def named_inputs(names: Iterable[str]) -> Callable[..., dict[str, Any]]:
    """Return a param: some inputs by name; not those that a job has not."""
    return lambda input: {name: input[name] for name in names if input[name]}


@cache
def find_options(program: Path) -> dict[str, bool]:
    """Return the options of a program by name, and whether they are required; nothing is imported.

    `threads` and `gpus` are not among them: rules name them after the others, for no result depends on them.
    """
    _, main = _parse(program)
    defaults = zip(main.args.kwonlyargs, main.args.kw_defaults, strict=True)
    found = {each.arg: default is None for each, default in defaults}
    return {name: needed for name, needed in found.items() if name not in ("threads", "gpus", "previous")}


@cache
def find_sections(program: Path) -> tuple[str, ...]:
    """Return the sections of the configuration that make up a program's settings, without running it.

    They are the fields of the class that types its parameter `settings`, or the section of that class.

    Raises
    ------
    ValueError
        If its settings are anything else, which a rule has to give.
    """
    tree, main = _parse(program)
    (kind,) = (each.annotation for each in main.args.kwonlyargs if each.arg == "settings")
    name = ast.unparse(kind) if kind else ""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            names = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
            return _require_sections([ast.unparse(each) for each in names], program)
        if isinstance(node, ast.ImportFrom) and name in (each.name for each in node.names):
            found = getattr(import_module(str(node.module)), name)
            whole = {field.annotation: key for key, field in Config.model_fields.items()}
            section = whole.get(found) or whole.get(found | None)
            return _require_sections([section] if section else found.model_fields, program)
    return _require_sections([], program)


def _require_sections(names: Iterable[str], program: Path) -> tuple[str, ...]:
    found = tuple(names)
    if not found or not set(found) <= set(Config.model_fields):
        raise ValueError(f"{program.name} needs settings that are not sections of the configuration")
    return found


@cache
def _parse(program: Path) -> tuple[ast.Module, ast.FunctionDef]:
    tree = ast.parse(program.read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return tree, next(each for each in functions if each.name == "main")


def _evaluate(value: Any, sources: dict[str, Any]) -> Any:
    """Return the value of a param: itself, or what a function makes of a job's files and wildcards."""
    if not callable(value):
        return value
    return value(**{name: sources[name] for name in inspect.signature(value).parameters})


def _write_option(name: str, value: Any) -> str:
    """Return an option and its value as words of a command line; nothing for None, False and empty lists."""
    option = f"--{name.replace('_', '-')}"
    if value is True:
        return option
    if value is None or value is False or (isinstance(value, Sequence | dict) and not value and value != ""):
        return ""
    if isinstance(value, str | Path | int | float):
        return f"{option} {shlex.quote(str(value))}"
    if isinstance(value, dict) or not all(isinstance(each, str | Path | int) for each in value):
        return f"{option} {shlex.quote(json.dumps(value))}"
    return f"{option} {shlex.join(map(str, value))}"
