"""Write the mean embedding of a domain's abstracts, as an array of float64 [RawCorpora, Sec. 4.3]."""

import argparse
from functools import partial
from pathlib import Path

from fathom.config.benchmark import Embedding
from fathom.errors import InputError
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import write_atomically
from fathom.io.row_groups import scan_table
from fathom.io.tables import read_table
from fathom.jobs.program import add_settings, log, read_settings, run_program, show_progress


def main(arguments: argparse.Namespace) -> None:
    """Draw abstracts, or beginnings of training text, embed them, write their mean."""
    import numpy as np

    from fathom.benchmark.domain_order import DRAWN_BY, average_vectors, draw_abstracts, draw_beginnings
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.benchmark.embedding_devices import choose_computation

    # in bfloat16 the mean would differ between machines
    settings = read_settings(arguments.settings, Embedding).model_copy(update={"precision": "float32"})
    if arguments.texts is not None:
        texts = draw_beginnings(read_table(arguments.texts, TEXTS), arguments.abstracts)
    else:
        texts = draw_abstracts(scan_table(arguments.index, DRAWN_BY), arguments.domain, arguments.abstracts)
    if not texts:
        raise InputError(f"{arguments.domain} has no abstract", str(arguments.index), "check its categories")
    log.info("%s abstracts of %s", f"{len(texts):,}", arguments.domain)
    encoder = SentenceEncoder(settings, choose_computation(settings))
    mean = average_vectors(encoder.encode(texts, partial(show_progress, what="batches")))
    with write_atomically(arguments.output) as temporary, temporary.open("wb") as stream:
        np.save(stream, mean)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--index", type=Path, help="index of the corpus")
    source.add_argument("--texts", type=Path, help="texts of a domain that the corpus does not have")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--abstracts", type=int, required=True, help="most abstracts")
    parser.add_argument("--output", type=Path, required=True, help="mean vector (.npy)")
    add_settings(parser, Embedding)
    run_program(parser, main)
