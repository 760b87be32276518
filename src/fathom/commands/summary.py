"""Print a small table of what models know of each domain of a run, best model first.

For a run that only makes questions, print some of them.
"""

import argparse
import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path

from fathom.commands import verbs
from fathom.commands.questions import list_blocks

NEXT = """Next, on your own texts (docs/tutorial.md):
  fathom build FOLDER --models smollm2
Or on an arXiv dump:
  fathom run -c2 --configfile config/arxiv.yaml --config dump=FOLDER run=NAME"""
"""Next steps after the demo."""

EXAMPLES = ("fathom summary results/docs", "fathom summary results/docs --ranks")


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom summary`."""
    parser = verbs.add_verb(into, "summary", __doc__, run, EXAMPLES)
    parser.add_argument("folder", type=Path, help="folder of a run: results/RUN")
    parser.add_argument("--ranks", action="store_true", help="show the papers' ranks, too")


def run(arguments: argparse.Namespace) -> None:
    """Print every domain's table, what it means, what is not settled, and the path of the page."""
    from fathom.config.scoring import Summary
    from fathom.explorer.advice import advise
    from fathom.explorer.reader import read_run
    from fathom.figures.rank_table import describe_run
    from fathom.io.names import show_text
    from fathom.jobs.file_contents import describe_record

    folder, width = arguments.folder, min(100, shutil.get_terminal_size().columns)
    blocks = [] if (folder / "summary.csv").is_file() else list_blocks(folder, 1)
    # a run that only makes questions ranks no models on pairs
    blocks = blocks or describe_run(folder, width, arguments.ranks)
    read = read_run(folder, Summary())
    missing = [*read.missing, *describe_record(folder)]
    if missing:
        blocks.append("\n".join(["What is missing or inconsistent", *_list(missing, width)]))
    advice = advise(read)
    if advice:
        blocks.append("\n".join(["What to do next", *_list(advice, width)]))
    places = {"Page:   ": "index.html", "Numbers:": "summary.csv", "Answers:": "question-scores.csv"}
    there = {label: folder / name for label, name in places.items() if (folder / name).is_file()}
    blocks.append("\n".join(f"{label} {path}" for label, path in there.items()))
    if folder.resolve().name == "demo":
        blocks.append(NEXT)
    print(show_text("\n" + "\n\n".join(blocks)))


def _list(sentences: Sequence[str], width: int) -> list[str]:
    return [
        textwrap.fill(line, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        for line in sentences
    ]
