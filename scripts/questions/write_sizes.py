"""Write sizes and redundancy of corpora and questions beside those of the paper [CompComp, Sec. 4]."""

import argparse
from pathlib import Path

from fathom.io.contracts.coverage import EXPANSION_MAP
from fathom.io.contracts.questions import QUESTIONS, SIZES
from fathom.io.delimited import write_rows
from fathom.io.files import read_json
from fathom.io.tables import read_table
from fathom.jobs.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read reports; write the table."""
    from fathom.questions.corpus_sizes import list_corpus_sizes, list_question_sizes

    rows = [
        row
        for name, report, places in arguments.expansion
        for row in list_corpus_sizes(name, read_json(report), read_table(places, EXPANSION_MAP))
    ]
    rows += [
        row
        for name, report, questions in arguments.questions
        for row in list_question_sizes(name, read_json(report), read_table(questions, QUESTIONS))
    ]
    write_rows(arguments.output, rows, SIZES)
    log.info("%s corpora, %s sets of questions", len(arguments.expansion), len(arguments.questions))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for option, first, second in (("expansion", "DOMAIN", "MAP"), ("questions", "SET", "QUESTIONS")):
        parser.add_argument(
            f"--{option}", nargs=3, action="append", default=[], metavar=(first, "REPORT", second),
            help="a name, a report (JSON) and a table; repeat for each",
        )  # fmt: skip
    parser.add_argument("--output", type=Path, required=True, help="table to write (CSV)")
    run_program(parser, main)
