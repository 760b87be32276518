"""Find held-out text and matched sentences that occur in training text.

Perplexity, bits per byte and attribute rates leave them out, for all models alike.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.scoring import Perplexity, Summary
from fathom.config.section import Section
from fathom.errors import InputError
from fathom.io.contracts.benchmark import HELD_OUT_OVERLAP, SENTENCE_OVERLAP
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import write_json
from fathom.io.row_groups import scan_table
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import show_progress
from fathom.jobs.signature import run


class Settings(Section):
    """Settings of this program."""

    perplexity: Perplexity = Perplexity()
    summary: Summary = Summary()


def main(
    *,
    held_out: Annotated[Path | None, "text of the domain, whose split adapt-test to look for"] = None,
    sentences: Annotated[Path, "its matched sentences"],
    texts: Annotated[list[Path], "texts of the domains trained on"],
    stretches: Annotated[Path, "stretches of held-out text to write (parquet)"],
    matched: Annotated[Path, "matched sentences that occur there, to write (parquet)"],
    report: Annotated[Path, "counts to write (JSON)"],
    settings: Settings,
) -> None:
    """Read held-out, matched and training text; write overlaps and counts."""
    import polars as pl

    from fathom.benchmark.overlap import find_held_out_overlap
    from fathom.corpus.held_out import select_held_out
    from fathom.corpus.texts import read_training_texts

    rule = settings.summary.overlap
    if rule == "keep":
        raise InputError("nothing is left out with keep", "--settings, summary.overlap", "ending or sentence")
    documents = pl.DataFrame(schema={"doc_id": pl.String, "text": pl.String})
    if held_out is not None:
        documents, _ = select_held_out(read_table(held_out, TEXTS), settings.perplexity.max_characters)
    clean = {text for piece in scan_table(sentences, ["clean"]) for text in piece["clean"].unique()}
    read = show_progress(read_training_texts(texts), "documents")
    found = find_held_out_overlap(documents, sorted(clean), read, rule)
    write_table(stretches, found.stretches, HELD_OUT_OVERLAP)
    write_table(matched, found.sentences, SENTENCE_OVERLAP)
    write_json(report, found.report)


if __name__ == "__main__":
    run(main)
