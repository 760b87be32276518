"""Write a domain's plain text to train and test models on, never from documents of the split `benchmark`."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from fathom.io.contracts.corpus import INDEX, TEXTS
from fathom.io.tables import write_table
from fathom.jobs.program import log, show_progress
from fathom.jobs.signature import run


def main(
    *,
    documents: Annotated[list[Path], "tables of documents of all parts"],
    index: Annotated[Path, "index of the corpus"],
    domain: Annotated[str, "name of the domain"],
    max_characters: Annotated[int, "most characters of training text"],
    markup: Annotated[Literal["latex", "plain", "auto"], "what texts are"] = "latex",
    characters: Annotated[Literal["text", "ascii"], "text: typographic characters become ASCII"] = "ascii",
    texts: Annotated[Path, "table of texts to write"],
) -> None:
    """Choose documents by the index, read them from their parts, convert LaTeX, write the table."""
    import polars as pl

    from fathom.corpus.index import iterate_documents
    from fathom.corpus.texts import CHOSEN_BY, choose_documents, make_plain
    from fathom.io.row_groups import scan_table, select_rows

    pieces = scan_table(index, CHOSEN_BY)
    chosen = choose_documents(pieces, domain, max_characters)
    columns = INDEX.names
    rows = select_rows(index, columns, pl.col("doc_id").is_in(chosen["doc_id"].implode()))
    plain: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for path in show_progress(documents, "parts"):
        for document in iterate_documents(path, path.name.removesuffix(".parquet"), rows):
            plain[document["doc_id"]] = make_plain(document, counts, markup, characters)
    text = pl.Series("text", [plain[doc_id] for doc_id in chosen["doc_id"]], dtype=pl.String)
    log.info(
        "%s characters of plain text; %s", f"{text.str.len_chars().sum():,}", dict(sorted(counts.items()))
    )
    write_table(texts, chosen.with_columns(text), TEXTS)


if __name__ == "__main__":
    run(main)
