"""Hash the sentences of all documents of a part, and each document as a whole [MinHash]."""

from pathlib import Path
from typing import Annotated

from fathom.config.corpus import Grouping
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    documents: Annotated[Path, "table of the part's documents"],
    sketches: Annotated[Path, "table of hashes to write"],
    settings: Grouping,
) -> None:
    """Read the documents of the part, write their hashes."""
    from fathom.corpus.groups import sketch_part

    count = sketch_part(documents, sketches, settings.min_words)
    log.info("%s documents", f"{count:,}")


if __name__ == "__main__":
    run(main)
