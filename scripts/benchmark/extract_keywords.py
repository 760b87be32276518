"""Extract a domain's keywords from the abstracts of all its documents.

Reads the index of documents and the word lists. Writes keywords.tsv (keyword, words, documents, count,
merged), the keywords' vectors, and a report on what was left out and why.
"""

import argparse
from pathlib import Path

from fathom.config.benchmark import Embedding, Keywords
from fathom.config.section import Section
from fathom.errors import InputError
from fathom.io.files import write_atomically, write_delimited, write_json
from fathom.jobs.program import add_settings, read_settings, run_program


class Settings(Section):
    """Sections of the configuration that this program reads."""

    keywords: Keywords = Keywords()
    embedding: Embedding = Embedding()


def main(arguments: argparse.Namespace) -> None:
    """Read the domain's abstracts, extract keywords, write table, vectors and report."""
    import numpy as np
    import polars as pl

    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.benchmark.keywords import COLUMNS, extract_keywords
    from fathom.benchmark.wordlists import read_word_lists
    from fathom.io.row_groups import select_rows

    settings = read_settings(arguments.settings, Settings)
    wordlists = read_word_lists(arguments.wordlists)
    inside = pl.col("domains").list.contains(arguments.domain)
    rows = select_rows(arguments.index, ["doc_id", "abstract"], inside)
    if not rows.height:
        raise InputError(
            f"domain {arguments.domain} has no documents",
            str(arguments.index),
            "check the domain's categories",
        )
    abstracts = dict(rows.iter_rows())
    encoder = SentenceEncoder(settings.embedding)
    found = extract_keywords(abstracts, settings.keywords, wordlists, encoder.encode_exactly)
    write_delimited(arguments.output, COLUMNS, found.rows)
    with write_atomically(arguments.vectors) as temporary, temporary.open("wb") as stream:
        np.save(stream, found.vectors, allow_pickle=False)
    write_json(arguments.report, {"domain": arguments.domain, **found.report})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", type=Path, required=True, help="index of the corpus")
    parser.add_argument("--domain", required=True, help="name of a domain")
    parser.add_argument("--wordlists", type=Path, required=True, help="folder of the four word lists")
    parser.add_argument("--output", type=Path, required=True, help="keywords.tsv to write")
    parser.add_argument(
        "--vectors", type=Path, required=True, help="keywords.npy to write: float64 unit vectors"
    )
    parser.add_argument("--report", type=Path, required=True, help="keywords.json to write")
    add_settings(parser, Settings)
    run_program(parser, main)
