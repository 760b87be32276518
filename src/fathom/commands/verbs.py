"""What all verbs share: how one is added to the command."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from fathom.jobs.program import add_log

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_verb(
    verbs: "Verbs", name: str, about: str, run: Callable[[argparse.Namespace], None]
) -> argparse.ArgumentParser:
    """Add one verb to the command and return its parser.

    Parameters
    ----------
    verbs : action of `ArgumentParser.add_subparsers`
    name : str
        The verb.
    about : str
        What it does; the first sentence stands in the list of verbs.
    run : callable
        Takes the parsed arguments; raises `InputError` for what the user can mend.
    """
    parser = verbs.add_parser(name, help=cut_help(about), description=about)
    add_log(parser)
    parser.set_defaults(run=run, name=parser.prog)
    return parser


def cut_help(about: str) -> str:
    """Return the first sentence of a text, without its full stop."""
    return about.partition(".\n")[0].removesuffix(".")


def count_from_one(text: str) -> int:
    """Return a whole number of at least 1, as a type of an option."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1")
    return number
