"""Read a set of multiple-choice questions: CSV files of a folder, or a data set of the hub [MMLU]."""

import argparse
from pathlib import Path

from fathom.errors import InputError
from fathom.io.contracts.answering import CHOICE_QUESTIONS
from fathom.io.tables import write_table
from fathom.jobs.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the questions, check them, write the table."""
    from fathom.answering.choice_files import read_choice_folder
    from fathom.answering.choice_hub import fetch_choices

    if arguments.folder is not None:
        found = read_choice_folder(arguments.folder, arguments.name)
    elif arguments.hub and arguments.revision:
        found = fetch_choices(arguments.hub, arguments.revision, arguments.name)
    else:
        raise InputError("neither a folder nor a data set with its commit", "--folder, --hub, --revision")
    write_table(arguments.output, found, CHOICE_QUESTIONS)
    asked = int((found["split"] == "test").sum())
    log.info("%s questions and %s examples", asked, len(found) - asked)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="name of the set: of NAME_test.csv, or of a subset")
    parser.add_argument("--folder", type=Path, help="folder of its CSV files")
    parser.add_argument("--hub", help="in place of the folder: a data set of the hub, such as cais/mmlu")
    parser.add_argument("--revision", help="commit of the data set, all 40 digits")
    parser.add_argument("--output", type=Path, required=True, help="table of questions to write")
    run_program(parser, main)
