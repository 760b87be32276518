"""Write the mean embedding of a domain's abstracts, as an array of float64 [RawCorpora, Sec. 4.3]."""

from functools import partial
from pathlib import Path
from typing import Annotated

from fathom.config.benchmark import Embedding
from fathom.errors import InputError
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import write_atomically
from fathom.io.row_groups import scan_table
from fathom.io.tables import read_table
from fathom.jobs.program import log, show_progress
from fathom.jobs.signature import run


def main(
    *,
    index: Annotated[Path | None, "index of the corpus"] = None,
    texts: Annotated[Path | None, "texts of a domain that the corpus does not have"] = None,
    domain: Annotated[str, "name of the domain"],
    abstracts: Annotated[int, "most abstracts"],
    mean: Annotated[Path, "mean vector (.npy)"],
    settings: Embedding,
) -> None:
    """Draw abstracts, or beginnings of training text, embed them, write their mean."""
    import numpy as np

    from fathom.benchmark.domain_order import DRAWN_BY, average_vectors, draw_abstracts, draw_beginnings
    from fathom.benchmark.embedding import SentenceEncoder, choose_computation

    # in bfloat16 the mean would differ between machines
    settings = settings.model_copy(update={"precision": "float32"})
    if texts is not None:
        drawn = draw_beginnings(read_table(texts, TEXTS), abstracts)
    elif index is not None:
        drawn = draw_abstracts(scan_table(index, DRAWN_BY), domain, abstracts)
    else:
        raise InputError("abstracts come from an index or from texts", "--index")
    if not drawn:
        raise InputError(f"{domain} has no abstract", str(index), "check its categories")
    log.info("%s abstracts of %s", f"{len(drawn):,}", domain)
    encoder = SentenceEncoder(settings, choose_computation(settings))
    vector = average_vectors(encoder.encode(drawn, partial(show_progress, what="batches")))
    with write_atomically(mean) as temporary, temporary.open("wb") as stream:
        np.save(stream, vector)


if __name__ == "__main__":
    run(main)
