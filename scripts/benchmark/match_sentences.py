"""Match the sentences of one slice and domain with the domain's keywords by cosine.

Loads the embedding model only if the sentences were embedded in bfloat16 and some are close to a keyword.
"""

from functools import cache
from pathlib import Path
from typing import Annotated

import polars as pl

from fathom.config.benchmark import Embedding, Matches
from fathom.config.section import Section
from fathom.io.contracts.benchmark import CANDIDATES, DOMAIN_KEYWORDS
from fathom.io.contracts.corpus import SENTENCES
from fathom.io.delimited import read_rows
from fathom.io.reports import Precision, read_report
from fathom.io.row_groups import select_rows
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.signature import run


class Settings(Section):
    """Sections of the configuration that this program reads."""

    embedding: Embedding = Embedding()
    matches: Matches = Matches()


def main(
    *,
    sentences: Annotated[Path, "table of sentences"],
    embeddings: Annotated[Path, "their embeddings (.npy)"],
    embeddings_report: Annotated[Path, "report of the embeddings"],
    index: Annotated[Path, "index of the corpus"],
    drawn: Annotated[
        Path | None, "table of drawn documents, with sentences.limit, in place of the index"
    ] = None,
    domain: Annotated[str, "name of the domain"],
    keywords: Annotated[Path, "the domain's keywords.tsv"],
    vectors: Annotated[Path, "keywords.npy, written with keywords.tsv"],
    matches: Annotated[Path, "table of candidates"],
    settings: Settings,
) -> None:
    """Read sentences, embeddings and keywords; write the candidates."""
    from fathom.benchmark.draw import keep_drawn
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.benchmark.gathered_matches import GROUP
    from fathom.benchmark.matches import (
        check_embeddings,
        load_embeddings,
        load_keyword_vectors,
        match_sentences,
        refine_embeddings,
    )
    from fathom.benchmark.named_keywords import keep_named

    min_cosine = settings.matches.min_cosine
    table = keep_drawn(read_table(sentences, SENTENCES), drawn)
    array = load_embeddings(embeddings)
    check_embeddings(table, array, str(embeddings))
    here = pl.col("doc_id").is_in(table["doc_id"].unique().implode())
    inside = pl.col("domains").list.contains(domain)
    wanted = select_rows(drawn or index, ["doc_id"], here & inside)
    names = [row["keyword"] for row in read_rows(keywords, DOMAIN_KEYWORDS, ["keyword"])]
    named = load_keyword_vectors(vectors, names)
    here_only = table.join(wanted, on="doc_id", how="semi")
    load_encoder = cache(lambda: SentenceEncoder(settings.embedding))
    precision = read_report(embeddings_report, Precision)["precision"]
    if here_only.is_empty():
        found = make_empty_table(CANDIDATES)
    elif precision == "float32":
        found = match_sentences(here_only, array, names, named, min_cosine)
    else:
        near = refine_embeddings(
            here_only, array, named, min_cosine, lambda texts: load_encoder().encode(texts)
        )
        found = match_sentences(near.sentences, near.embeddings, names, named, min_cosine)
    if settings.matches.named:
        found = keep_named(found)
    log.info(
        "%s matches of %s sentences and %s keywords; %s lie on a border",
        f"{len(found):,}",
        f"{len(here_only):,}",
        len(names),
        f"{(found['uncertain'] != '').sum():,}",
    )
    write_table(matches, found, CANDIDATES, GROUP)


if __name__ == "__main__":
    run(main)
