"""Draw the documents whose sentences make up each domain, if `sentences.limit` is set."""

from pathlib import Path
from typing import Annotated

from fathom.config.benchmark import Sentences
from fathom.errors import InputError
from fathom.io.contracts.corpus import DRAWN
from fathom.io.files import write_json
from fathom.io.tables import write_table
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    index: Annotated[Path, "index of the corpus"],
    sentence_counts: Annotated[list[Path], "counts of all slices"],
    domains: Annotated[list[str], "domains with a benchmark"],
    drawn: Annotated[Path, "table of drawn documents"],
    report: Annotated[Path, "counts by domain to write (JSON)"],
    settings: Sentences,
) -> None:
    """Read the number of sentences of each document; write the drawn documents, and counts."""
    from fathom.benchmark.draw import draw_domains

    limit = settings.limit
    if limit is None:
        raise InputError("no limit is set", "sentences.limit", "set it, or skip this step")
    chosen, counts = draw_domains(index, sentence_counts, domains, limit)
    for domain, found in counts.items():
        left_out = found["left_out"]
        log.info(
            "%s: %s sentences of %s documents; left out: %s of %s",
            domain,
            *(f"{number:,}" for number in (found["sentences"], found["documents"])),
            *(f"{left_out[name]:,}" for name in ("sentences", "documents")),
        )
    write_table(drawn, chosen, DRAWN)
    write_json(report, counts)


if __name__ == "__main__":
    run(main)
