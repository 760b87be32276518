"""Keep the sentences of one slice that name a keyword of their domains, the only ones to embed."""

from pathlib import Path
from typing import Annotated

from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS
from fathom.io.contracts.corpus import SENTENCES
from fathom.io.delimited import read_rows
from fathom.io.files import write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    sentences: Annotated[Path, "table of sentences"],
    index: Annotated[Path, "index of the corpus"],
    drawn: Annotated[
        Path | None, "table of drawn documents, with sentences.limit, in place of the index"
    ] = None,
    domains: Annotated[list[str], "names of the domains with a benchmark"],
    keywords: Annotated[list[Path], "keywords.tsv of each domain, in their order"],
    selected: Annotated[Path, "table of the sentences that name a keyword"],
    report: Annotated[Path, "counts to write (JSON)"],
) -> None:
    """Read a table of sentences and the keywords of all domains; write those that name one, and a report."""
    import polars as pl

    from fathom.benchmark.draw import keep_drawn
    from fathom.benchmark.named_keywords import select_named
    from fathom.io.row_groups import select_rows

    table = keep_drawn(read_table(sentences, SENTENCES), drawn)
    here = pl.col("doc_id").is_in(table["doc_id"].unique().implode())
    documents = select_rows(drawn or index, ["doc_id", "domains"], here)
    names = {
        domain: [row["keyword"] for row in read_rows(path, DOMAIN_KEYWORDS, ["keyword"])]
        for domain, path in zip(domains, keywords, strict=True)
    }
    kept = select_named(table, documents, names)
    log.info("%s of %s sentences name a keyword", f"{len(kept):,}", f"{len(table):,}")
    write_table(selected, kept, SENTENCES)
    write_json(report, {"sentences": len(table), "named": len(kept)})


if __name__ == "__main__":
    run(main)
