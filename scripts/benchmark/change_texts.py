"""Make a control of a domain's training text: its terms exchanged, or only the sentences with terms."""

from pathlib import Path
from typing import Annotated, Literal

from fathom.config.benchmark import Sentences
from fathom.io.contracts.benchmark import VOCABULARY
from fathom.io.contracts.corpus import TEXTS
from fathom.io.delimited import read_rows
from fathom.io.tables import read_table, write_table
from fathom.jobs.signature import run


def main(
    *,
    texts: Annotated[Path, "texts of a domain (parquet)"],
    vocabularies: Annotated[list[Path], "vocabularies of its benchmarks (TSV)"],
    text: Annotated[Literal["terms-exchanged", "terms-only"], "control to make of them"],
    pipeline: Annotated[
        Path | None, "folder of the spaCy pipeline, in place of the one that settings name"
    ] = None,
    changed: Annotated[Path, "table of texts to write"],
    settings: Sentences,
) -> None:
    """Read texts and the terms of all vocabularies, change the texts, write them."""
    from fathom.benchmark.control_texts import exchange_terms, keep_term_sentences
    from fathom.corpus.sentences import load_splitter

    documents = read_table(texts, TEXTS)
    tables = [read_rows(path, VOCABULARY, ("keyword", "term")) for path in vocabularies]
    terms = {row["term"].strip() for table in tables for row in table}
    if text == "terms-only":
        made = keep_term_sentences(documents, terms, load_splitter(str(pipeline or settings.splitter)))
    else:
        made = exchange_terms(documents, terms)
    write_table(changed, made, TEXTS)


if __name__ == "__main__":
    run(main)
