"""Embed a slice's distinct sentences, each once for all keywords and domains [RawCorpora, Sec. 2.3]."""

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fathom.config.benchmark import Embedding
from fathom.io.contracts.corpus import SENTENCES
from fathom.io.files import write_atomically, write_json
from fathom.io.tables import read_table
from fathom.jobs.program import log, show_progress
from fathom.jobs.signature import Previous, Threads, run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt

    from fathom.benchmark.embedding import Computation


def main(
    *,
    sentences: Annotated[Path, "table of sentences"],
    drawn: Annotated[
        Path | None, "table of drawn documents, with sentences.limit; all count without it"
    ] = None,
    previous: Previous = None,
    threads: Threads = 1,
    embeddings: Annotated[Path, "array of embeddings (.npy)"],
    report: Annotated[Path, "counts and method to write (JSON)"],
    settings: Embedding,
) -> None:
    """Read a table of sentences, embed its distinct ones, write float32 [rows, dimension] as .npy."""
    from fathom.benchmark.draw import keep_drawn
    from fathom.benchmark.embedding import PLAIN, choose_computation
    from fathom.benchmark.reused_vectors import describe_embedding, find_vectors, write_vectors
    from fathom.jobs.devices import name_gpu

    table = keep_drawn(read_table(sentences, SENTENCES, ["doc_id", "row", "sentence"]), drawn)
    count = len(table)
    # most slices of a domain's corpus may be empty, and then import nothing heavy
    computation = choose_computation(settings) if len(table) else PLAIN
    method = describe_embedding(settings, computation.precision)
    known = find_vectors(previous, table, method)
    distinct = table.unique("row", keep="first", maintain_order=True).sort("row")["sentence"]
    del table
    log.info("%s distinct sentences of %s", f"{len(distinct):,}", f"{count:,}")
    if len(known.places):
        log.info("%s of %s vectors reused", f"{len(known.places):,}", f"{len(distinct):,}")
    log.info("on %s in %s", *computation)
    encode = make_encoder(settings, computation, threads)
    with write_atomically(embeddings) as temporary, temporary.open("wb") as stream:
        write_vectors(stream, distinct, known, encode)
    counts = {"sentences": len(distinct), "reused_sentences": len(known.places)}
    made_by = {"device": name_gpu(computation.device) or "cpu", "precision": computation.precision}
    method = method or describe_embedding(settings, computation.precision)
    limited = {"limited": True} if drawn else {}
    write_json(report, {**counts, **made_by, **limited, "method": method})


def make_encoder(
    settings: Embedding, computation: "Computation", workers: int
) -> "Callable[[Sequence[str]], npt.NDArray[np.float32]]":
    """Return a function that embeds sentences, in one process or several; it loads the model once called."""
    from fathom.benchmark.embedding import SentenceEncoder, encode_in_processes
    from fathom.benchmark.matches import CHECKED, check_rounding

    load = cache(lambda: SentenceEncoder(settings, computation))
    on_gpu = computation.device != "cpu"

    def encode(sentences: "Sequence[str]") -> "npt.NDArray[np.float32]":
        if workers > 1 and len(sentences) > workers and not on_gpu:
            return encode_in_processes(sentences, settings, workers, computation)
        vectors = load().encode(sentences, partial(show_progress, what="batches"))
        if on_gpu:
            exact = load().encode_exactly(sentences[:CHECKED])
            check_rounding(vectors[:CHECKED], exact, computation.device)
        return vectors

    return encode


if __name__ == "__main__":
    run(main)
