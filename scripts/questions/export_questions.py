"""Export questions as a folder of tasks of lm-evaluation-harness, for its `--include_path` [EvalHarness]."""

from pathlib import Path
from typing import Annotated

from fathom.io.contracts.questions import CHUNKS, QUESTIONS
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.jobs.signature import run
from fathom.questions.harness_tasks import export_questions
from fathom.questions.material import Chunks, Embeddings


def main(
    *,
    questions: Annotated[Path, "questions (parquet)"],
    vectors: Annotated[Path, "embeddings of questions (.npy)"],
    chunks: Chunks,
    embeddings: Embeddings,
    set: Annotated[str, "name of the set of questions"],
    tasks: Annotated[Path, "folder of the tasks to write"],
) -> None:
    """Read questions and records; write the folder."""
    from fathom.benchmark.matches import load_embeddings
    from fathom.questions.asked_items import retrieve_records

    texts = read_table(chunks, CHUNKS)["text"].to_list()
    asked, records = (load_embeddings(path)[:] for path in (vectors, embeddings))
    nearest = retrieve_records(asked, records, texts)
    counts = export_questions(read_table(questions, QUESTIONS), nearest, set, tasks)
    for task, count in counts.items():
        log.info("task %s: %s documents", task, f"{count:,}")


if __name__ == "__main__":
    run(main)
