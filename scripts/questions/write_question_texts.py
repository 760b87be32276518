"""Write what models may be trained on of a set of questions: records, and questions nobody is asked.

[CompComp, App. A] trains on text chunks first, then on questions and answers.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.questions import Evaluation
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.questions import CHUNKS, QUESTIONS
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.signature import run
from fathom.questions.material import Chunks


def main(
    *,
    questions: Annotated[Path, "questions (parquet)"],
    chunks: Chunks,
    record_texts: Annotated[Path, "records as training text to write (parquet)"],
    question_texts: Annotated[Path, "questions that nobody is asked, as training text to write (parquet)"],
    settings: Evaluation,
) -> None:
    """Read records and questions; write both as training text."""
    from fathom.questions.asked_items import make_question_texts, make_record_texts

    records = make_record_texts(read_table(chunks, CHUNKS))
    shown = make_question_texts(read_table(questions, QUESTIONS), settings.shown)
    write_table(record_texts, records, TEXTS)
    write_table(question_texts, shown, TEXTS)
    log.info("%s records, %s questions with answers", f"{len(records):,}", f"{len(shown):,}")


if __name__ == "__main__":
    run(main)
