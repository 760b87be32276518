"""Draw clozes from held-out text: a random content word of a sentence after its beginning.

They have the columns of pairs, so that models are scored on them as on any benchmark.
"""

from pathlib import Path
from typing import Annotated, Literal

from fathom.config.benchmark import Pairs, Sentences
from fathom.config.section import Section
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import write_json
from fathom.io.row_groups import select_rows
from fathom.io.tables import read_table
from fathom.jobs.signature import run


class Settings(Section):
    """Settings of this program."""

    pairs: Pairs
    sentences: Sentences = Sentences()


def main(
    *,
    texts: Annotated[Path, "texts of a domain (parquet)"],
    split: Annotated[
        Literal["adapt-valid", "adapt-test"],
        "documents to draw from; perplexity is measured on adapt-test",
    ] = "adapt-valid",
    count: Annotated[int, "clozes, if there are as many sentences"],
    index: Annotated[Path, "index of the corpus, for dates"],
    tokenizer: Annotated[Path, "folder of the smallest model's tokenizer"],
    wordlists: Annotated[Path, "folder of word lists"],
    pipeline: Annotated[
        Path | None, "folder of the spaCy pipeline, in place of the one that settings name"
    ] = None,
    pairs: Annotated[Path, "pairs.parquet to write"],
    lines: Annotated[Path, "pairs.jsonl to write"],
    report: Annotated[Path, "pairs.json to write (counts)"],
    settings: Settings,
) -> None:
    """Read texts, index, word lists and tokenizer; write clozes and report."""
    import polars as pl

    from fathom.benchmark.clozes import ClozeRules, draw_clozes
    from fathom.benchmark.pairs import write_pairs
    from fathom.benchmark.wordlists import read_word_list
    from fathom.corpus.sentences import load_splitter
    from fathom.models.folders import load_offsets

    lists = [read_word_list(wordlists / f"{name}.txt") for name in ("stopwords", "function")]
    limits = ClozeRules(frozenset().union(*lists), settings.sentences, settings.pairs)
    held_out = read_table(texts, TEXTS).filter(split=split)
    splitter = load_splitter(str(pipeline or settings.sentences.splitter))
    clozes = draw_clozes(held_out, count, limits, splitter, load_offsets(tokenizer))
    wanted = pl.col("doc_id").is_in(clozes.pairs["doc_id"].unique().implode())
    dates = dict(select_rows(index, ["doc_id", "date"], wanted).iter_rows())
    dated = clozes.pairs.with_columns(date=pl.col("doc_id").replace_strict(dates, return_dtype=pl.String))
    write_pairs(dated, pairs, lines)
    write_json(report, {**clozes.report, "split": split})


if __name__ == "__main__":
    run(main)
