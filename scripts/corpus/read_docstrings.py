"""Read the docstrings of an installed package as documents."""

import argparse
from pathlib import Path

from fathom.config.corpus import Selection
from fathom.io.files import write_json
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Write the documents of the part, and its report."""
    from fathom.corpus.docstrings import read_docstrings

    report = read_docstrings(
        arguments.package, read_settings(arguments.settings, Selection), arguments.output
    )
    write_json(arguments.report, report)
    log.info(
        "%s: %s documents; %s too short, %s repeated, %s modules could not be imported",
        arguments.package,
        f"{report['documents']:,}",
        f"{report['short']:,}",
        f"{report['duplicates']:,}",
        len(report["import_errors"]),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", required=True, help="name of an installed package")
    parser.add_argument("--output", type=Path, required=True, help="table of documents to write (parquet)")
    parser.add_argument(
        "--report", type=Path, required=True, help="report to write: what was read and left out (JSON)"
    )
    add_settings(parser, Selection)
    run_program(parser, main)
