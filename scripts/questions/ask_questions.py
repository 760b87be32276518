"""Ask questions about records, round by round, until no large gap is left [CompComp, Sec. 3.3].

Each round is written beside the results, so that a run that was stopped resumes after the last one.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.coverage import QuestionSettings
from fathom.io.contracts.questions import QUESTIONS
from fathom.io.files import write_atomically, write_json
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
    rounds: Annotated[Path, "folder for the state of each round"],
    questions: Annotated[Path, "questions to write (parquet)"],
    vectors: Annotated[Path, "their embeddings to write (.npy)"],
    report: Annotated[Path, "numbers to write (JSON)"],
    threads: Threads = 1,
    settings: QuestionSettings,
) -> None:
    """Read records, templates and open questions; write questions, their embeddings and a report."""
    import numpy as np

    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.jobs.file_hashes import hash_once
    from fathom.jobs.resume import make_key
    from fathom.questions.question_rounds import RoundFolder, ask_questions

    files = MaterialFiles(statements, entities, chunks, embeddings, templates, users, pairs)
    key = make_key(__file__, settings, [hash_once(path) for path in files.list_paths()])
    material = files.read()
    encoder = SentenceEncoder(settings.embedding)
    found = ask_questions(material, encoder.encode, settings, RoundFolder(rounds, key), threads)
    write_table(questions, found.table, QUESTIONS)
    with write_atomically(vectors) as temporary, temporary.open("wb") as stream:
        np.save(stream, found.vectors, allow_pickle=False)
    write_json(report, found.report | {"embedding": settings.embedding.model})
    log.info("%s questions; %s", f"{len(found.table):,}", found.report["end"])


if __name__ == "__main__":
    run(main)
