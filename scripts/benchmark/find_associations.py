"""Find which terms of a domain's matched sentences belong to the words before them.

Counts words over all sentences of the domain, and over abstracts outside it. Runs once for all variants.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import polars as pl

from fathom.io.contracts.benchmark import ASSOCIATIONS
from fathom.io.contracts.corpus import SENTENCES
from fathom.io.files import write_json
from fathom.io.row_groups import scan_table, select_rows
from fathom.io.tables import write_table_in_batches
from fathom.jobs.signature import Wordlists, run


def main(
    *,
    sentences: Annotated[list[Path], "sentences of all slices"],
    matched: Annotated[Path, "matched sentences of the domain"],
    vocabularies: Annotated[list[Path], "its vocabularies"],
    index: Annotated[Path, "index of the corpus"],
    domain: Annotated[str, "name of the domain"],
    wordlists: Wordlists,
    associations: Annotated[Path, "table to write"],
    report: Annotated[Path, "counts to write (JSON)"],
) -> None:
    """Read sentences, vocabularies and index; write associations and report."""
    from fathom.benchmark.association import AssociationFinder, join_documents
    from fathom.benchmark.generality import draw_outside
    from fathom.benchmark.vocabulary import read_vocabulary
    from fathom.benchmark.wordlists import read_word_list

    inside = pl.col("domains").list.contains(domain)
    field = select_rows(index, ["doc_id"], inside)
    drawn = draw_outside(select_rows(index, ["doc_id"], ~inside)["doc_id"])
    outside = select_rows(index, ["abstract"], pl.col("doc_id").is_in(drawn))["abstract"]

    def read() -> Iterator[pl.DataFrame]:
        for path in sentences:
            yield from join_documents(
                frame.join(field, on="doc_id", how="semi", maintain_order="left")
                for frame in scan_table(path, SENTENCES.names[:-1])
            )

    terms = {word for path in vocabularies for words in read_vocabulary(path).values() for word in words}
    stopwords, function, academic = (
        read_word_list(wordlists / f"{name}.txt") for name in ("stopwords", "function", "academic")
    )
    wanted = pl.concat(frame.unique() for frame in scan_table(matched, ["doc_id", "position"])).unique()
    finder = AssociationFinder(read, outside.to_list(), terms, stopwords | function, academic)
    with write_table_in_batches(associations, ASSOCIATIONS) as writer:
        for rows in finder.find(wanted):
            writer.write(rows)
    write_json(report, finder.describe())


if __name__ == "__main__":
    run(main)
