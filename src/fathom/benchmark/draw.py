"""Draw documents up to `sentences.limit` sentences of a domain.

Documents are drawn in the order of a hash of their id, so a draw depends neither on parts nor on their
order, and a larger limit keeps the draw of a smaller one.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fathom.errors import InputError
from fathom.io.contracts.corpus import SENTENCE_COUNTS
from fathom.io.files import hash_text
from fathom.io.row_groups import select_rows
from fathom.io.tables import read_table


def draw_domains(
    index: Path, sentence_counts: Sequence[Path], domains: Sequence[str], limit: int
) -> tuple[pl.DataFrame, dict[str, dict[str, Any]]]:
    """Draw the documents of each domain from the split ones.

    Returns
    -------
    drawn : polars.DataFrame
        Under contract DRAWN: the documents that are drawn for any domain.
    counts : dict of str to dict
        What was drawn and left out, by domain.
    """
    sizes = pl.concat([read_table(path, SENTENCE_COUNTS, ["doc_id", "kept"]) for path in sentence_counts])
    of_domains = select_rows(index, ["doc_id", "domains"], pl.col("domains").list.len() > 0)
    sizes = sizes.join(of_domains, on="doc_id")
    drawn, counts = [], {}
    for name in domains:
        inside = sizes.filter(pl.col("domains").list.contains(name))
        taken = draw_documents(inside, limit)
        counts[name] = _count(inside, taken, limit)
        drawn.append(taken.select("doc_id", domains=pl.lit(name)))
    return pl.concat(drawn).group_by("doc_id").agg(pl.col("domains").sort()).sort("doc_id"), counts


def draw_documents(documents: pl.DataFrame, limit: int, key: str = "sentences.limit") -> pl.DataFrame:
    """Return the first documents in the order of a hash that stay within a limit.

    Raise `InputError` if the first document exceeds the limit. `documents`: with columns doc_id and kept,
    the number of its sentences. `key`: configuration key of the limit, for the message.
    """
    hashes = [hash_text("draw", doc_id) for doc_id in documents["doc_id"]]
    ordered = documents.with_columns(hash=pl.Series(hashes, dtype=pl.String)).sort("hash", "doc_id")
    count = int((ordered["kept"].cast(pl.Int64).cum_sum() <= limit).sum())
    if len(ordered) and not count:
        raise InputError(
            f"the first document drawn has {ordered['kept'][0]:,} sentences",
            f"{key} = {limit}",
            "give a limit of at least some thousand sentences",
        )
    return ordered[:count].drop("hash")


def _count(documents: pl.DataFrame, drawn: pl.DataFrame, limit: int) -> dict[str, Any]:
    sentences, all_sentences = int(drawn["kept"].sum()), int(documents["kept"].sum())
    left_out = {"documents": len(documents) - len(drawn), "sentences": all_sentences - sentences}
    return {"limit": limit, "documents": len(drawn), "sentences": sentences, "left_out": left_out}


def keep_drawn(sentences: pl.DataFrame, drawn: Path | None) -> pl.DataFrame:
    """Return the sentences of drawn documents, with distinct ones numbered from 0 again.

    `drawn`: table under DRAWN; None keeps everything.
    """
    if drawn is None:
        return sentences
    here = pl.col("doc_id").is_in(sentences["doc_id"].unique().implode())
    documents = select_rows(drawn, ["doc_id"], here)
    kept = sentences.join(documents, on="doc_id", how="semi", maintain_order="left")
    return kept.with_columns(row=pl.col("row").rank("dense").cast(pl.Int32) - 1)
