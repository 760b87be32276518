"""List, describe, check and add models: the rows of the table of models.

The table is `config/models.tsv` of the working folder, else Fathom's own.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.commands import verbs
from fathom.errors import InputError
from fathom.io.names import show_count

if TYPE_CHECKING:
    from fathom.models.registry import ModelRow

LIST = """List the models of the table.

With words, list only models with one of them in their names or sources.
"""
DESCRIBE = """Print the table's rows for models given by their usual names.

For a model of the hub, reads the small files that describe it; their commit becomes the revision.
"""
ADD = """Add models by their usual names to config/models.tsv of the working folder.

A new table begins with Fathom's own rows.
"""
CHECK = """Ask the hub whether it offers the models of the table: all, or the named ones."""
EXAMPLES = ("fathom models list smollm2 gemma", "fathom models describe smollm2 path/to/model")
_TABLE = "config/models.tsv"


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom models list`, `describe`, `add` and `check`."""
    parser = into.add_parser("models", help=verbs.cut_help(__doc__), description=__doc__)
    parser.examples = EXAMPLES
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True)
    named = (
        "a row or a prefix of one, an id on the hub with an optional @REVISION or /FILE.gguf, a folder, "
        "ADDRESS#ID"
    )
    for name, about, run, count, told in (
        ("list", LIST, list_models, "*", "words in names or sources"),
        ("describe", DESCRIBE, describe, "+", named),
        ("add", ADD, add, "+", named),
        ("check", CHECK, check, "*", "rows of the table, or prefixes of them"),
    ):
        verbs.add_verb(steps, name, about, run).add_argument("names", nargs=count, metavar="NAME", help=told)


def read_table() -> "tuple[dict[str, ModelRow], Path]":
    """Return the rows of the table and its path."""
    from fathom.io.places import find_own
    from fathom.models.registry import read_registry

    table = find_own(_TABLE)
    return read_registry(table), table


def list_models(arguments: argparse.Namespace) -> None:
    """Print a line for each model."""
    entries, table = read_table()
    words = [each.casefold() for each in arguments.names]
    shown = [
        each
        for each in entries.values()
        if not words or any(word in f"{each.name} {each.source}".casefold() for word in words)
    ]
    if not shown:
        raise InputError(f"no model has {' or '.join(arguments.names)} in its name or source", str(table))
    width = max(len(each.name) for each in shown)
    print(f"{'name':{width}}  {'parameters':>15}  {'kind':4}  {'cutoff':10}  source")
    for each in shown:
        size = f"{each.parameters:,}" if each.parameters else ""
        print(f"{each.name:{width}}  {size:>15}  {each.kind:4}  {each.cutoff:10}  {each.source}")


def describe(arguments: argparse.Namespace) -> None:
    """Print the rows, column by column."""
    from fathom.io.contracts.jobs import MODELS
    from fathom.models.named import close_over, resolve_models

    entries, table = read_table()
    found = resolve_models(arguments.names, entries, str(table))
    rows = entries | {each.name: each for each in found.new}
    blocks = []
    for each in close_over((rows[name] for name in found.names), rows):
        values = {name: vars(each)[name] for name in MODELS.names if vars(each)[name] not in (None, "")}
        blocks.append("\n".join(f"{name:12} {value}" for name, value in values.items()))
    print("\n\n".join(blocks))


def add(arguments: argparse.Namespace) -> None:
    """Write the table with the new rows at its end."""
    from fathom.models.named import place_rows, resolve_models, write_models

    entries, table = read_table()
    found = resolve_models(arguments.names, entries, str(table))
    if found.new:
        write_models(Path(_TABLE), [*place_rows(entries.values(), table), *found.new])
    added = ", ".join(each.name for each in found.new)
    print(f"{_TABLE}: {added or 'nothing new'}; name in a configuration: {', '.join(found.names)}")


def check(arguments: argparse.Namespace) -> None:
    """Print what the hub says; fail if a model cannot be fetched."""
    from fathom.models.registry import match_name
    from fathom.planning.hub_checks import ask_hub, list_repositories

    entries, table = read_table()
    names = [match_name(name, entries, str(table)) for name in arguments.names] or list(entries)
    wanted = list_repositories([entries[name] for name in names], table)
    obstacles, notes = ask_hub(wanted, seconds=max(5.0, len(wanted)))
    for line in (*notes, *obstacles):
        print(line)
    if obstacles:
        raise InputError(f"{len(obstacles)} of {len(wanted)} repositories cannot be fetched", str(table))
    if not notes:
        print(f"the hub offers everything: {show_count(len(wanted), 'repository', 'repositories')}")
