"""Extract a domain's keywords from the abstracts of all its documents.

Reads the index of documents (those outside the domain show which phrases are general) and the word lists.
Writes keywords.tsv (keyword, words, documents, count, merged), the keywords' vectors, and a report on what
was left out and why.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.benchmark import Embedding, Keywords
from fathom.config.section import Section
from fathom.errors import InputError
from fathom.io.delimited import write_rows
from fathom.io.files import write_atomically, write_json
from fathom.jobs.signature import run


class Settings(Section):
    """Sections of the configuration that this program reads."""

    keywords: Keywords = Keywords()
    embedding: Embedding = Embedding()


def main(
    *,
    index: Annotated[Path, "index of the corpus"],
    domain: Annotated[str, "name of a domain"],
    wordlists: Annotated[Path, "folder of the four word lists"],
    manuals: Annotated[Path, "manuals.tsv, phrases of manuals of programs"],
    source: Annotated[str, "the corpus's source, such as folder"],
    keywords: Annotated[Path, "keywords.tsv to write"],
    vectors: Annotated[Path, "keywords.npy to write: float64 unit vectors"],
    report: Annotated[Path, "keywords.json to write"],
    settings: Settings,
) -> None:
    """Read the domain's abstracts, extract keywords, write table, vectors and report."""
    import numpy as np
    import polars as pl

    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.benchmark.generality import draw_outside, needs_manuals
    from fathom.benchmark.keywords import extract_keywords
    from fathom.benchmark.wordlists import read_word_lists
    from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS
    from fathom.io.row_groups import select_rows

    inside = pl.col("domains").list.contains(domain)
    rows = select_rows(index, ["doc_id", "abstract"], inside)
    outside = draw_outside(select_rows(index, ["doc_id"], ~inside)["doc_id"])
    others = select_rows(index, ["doc_id", "abstract"], pl.col("doc_id").is_in(outside))
    if not rows.height:
        raise InputError(
            f"domain {domain} has no documents",
            str(index),
            "check the domain's categories",
        )
    lists = read_word_lists(wordlists, manuals if needs_manuals(source, others.height) else None)
    abstracts = dict(rows.iter_rows())
    encoder = SentenceEncoder(settings.embedding)
    found = extract_keywords(
        abstracts, settings.keywords, lists, encoder.encode_exactly, dict(others.iter_rows())
    )
    write_rows(keywords, found.rows, DOMAIN_KEYWORDS)
    with write_atomically(vectors) as temporary, temporary.open("wb") as stream:
        np.save(stream, found.vectors, allow_pickle=False)
    write_json(report, {"domain": domain, **found.report})


if __name__ == "__main__":
    run(main)
