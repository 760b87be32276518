"""Write the page of a run: its answer, and every pair behind it, in one file that opens in any browser.

The run need not be finished: the page shows what there is, and says what is missing.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.commands import verbs

if TYPE_CHECKING:
    from fathom.commands.verbs import Verbs


def add_verb(into: "Verbs") -> None:
    """Add `fathom page`."""
    parser = verbs.add_verb(into, "page", __doc__, run)
    parser.add_argument("folder", type=Path, help="results of a run: results/RUN")
    parser.add_argument("--output", type=Path, help="the file to write; index.html in that folder")


def run(arguments: argparse.Namespace) -> None:
    """Write the page, print where it lies."""
    from fathom.config.scoring import Summary
    from fathom.explorer.page import write_page

    output = arguments.output or arguments.folder / "index.html"
    size = write_page(arguments.folder, output, Summary())
    print(f"{output} ({size / 1e6:.1f} MB)")
