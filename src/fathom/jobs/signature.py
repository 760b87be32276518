"""Programs state their options once: as the signature of their function `main`.

    def main(
        *,
        scores: Annotated[Tables, paths.SCORES, "scores of one model on one benchmark"],
        overlap: Annotated[Tables, paths.OVERLAP, "pairs of one benchmark that occur in training text"] = (),
        summary: Annotated[Path, "table to write (CSV)"],
        settings: Summary,
    ) -> None:

becomes `--scores FILE ... --overlap FILE ... --summary FILE --settings JSON`. What has a default may be left
out. A rule passes its inputs, outputs and parameters by these names.
"""

import argparse
import inspect
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from fathom.errors import InputError
from fathom.io import paths
from fathom.io.run_path import RunPath
from fathom.jobs.program import add_log, read_settings, run_logged

Tables = list[Any] | tuple[()]
"""Tables with their places: tuples of the values of its path's fields, then the path.

Its annotation has the path (:class:`RunPath`) and the help. A file that lies elsewhere is given as
`DOMAIN/VARIANT/MODEL=FILE`.
"""


class FromEnvironment(str):
    """Name of the environment variable to take a missing option from."""


Previous = Annotated[
    Path | None,
    FromEnvironment("FATHOM_PREVIOUS"),
    "folder of an earlier run whose work on equal content is reused",
]
"""An earlier run whose work to reuse. It changes no result, so it is given by the environment."""

# tables that several programs read
ScoreTables = Annotated[Tables, paths.SCORES, "scores of one model on one benchmark"]
PairTables = Annotated[Tables, paths.PAIRS, "pairs of one benchmark"]
OverlapTables = Annotated[Tables, paths.OVERLAP, "pairs of one benchmark that occur in training text"]
PerplexityTables = Annotated[Tables, paths.PERPLEXITY, "likelihood of a domain's held-out text by one model"]
RateTables = Annotated[Tables, paths.RATES, "attribute rates of one model on one domain"]

ModelFile = Annotated[Path, "pointer to a model (JSON), or its folder"]
Wordlists = Annotated[Path, "folder of word lists"]
Threads = Annotated[int, "how many to use; changes no result"]
Gpus = Annotated[int, "visible GPUs that share the work, if the device is auto; 0: none"]


def run(main: Callable[..., None]) -> None:
    """Run a program: read the options of its function's signature, call the function.

    The program's docstring is its help. `--log FILE` is always there; see
    :func:`fathom.jobs.program.run_program` for the log and the exit codes. `main`: its parameters are `Path`,
    `str`, `int`, `float`, `bool`, `Literal`, lists of these, :data:`Tables`, a section of the configuration,
    or, as JSON, of any other type; all but sections have their help beside.
    """
    parser = make_parser(main)
    run_logged(
        lambda arguments: main(**read_options(main, arguments)), parser.parse_args(), Path(parser.prog).stem
    )


def make_parser(main: Callable[..., None]) -> argparse.ArgumentParser:
    """Return the parser of a program's options."""
    parser = argparse.ArgumentParser(description=main.__globals__["__doc__"])
    for name, parameter in inspect.signature(main).parameters.items():
        kind, notes = _part_annotation(get_type_hints(main, include_extras=True)[name])
        _add_option(parser, parameter, kind, notes)
    add_log(parser)
    return parser


def read_options(main: Callable[..., None], arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of a program's function; raise `InputError` for a value that does not fit."""
    hints, found = get_type_hints(main, include_extras=True), {}
    for name, parameter in inspect.signature(main).parameters.items():
        kind, notes = _part_annotation(hints[name])
        value, where = getattr(arguments, name), f"--{name.replace('_', '-')}"
        if value is None:
            value = parameter.default
        elif _is_section(kind):
            value = read_settings(value, kind)
        elif template := next((note for note in notes if isinstance(note, RunPath)), None):
            value = [_place_table(path, template, where) for path in value]
        elif isinstance(value, str) and _find_converter(kind) is None:
            try:
                value = json.loads(value)
            except json.JSONDecodeError as error:
                raise InputError(f"not valid JSON: {error}", where) from error
        found[name] = value
    return found


def _add_option(
    parser: argparse.ArgumentParser, parameter: inspect.Parameter, kind: Any, notes: tuple[Any, ...]
) -> None:
    option = f"--{parameter.name.replace('_', '-')}"
    required = parameter.default is inspect.Parameter.empty
    default = None if required else parameter.default
    help_text = next((note for note in notes if type(note) is str), "")
    if _is_section(kind):
        keys = ", ".join(kind.model_fields)
        what = f"settings as JSON, any of: {keys}; the defaults otherwise"
        parser.add_argument(option, default="{}", metavar="JSON", help=what)
        return
    if kind is bool:
        parser.add_argument(option, action="store_true", help=help_text)
        return
    variable = next((note for note in notes if isinstance(note, FromEnvironment)), None)
    if variable is not None:
        default = os.getenv(variable, "")  # as a string, it is converted too; an empty one is none
    template = next((note for note in notes if isinstance(note, RunPath)), None)
    item = get_args(kind)[0] if get_origin(kind) is list else kind
    many = get_origin(kind) is list
    convert = None if template else _find_converter(item)
    shown = {Path: "FILE", int: "NUMBER", float: "NUMBER", str: "TEXT"}
    metavar = "FILE" if template else shown.get(item, "JSON")
    how: dict[str, Any] = {"required": required, "default": default, "metavar": metavar, "help": help_text}
    if get_origin(item) is Literal:
        how |= {"choices": get_args(item), "metavar": None}
    if many and (template or convert):
        parser.add_argument(
            option, nargs="+", action="extend", type=convert or str, **how | {"default": None}
        )
    else:
        parser.add_argument(option, type=convert or str, **how)


def _part_annotation(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the type of a parameter, None left out of unions, and what stands beside it in `Annotated`."""
    kind, *notes = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not type(None))
    return kind, tuple(notes)


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and hasattr(kind, "model_fields")


def _find_converter(kind: Any) -> Callable[[str], Any] | None:
    if kind is Path:
        return lambda text: Path(text) if text else None
    converters: dict[Any, Callable[[str], Any]] = {int: int, float: float, str: str}
    return str if get_origin(kind) is Literal else converters.get(kind)


def _place_table(text: str, template: RunPath, option: str) -> tuple[str, ...]:
    """Return a table's place, as given or from its path, and its path."""
    said, _, path = text.partition("=")
    values = said.split("/")
    if path and len(values) == len(template.fields):
        return *values, path
    found = template.read(text)
    if found is None:
        places = "/".join(template.fields).upper()
        what = f"its path does not end like {template.below}, so its place is unknown"
        raise InputError(what, f"{option} {text}", f"give it: {option} {places}={text}")
    return *found.values(), text
