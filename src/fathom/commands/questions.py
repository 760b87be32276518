"""Print questions of a run by form and level; a star marks right answers."""

import argparse
import shutil
from pathlib import Path

from fathom.commands import verbs

EXAMPLES = ("fathom questions results/courses", "fathom questions results/courses --most 5")


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom questions`."""
    parser = verbs.add_verb(into, "questions", __doc__, run, EXAMPLES)
    parser.add_argument("folder", type=Path, help="folder of a run: results/RUN")
    parser.add_argument(
        "--most", type=verbs.count_from_one, default=2, help="most questions of each form and level; 2"
    )


def run(arguments: argparse.Namespace) -> None:
    """Print the first questions of each set."""
    from fathom.errors import InputError
    from fathom.io.names import show_text

    blocks = list_blocks(arguments.folder, arguments.most)
    if not blocks:
        raise InputError(
            "there are no questions", str(arguments.folder), "give the folder of a run: results/RUN"
        )
    print(show_text("\n\n".join(blocks)))


def list_blocks(folder: Path, most: int) -> list[str]:
    """Return the first questions of each set of a run, by form and level; empty without sets."""
    from fathom.io.contracts.questions import QUESTIONS
    from fathom.io.tables import read_table
    from fathom.questions.shown import show_questions

    width = min(100, shutil.get_terminal_size().columns)
    blocks = []
    for path in sorted(folder.glob("questions/*/questions.parquet")):
        blocks += [path.parent.name, *show_questions(read_table(path, QUESTIONS), most, width)]
    return blocks
