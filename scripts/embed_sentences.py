"""Embed the distinct sentences of one part, each once for all keywords and domains (spec 1.3)."""

import argparse
from functools import partial
from pathlib import Path

from fathom.config.benchmark import Embedding
from fathom.files import write_atomically
from fathom.program import add_settings, log, read_settings, run_program, show_progress
from fathom.tables import SENTENCES, read_table


def main(arguments: argparse.Namespace) -> None:
    """Read a table of sentences, embed its distinct ones, write float32 [rows, dimension] as .npy."""
    import numpy as np

    from fathom.benchmark.embedding import SentenceEncoder, encode_in_processes

    settings = read_settings(arguments.settings, Embedding)
    table = read_table(arguments.sentences, SENTENCES, ["row", "sentence"])
    sentences = table.unique("row", keep="first", maintain_order=True).sort("row")["sentence"].to_list()
    log.info("%s distinct sentences of %s", f"{len(sentences):,}", f"{len(table):,}")
    if not sentences:
        vectors = np.empty((0, 0), dtype=np.float32)  # a part of other domains: no model is loaded for it
    elif arguments.workers > 1 and len(sentences) > arguments.workers:
        vectors = encode_in_processes(sentences, settings, arguments.workers)
    else:
        vectors = SentenceEncoder(settings).encode(sentences, partial(show_progress, what="batches"))
    with write_atomically(arguments.output) as temporary, temporary.open("wb") as stream:
        np.save(stream, vectors, allow_pickle=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=Path, required=True, help="table of sentences")
    add_settings(parser, Embedding)
    parser.add_argument("--workers", type=int, default=1, help="processes; the result is the same")
    parser.add_argument("--output", type=Path, required=True, help="array of embeddings, .npy")
    run_program(parser, main)
