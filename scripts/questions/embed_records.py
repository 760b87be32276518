"""Embed the texts of records, all or those that a hash draws."""

from pathlib import Path
from typing import Annotated

from fathom.config.coverage import QuestionSettings
from fathom.io.contracts.questions import CHUNKS, ENTITIES
from fathom.io.files import write_atomically
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log, show_progress
from fathom.jobs.signature import run
from fathom.questions.material import Entities


def main(
    *,
    entities: Entities,
    chunks: Annotated[Path, "texts of records to write (parquet)"],
    embeddings: Annotated[Path, "their embeddings to write (.npy)"],
    settings: QuestionSettings,
) -> None:
    """Read entities; write texts and their unit vectors."""
    import numpy as np

    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.questions.material import draw_chunks

    known = read_table(entities, ENTITIES)
    drawn = draw_chunks(known, settings.questions.chunks)
    encoder = SentenceEncoder(settings.embedding)
    vectors = encoder.encode(drawn["text"].to_list(), lambda batches: show_progress(batches, "batches"))
    write_table(chunks, drawn, CHUNKS)
    with write_atomically(embeddings) as temporary, temporary.open("wb") as stream:
        np.save(stream, vectors, allow_pickle=False)
    records = int((known["text"] != "").sum())
    log.info("%s of %s records embedded", f"{len(drawn):,}", f"{records:,}")


if __name__ == "__main__":
    run(main)
