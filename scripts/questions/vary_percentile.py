"""Ask questions with several t_d, and say what comes of each [CompComp, Sec. 5.5, Fig. 4]."""

from pathlib import Path
from typing import Annotated

from fathom.config.coverage import QuestionSettings
from fathom.io.contracts.questions import PERCENTILES, QUESTION_MAP, QUESTIONS
from fathom.io.delimited import write_rows
from fathom.io.files import write_atomically
from fathom.io.tables import write_table
from fathom.jobs.program import log
from fathom.jobs.signature import PairTables, Threads, run
from fathom.questions.material import (
    Chunks,
    Embeddings,
    Entities,
    MaterialFiles,
    Statements,
    Templates,
    Users,
)


def main(
    *,
    statements: Statements,
    entities: Entities,
    chunks: Chunks,
    embeddings: Embeddings,
    templates: Templates,
    users: Users = (),
    pairs: PairTables = (),
    thresholds: Annotated[Path, "what comes of each t_d, to write (CSV)"],
    map: Annotated[Path, "questions on a map to write (parquet)"],
    questions: Annotated[Path, "all questions to write (parquet)"],
    vectors: Annotated[Path, "their embeddings to write (.npy)"],
    threads: Threads = 1,
    settings: QuestionSettings,
) -> None:
    """Read records, templates and open questions; write a line for each t_d, a map, and all questions."""
    import numpy as np

    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.questions.percentiles import vary_percentile

    encoder = SentenceEncoder(settings.embedding)
    files = MaterialFiles(statements, entities, chunks, embeddings, templates, users, pairs)
    found = vary_percentile(files.read(), encoder.encode, settings, threads)
    write_table(map, found.map, QUESTION_MAP)
    write_table(questions, found.questions, QUESTIONS)
    with write_atomically(vectors) as temporary, temporary.open("wb") as stream:
        np.save(stream, found.vectors, allow_pickle=False)
    write_rows(thresholds, found.rows, PERCENTILES)
    log.info("%s questions with %s values of t_d", f"{len(found.questions):,}", len(found.rows))


if __name__ == "__main__":
    run(main)
