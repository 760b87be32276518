"""Plain text to train models on, never from documents of the split `benchmark`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config.benchmark import Characters
from fathom.corpus.characters import spell_plainly
from fathom.corpus.latex import Markup, convert_latex, decide
from fathom.corpus.latex_documents import latex_to_prose
from fathom.corpus.records import iterate_paragraphs
from fathom.corpus.sentences import join_parts
from fathom.io.files import hash_text
from fathom.io.row_groups import scan_table
from fathom.jobs.program import log

TRAIN, HELD_OUT = "adapt-train", ("adapt-valid", "adapt-test")
HELD_OUT_SHARE = 10
"""A held-out split has at most this share of the characters of training."""
CHOSEN_BY = ("doc_id", "title", "abstract", "domains", "split", "characters")
"""Columns of the index that decide which documents are chosen."""


def choose_documents(index: Iterable[pl.DataFrame], domain: str, max_characters: int) -> pl.DataFrame:
    """Choose the documents of a domain that models are trained and tested on, in their final order.

    Memory holds one piece of the index and the chosen documents.

    Parameters
    ----------
    max_characters : int
        Characters of `adapt-train` before LaTeX is removed; a tenth for each held-out split. Whole documents
        are chosen in the order of a hash of doc_id, up to the first that would exceed it; at least one.

    Returns
    -------
    pl.DataFrame
        doc_id and split, by a hash of doc_id; empty if these splits of the domain are empty.
    """
    schema = {"doc_id": pl.String, "split": pl.String, "size": pl.Int64, "hash": pl.String}
    fitting = {split: pl.DataFrame(schema=schema) for split in (TRAIN, *HELD_OUT)}
    limits = {
        split: max_characters if split == TRAIN else max_characters // HELD_OUT_SHARE for split in fitting
    }
    counts: Counter[str] = Counter()
    for piece in index:
        rows = _measure(piece.filter(pl.col("domains").list.contains(domain)))
        for split, limit in limits.items():
            of_split = rows.filter(pl.col("split") == split)
            counts[split] += len(of_split)
            # a document that does not fit now never will: later ones only push it further back
            best = pl.concat([fitting[split], of_split]).sort("hash")
            fitting[split] = best.filter((pl.col("size").cum_sum() <= limit) | (pl.int_range(pl.len()) == 0))
    for split, fits in fitting.items():
        log.info("%s: %s of %s documents of %s", domain, f"{len(fits):,}", f"{counts[split]:,}", split)
        if len(fits) < counts[split]:
            log.info(
                "%s: %d left out: limit of %s characters",
                split,
                counts[split] - len(fits),
                f"{limits[split]:,}",
            )
    return pl.concat(fitting.values()).sort("hash").select("doc_id", "split")


def _measure(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(
        "doc_id",
        "split",
        size=pl.col("characters") + pl.col("title").str.len_chars() + pl.col("abstract").str.len_chars(),
        hash=pl.Series([hash_text(doc_id) for doc_id in rows["doc_id"]], dtype=pl.String),
    )


def make_plain(
    document: Mapping[str, Any],
    counts: Counter[str],
    markup: Markup = "latex",
    characters: Characters = "ascii",
) -> str:
    """Return a document's paragraphs without LaTeX and citations, a blank line between them.

    Parameters
    ----------
    counts : Counter
        Counts the converter's failures and, with `characters="text"`, what
        :func:`fathom.corpus.latex_documents.latex_to_prose` counts.
    characters : str, default="ascii"
        `text` spells typographic characters in ASCII and reads LaTeX as for sentences.
    """
    text = join_parts(document)
    latex = decide(markup, text)
    if latex and characters == "text":
        text, latex = latex_to_prose(text, counts), False
    paragraphs = iterate_paragraphs(text)
    converted = (convert_latex(paragraph, counts) if latex else paragraph for paragraph in paragraphs)
    spelled = (spell_plainly(each) if characters == "text" else each for each in converted)
    plain = (" ".join(each.split()) for each in spelled)
    return "\n\n".join(paragraph for paragraph in plain if paragraph)


def read_training_texts(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the texts (TEXTS) that models are trained on, each document once."""
    seen: set[tuple[str, str]] = set()  # text from elsewhere may have the same ids
    for path in paths:
        for frame in scan_table(path, ["doc_id", "split", "text"]):
            for doc_id, text in frame.filter(pl.col("split") == TRAIN).select("doc_id", "text").iter_rows():
                key = doc_id, hash_text(text)
                if key not in seen:
                    seen.add(key)
                    yield text
