"""Adding a verb to the command."""

import argparse
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from fathom.io.names import show_text
from fathom.jobs.program import add_log

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction["VerbParser"]


class VerbParser(argparse.ArgumentParser):
    """Parser of a verb, whose help ends with examples."""

    examples: Sequence[str] = ()

    def format_help(self) -> str:
        """Return the help, with each example on its own line."""
        lines = ["", "examples:", *(f"  {each}" for each in self.examples), ""] if self.examples else []
        return super().format_help() + "\n".join(lines)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is none of the choices in the words that configurations are refused in."""
        if action.choices is not None and value not in action.choices:
            from fathom.config.section import describe_unknown

            kind = "value" if action.option_strings else str(action.metavar or action.dest).lower()
            raise argparse.ArgumentError(action, describe_unknown(kind, str(value), [*action.choices]))

    def error(self, message: str) -> NoReturn:
        """End the program with a message that hides secrets in what was typed."""
        super().error(show_text(message))


def add_verb(
    verbs: "Verbs",
    name: str,
    about: str,
    run: Callable[[argparse.Namespace], None],
    examples: Sequence[str] = (),
) -> VerbParser:
    """Add one verb to the command and return its parser."""
    parser = verbs.add_parser(name, help=cut_help(about), description=about)
    add_log(parser)
    parser.set_defaults(run=run, name=parser.prog)
    parser.examples = examples
    return parser


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: its first and last columns on the left, numbers between on the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][1:-1]
    first = max(len(row[0]) for row in rows)
    return [
        "  ".join([row[0].ljust(first), *map(str.rjust, row[1:-1], widths), row[-1]]).rstrip() for row in rows
    ]


def cut_help(about: str) -> str:
    """Return the first sentence of a text, without its full stop."""
    return about.partition(".\n")[0].removesuffix(".")


def read_finite(text: str) -> float:
    """Return a finite number; for options."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return number


def count_from_one(text: str) -> int:
    """Return a whole number of at least 1; for options."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return number
