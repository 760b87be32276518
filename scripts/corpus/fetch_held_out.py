"""Write the held-out text of a domain, from a data set of the Hugging Face hub or from files."""

from pathlib import Path
from typing import Annotated

from fathom.config.corpus import TextSource
from fathom.io.contracts.corpus import TEXTS
from fathom.io.tables import write_table
from fathom.jobs.signature import run


def main(
    *,
    domain: Annotated[str, "name of the domain"],
    max_characters: Annotated[int, "most characters of text"],
    texts: Annotated[Path, "table of texts to write, all of split adapt-test"],
    settings: TextSource,
) -> None:
    """Read documents up to the limit, write the table."""
    import polars as pl

    from fathom.corpus.held_out import SPLIT
    from fathom.corpus.text_sources import gather_texts, read_source

    where = f"perplexity.texts.{domain}"
    table = gather_texts(read_source(settings, where), 0, max_characters, where)
    write_table(texts, table.with_columns(split=pl.lit(SPLIT)), TEXTS)


if __name__ == "__main__":
    run(main)
