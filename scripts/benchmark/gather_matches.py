"""Gather the matches of all slices of a domain, each clean sentence once per keyword.

Cosines so near a border that rounding could decide are computed again in float64; the embedding model is
loaded only if there are some.
"""

from functools import cache
from pathlib import Path
from typing import Annotated

import polars as pl

from fathom.config.benchmark import Embedding, Matches
from fathom.config.section import Section
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS, MATCHES
from fathom.io.delimited import read_rows
from fathom.io.files import write_json
from fathom.io.tables import write_table_in_batches
from fathom.jobs.program import log
from fathom.jobs.signature import run


class Settings(Section):
    """Sections of the configuration that this program reads."""

    embedding: Embedding = Embedding()
    matches: Matches = Matches()


def main(
    *,
    matches: Annotated[list[Path], "candidates of all slices"],
    keywords: Annotated[Path, "keywords.tsv of the domain"],
    vectors: Annotated[Path, "keywords.npy, written with keywords.tsv"],
    sentences: Annotated[Path, "table of matches"],
    report: Annotated[Path, "counts to write (JSON)"],
    settings: Settings,
) -> None:
    """Read the candidates of all slices side by side; write the matches and a report."""
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.benchmark.gathered_matches import gather_matches
    from fathom.benchmark.matches import decide_matches, load_keyword_vectors

    names = [row["keyword"] for row in read_rows(keywords, DOMAIN_KEYWORDS, ["keyword"])]
    by_keyword = dict(zip(names, load_keyword_vectors(vectors, names), strict=True))
    load_encoder = cache(lambda: SentenceEncoder(settings.embedding))

    def decide(keyword: str, candidates: pl.DataFrame) -> pl.DataFrame:
        return decide_matches(
            candidates,
            by_keyword[keyword],
            lambda sentences: load_encoder().encode_exactly(sentences),
            settings.matches.min_cosine,
        )

    with write_table_in_batches(sentences, MATCHES) as writer:
        counts = gather_matches(matches, names, decide, writer.write)
    log.info(
        "%s matches of %s keywords, %s duplicates dropped",
        f"{counts['matches']:,}",
        counts["keywords_with_matches"],
        f"{counts['dropped_duplicates']:,}",
    )
    write_json(report, counts)


if __name__ == "__main__":
    run(main)
