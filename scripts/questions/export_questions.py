"""Export questions as a folder of tasks of lm-evaluation-harness, for its `--include_path` [EvalHarness]."""

import argparse
from pathlib import Path

from fathom.io.contracts.questions import CHUNKS, QUESTIONS
from fathom.io.tables import read_table
from fathom.jobs.program import log, run_program
from fathom.questions.harness_tasks import export_questions


def main(arguments: argparse.Namespace) -> None:
    """Read questions and records; write the folder."""
    from fathom.benchmark.matches import load_embeddings
    from fathom.questions.retrieval import retrieve_records

    questions = read_table(arguments.questions, QUESTIONS)
    texts = read_table(arguments.chunks, CHUNKS)["text"].to_list()
    vectors, records = (load_embeddings(path)[:] for path in (arguments.vectors, arguments.embeddings))
    nearest = retrieve_records(vectors, records, texts)
    counts = export_questions(questions, nearest, arguments.name, arguments.output)
    for task, count in counts.items():
        log.info("task %s: %s documents", task, f"{count:,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, required=True, help="table of questions")
    parser.add_argument("--vectors", type=Path, required=True, help="embeddings of questions (.npy)")
    parser.add_argument("--chunks", type=Path, required=True, help="table of texts of records")
    parser.add_argument("--embeddings", type=Path, required=True, help="embeddings of records (.npy)")
    parser.add_argument("--name", required=True, help="name of the set of questions")
    parser.add_argument("--output", type=Path, required=True, help="folder of the tasks to write")
    run_program(parser, main)
