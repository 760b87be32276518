"""Embed the texts of records, all or those that a hash draws."""

import argparse
from pathlib import Path

from fathom.config.coverage import QuestionSettings
from fathom.io.contracts.questions import CHUNKS, ENTITIES
from fathom.io.files import write_atomically
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import add_settings, log, read_settings, run_program, show_progress


def main(arguments: argparse.Namespace) -> None:
    """Read entities; write texts and their unit vectors."""
    import numpy as np

    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.questions.chunks import draw_chunks

    settings = read_settings(arguments.settings, QuestionSettings)
    entities = read_table(arguments.entities, ENTITIES)
    chunks = draw_chunks(entities, settings.questions.chunks)
    encoder = SentenceEncoder(settings.embedding)
    vectors = encoder.encode(chunks["text"].to_list(), lambda batches: show_progress(batches, "batches"))
    write_table(arguments.chunks, chunks, CHUNKS)
    with write_atomically(arguments.embeddings) as temporary, temporary.open("wb") as stream:
        np.save(stream, vectors, allow_pickle=False)
    records = int((entities["text"] != "").sum())
    log.info("%s of %s records embedded", f"{len(chunks):,}", f"{records:,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=Path, required=True, help="table of entities")
    add_settings(parser, QuestionSettings)
    parser.add_argument("--chunks", type=Path, required=True, help="table of texts to write")
    parser.add_argument("--embeddings", type=Path, required=True, help="their embeddings to write (.npy)")
    run_program(parser, main)
