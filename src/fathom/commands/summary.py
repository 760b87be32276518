"""Print the ranks of a run as a small table for each domain, best model first."""

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.commands import verbs

if TYPE_CHECKING:
    from fathom.commands.verbs import Verbs

NEXT = ".venv/bin/snakemake -c2 --configfile config/arxiv.yaml --config dump=FOLDER run=NAME"


def add_verb(into: "Verbs") -> None:
    """Add `fathom summary`."""
    parser = verbs.add_verb(into, "summary", __doc__, run)
    parser.add_argument("folder", type=Path, help="results of a run: results/RUN")


def run(arguments: argparse.Namespace) -> None:
    """Print every domain's table, what it means, where the report lies, and what to try next."""
    from fathom.figures.rank_table import describe_run

    folder = arguments.folder
    blocks = describe_run(folder, min(100, shutil.get_terminal_size().columns))
    report = f"Report:  {folder / 'report.html'}\n" if (folder / "report.html").is_file() else ""
    blocks.append(f"{report}Numbers: {folder / 'summary.csv'}")
    blocks.append(f"Next, on an arXiv dump:\n  {NEXT}")
    print("\n" + "\n\n".join(blocks))
