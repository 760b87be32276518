"""Write the page of a run, or of logs of other programs: the answer, and every item behind it, in one file.

The file opens in any browser. For an unfinished run, the page shows the results so far and says what is
missing. Logs may come from lm-evaluation-harness (--log_samples), Inspect or Every Eval Ever, or be tables
with columns model, item and score: files or folders, of one or several models.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from fathom.commands import verbs
from fathom.errors import InputError

_PAGE = b"<!doctype html>"
"""Start of every page."""

EXAMPLES = ("fathom page results/docs", "fathom page logs/first --output page.html")


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom page`."""
    parser = verbs.add_verb(into, "page", __doc__, run, EXAMPLES)
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="folder of a run, results/RUN; or logs"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="file to write; default: index.html in the run's folder, LOG.html for logs",
    )


def run(arguments: argparse.Namespace) -> None:
    """Write the page; print its path."""
    from fathom.config.scoring import Summary
    from fathom.explorer.page import write_item_page, write_page
    from fathom.explorer.reader import is_run

    first, *others = arguments.paths
    if arguments.output:
        _require_page(arguments.output)
    runs = [path for path in arguments.paths if is_run(path)]
    if runs and others:
        raise InputError("a run needs its own page", str(runs[0]), "give only this folder, or only logs")
    if runs:
        output = arguments.output or first / "index.html"
        size = write_page(first, output, Summary())
    else:
        from fathom.logs.items import read_logs

        output = arguments.output or first.with_name(f"{first.resolve().name}.html")
        items, notes = read_logs(arguments.paths)
        size = write_item_page(name_logs(arguments.paths), items, notes, output, Summary())
    print(f"{output} ({size / 1e6:.1f} MB)")


def _require_page(output: Path) -> None:
    """Raise `InputError` if the page would replace another file, such as one that it is made from."""
    if output.is_file():
        with output.open("rb") as stream:
            start = stream.read(len(_PAGE))
        if start and start.lower() != _PAGE:
            raise InputError("this file exists and is not a page", f"--output {output}", "give another path")


def name_logs(paths: Sequence[Path]) -> str:
    """Return the title for logs: the name of the first, and how many more there are."""
    first, more = paths[0].resolve().name, len(paths) - 1
    return f"{first} and {more:,} more" if more else first
