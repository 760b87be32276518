"""Write a domain's plain text to train and test models on, never from documents of the split `benchmark`."""

import argparse
from collections import Counter
from pathlib import Path

from fathom.io.contracts.corpus import INDEX, TEXTS
from fathom.io.tables import write_table
from fathom.jobs.program import log, run_program, show_progress


def main(arguments: argparse.Namespace) -> None:
    """Choose documents by the index, read them from their parts, convert LaTeX, write the table."""
    import polars as pl

    from fathom.corpus.index import iterate_documents
    from fathom.corpus.texts import CHOSEN_BY, choose_documents, make_plain
    from fathom.io.row_groups import scan_table, select_rows

    pieces = scan_table(arguments.index, CHOSEN_BY)
    chosen = choose_documents(pieces, arguments.domain, arguments.max_characters)
    columns = [column.name for column in INDEX]
    rows = select_rows(arguments.index, columns, pl.col("doc_id").is_in(chosen["doc_id"].implode()))
    plain: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for path in show_progress(arguments.documents, "parts"):
        for document in iterate_documents(path, path.name.removesuffix(".parquet"), rows):
            plain[document["doc_id"]] = make_plain(document, counts)
    text = pl.Series("text", [plain[doc_id] for doc_id in chosen["doc_id"]], dtype=pl.String)
    log.info(
        "%s characters of plain text; %s", f"{text.str.len_chars().sum():,}", dict(sorted(counts.items()))
    )
    write_table(arguments.output, chosen.with_columns(text), TEXTS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--documents", type=Path, nargs="+", required=True, help="tables of documents of all parts"
    )
    parser.add_argument("--index", type=Path, required=True, help="index of the corpus")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--max-characters", type=int, required=True, help="most characters of training text")
    parser.add_argument("--output", type=Path, required=True, help="table of texts to write")
    run_program(parser, main)
