"""Embed the distinct sentences of one part, each once for all keywords and domains (spec 1.3)."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.config.benchmark import Embedding
from fathom.contracts.corpus import SENTENCES
from fathom.files import write_atomically, write_json
from fathom.program import add_previous, add_settings, log, read_settings, run_program, show_progress
from fathom.tables import read_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def main(arguments: argparse.Namespace) -> None:
    """Read a table of sentences, embed its distinct ones, write float32 [rows, dimension] as .npy."""
    import numpy as np

    from fathom.benchmark.reuse import describe_embedding, find_vectors

    settings = read_settings(arguments.settings, Embedding)
    table = read_table(arguments.sentences, SENTENCES, ["doc_id", "row", "sentence"])
    sentences = table.unique("row", keep="first", maintain_order=True).sort("row")["sentence"].to_list()
    log.info("%s distinct sentences of %s", f"{len(sentences):,}", f"{len(table):,}")
    method = describe_embedding(settings)
    rows, known = find_vectors(arguments.previous, table, method)
    new = np.setdiff1d(np.arange(len(sentences)), rows, assume_unique=True)
    vectors = encode([sentences[row] for row in new.tolist()], settings, arguments.workers)
    if len(rows):
        log.info("%s of %s vectors taken over", f"{len(rows):,}", f"{len(sentences):,}")
        every = np.empty((len(sentences), known.shape[1]), dtype=np.float32)
        every[rows] = known
        if len(new):
            every[new] = vectors
        vectors = every
    with write_atomically(arguments.output) as temporary, temporary.open("wb") as stream:
        np.save(stream, vectors, allow_pickle=False)
    report = {"sentences": len(sentences), "reused_sentences": len(rows)}
    write_json(arguments.report, {**report, "method": method or describe_embedding(settings)})


def encode(sentences: list[str], settings: Embedding, workers: int) -> "npt.NDArray[np.float32]":
    """Return the vectors of some sentences; no model is loaded for none."""
    import numpy as np

    from fathom.benchmark.embedding import SentenceEncoder, encode_in_processes

    if not sentences:
        return np.empty((0, 0), dtype=np.float32)
    if workers > 1 and len(sentences) > workers:
        return encode_in_processes(sentences, settings, workers)
    return SentenceEncoder(settings).encode(sentences, partial(show_progress, what="batches"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=Path, required=True, help="table of sentences")
    add_previous(parser)
    add_settings(parser, Embedding)
    parser.add_argument("--workers", type=int, default=1, help="processes; the result is the same")
    parser.add_argument("--output", type=Path, required=True, help="array of embeddings, .npy")
    parser.add_argument("--report", type=Path, required=True, help="counts and method as JSON")
    run_program(parser, main)
