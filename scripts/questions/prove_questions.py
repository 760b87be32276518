"""Prove every question by its own query: right answers are true, and no wrong one is."""

import argparse
from pathlib import Path

from fathom.io.contracts.questions import QUESTIONS
from fathom.io.files import write_json
from fathom.io.tables import read_table
from fathom.jobs.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read questions and statements; write what was proved, or fail."""
    from fathom.questions.graph import OntologyGraph
    from fathom.questions.proofs import prove_questions

    questions = read_table(arguments.questions, QUESTIONS)
    report = prove_questions(questions, OntologyGraph(arguments.statements))
    write_json(arguments.output, report)
    proved = sum(count["questions"] for count in report["proved"].values())
    log.info("%s questions proved, %s are open", f"{proved:,}", f"{report['open']:,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, required=True, help="table of questions")
    parser.add_argument("--statements", type=Path, required=True, help="statements (N-Triples)")
    parser.add_argument("--output", type=Path, required=True, help="counts to write (JSON)")
    run_program(parser, main)
