"""Held-out documents, on which perplexity is measured."""

import polars as pl

from fathom.io.files import hash_text
from fathom.jobs.program import log

SPLIT = "adapt-test"
"""Split of documents that are used neither for benchmarks nor for training."""


def select_held_out(texts: pl.DataFrame, max_characters: int) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the held-out documents to score, and how many there are and are left out, by reason.

    Documents are taken as :func:`limit_texts` does; none if the split is empty.
    """
    split = texts.filter(pl.col("split") == SPLIT).select("doc_id", "text")
    with_text = split.filter(pl.col("text").str.strip_chars() != "")
    chosen = limit_texts(with_text, max_characters)
    counts = {
        "documents_in_split": len(split),
        "documents_without_text": len(split) - len(with_text),
        "documents_over_limit": len(with_text) - len(chosen),
    }
    if chosen.is_empty():
        log.info("split %s has no text: perplexity is not measured", SPLIT)
    return chosen, counts


def limit_texts(texts: pl.DataFrame, max_characters: int) -> pl.DataFrame:
    """Return documents by a hash of doc_id, until the next would exceed the limit; at least one."""
    ordered = texts[sorted(range(len(texts)), key=lambda row: hash_text(texts["doc_id"][row]))]
    size = pl.col("text").str.len_chars().cum_sum()
    return ordered.filter((size <= max_characters) | (pl.int_range(pl.len()) == 0))
