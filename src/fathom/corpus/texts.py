"""Plain text that models are trained on: never from the benchmark's documents (spec 1.1, 3.1)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from fathom.corpus.latex import convert_latex
from fathom.corpus.sentences import iterate_paragraphs, join_parts
from fathom.files import hash_text
from fathom.program import log

TRAIN, HELD_OUT = "adapt-train", ("adapt-valid", "adapt-test")
HELD_OUT_SHARE = 10
"""A held-out fold takes at most this part of the characters that training takes."""


def choose_documents(index: pl.DataFrame, domain: str, max_characters: int) -> pl.DataFrame:
    """Choose the documents of a domain that models are trained and tested on, in their final order.

    Parameters
    ----------
    index : pl.DataFrame
        The corpus's index (INDEX).
    domain : str
        Name of the domain.
    max_characters : int
        Characters of `adapt-train` before LaTeX is taken out, a tenth of it for each held-out fold. Whole
        documents in the order of a hash of doc_id, up to the first that would go over it; at least one.

    Returns
    -------
    pl.DataFrame
        Rows of the index, by a hash of doc_id; none where these folds of the domain are empty.
    """
    wanted = index.filter(
        pl.col("domains").list.contains(domain) & pl.col("fold").is_in([TRAIN, *HELD_OUT])
    ).with_columns(
        size=pl.col("characters") + pl.col("title").str.len_chars() + pl.col("abstract").str.len_chars()
    )
    order = sorted(range(len(wanted)), key=lambda row: hash_text(wanted["doc_id"][row]))
    chosen = []
    for fold in (TRAIN, *HELD_OUT):
        limit = max_characters if fold == TRAIN else max_characters // HELD_OUT_SHARE
        documents = wanted[order].filter(pl.col("fold") == fold)
        fits = documents.filter((pl.col("size").cum_sum() <= limit) | (pl.int_range(pl.len()) == 0))
        log.info("%s: %s of %s documents of %s", domain, f"{len(fits):,}", f"{len(documents):,}", fold)
        if len(fits) < len(documents):
            log.info(
                "%s: %d left out: limit of %s characters", fold, len(documents) - len(fits), f"{limit:,}"
            )
        chosen.append(fits)
    keys = {doc_id: rank for rank, doc_id in enumerate(wanted["doc_id"][order].to_list())}
    every = pl.concat(chosen).drop("size")
    return every[sorted(range(len(every)), key=lambda row: keys[every["doc_id"][row]])]


def make_plain(document: Mapping[str, Any], counts: Counter[str]) -> str:
    """Return a document's paragraphs without LaTeX and citations, a blank line between them.

    Parameters
    ----------
    document : mapping
        With `title`, `abstract` and `text`.
    counts : Counter
        Takes the converter's failures; see :func:`fathom.corpus.latex.convert_latex`.
    """
    paragraphs = iterate_paragraphs(join_parts(document))
    plain = (" ".join(convert_latex(paragraph, counts).split()) for paragraph in paragraphs)
    return "\n\n".join(paragraph for paragraph in plain if paragraph)
