"""Group documents that share sentences or are near-duplicates, and choose one split for each group."""

import argparse
from pathlib import Path

from fathom.config.corpus import Grouping, Splits
from fathom.config.section import Section
from fathom.errors import InputError
from fathom.io.files import write_json
from fathom.jobs.program import add_settings, read_settings, run_program


class Settings(Section):
    """Settings of this program."""

    splits: Splits = Splits()
    grouping: Grouping = Grouping()


def main(arguments: argparse.Namespace) -> None:
    """Read ids and hashes of all parts, write the splits of grouped documents and a report."""
    from fathom.corpus.groups import group_documents, report_groups

    if len(arguments.documents) != len(arguments.sketches):
        raise InputError("as many tables of hashes as of documents are needed", "--sketches")
    settings = read_settings(arguments.settings, Settings)
    report = group_documents(
        arguments.documents, arguments.sketches, settings.grouping, settings.splits, arguments.output
    )
    write_json(arguments.report, report)
    report_groups(report)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, nargs="+", required=True, help="tables of documents")
    parser.add_argument(
        "--sketches", type=Path, nargs="+", required=True, help="their hashes, in the same order"
    )
    parser.add_argument("--output", type=Path, required=True, help="splits of grouped documents to write")
    parser.add_argument("--report", type=Path, required=True, help="counts to write (JSON)")
    add_settings(parser, Settings)
    run_program(parser, main)
