"""Prove every question by its own query: right answers are true, and no wrong one is."""

from pathlib import Path
from typing import Annotated

from fathom.io.contracts.questions import QUESTIONS
from fathom.io.files import write_json
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.jobs.signature import run
from fathom.questions.material import Statements


def main(
    *,
    questions: Annotated[Path, "questions (parquet)"],
    statements: Statements,
    proof: Annotated[Path, "counts to write (JSON)"],
) -> None:
    """Read questions and statements; write what was proved, or fail."""
    from fathom.questions.graph import OntologyGraph
    from fathom.questions.proofs import prove_questions

    report = prove_questions(read_table(questions, QUESTIONS), OntologyGraph(statements))
    write_json(proof, report)
    proved = sum(count["questions"] for count in report["proved"].values())
    log.info("%s questions proved, %s are open", f"{proved:,}", f"{report['open']:,}")


if __name__ == "__main__":
    run(main)
