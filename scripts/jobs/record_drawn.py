"""Record which figures and tables of the papers finished runs hold, for docs/figures.md.

    .venv/bin/python scripts/jobs/record_drawn.py --run demo=results/demo published=results/train-before-test

Then renew docs/figures.md: scripts/jobs/write_figures_doc.py.
"""

import argparse
from pathlib import Path

from fathom.errors import InputError
from fathom.figures.papers import SOURCES, find_drawn, list_paper_rows
from fathom.io.contracts.figures import DRAWN
from fathom.io.delimited import read_rows, write_rows
from fathom.jobs.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Look for the files of every row of a paper in every run; write the table. Rows of other runs stay."""
    known = read_rows(arguments.output, DRAWN) if arguments.output.exists() else []
    named, patterns = {Path(text).name for text in arguments.run}, {row.file for row in list_paper_rows()}
    kept = (row for row in known if row["run"] not in named and row["file"] in patterns)
    rows = [tuple(row[column.name] for column in DRAWN) for row in kept]
    for text in arguments.run:
        source, _, folder = text.partition("=")
        if source not in SOURCES or not Path(folder).is_dir():
            raise InputError(
                f"not a run: {text!r}", "--run", f"SOURCE=FOLDER, SOURCE one of {', '.join(SOURCES)}"
            )
        found = list(find_drawn(Path(folder), source))
        log.info("%s: %s kinds of files", folder, len(found))
        rows += found
    write_rows(arguments.output, sorted(rows), DRAWN)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", nargs="+", required=True, metavar="SOURCE=FOLDER", help="finished runs")
    parser.add_argument("--output", type=Path, default=Path("docs/results/drawn.csv"), help="table to write")
    run_program(parser, main)
