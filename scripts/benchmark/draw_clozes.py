"""Draw clozes from held-out text: a random content word of a sentence, after what stands before it.

They have the columns of pairs, so that models are scored on them like on any benchmark.
"""

import argparse
from pathlib import Path

from fathom.config.benchmark import Pairs, Sentences
from fathom.config.section import Section
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import write_json
from fathom.io.row_groups import select_rows
from fathom.io.tables import read_table
from fathom.jobs.program import add_settings, read_settings, run_program


class Settings(Section):
    """Settings of this program."""

    pairs: Pairs
    sentences: Sentences = Sentences()


def main(arguments: argparse.Namespace) -> None:
    """Read texts, index, word lists and tokenizer; write clozes and report."""
    import polars as pl

    from fathom.benchmark.clozes import Limits, draw_clozes
    from fathom.benchmark.pairs import write_pairs
    from fathom.benchmark.wordlists import read_word_list
    from fathom.corpus.sentences import load_splitter
    from fathom.models.folders import load_offsets

    settings = read_settings(arguments.settings, Settings)
    lists = [read_word_list(arguments.wordlists / f"{name}.txt") for name in ("stopwords", "function")]
    limits = Limits(frozenset().union(*lists), settings.sentences, settings.pairs)
    texts = read_table(arguments.texts, TEXTS).filter(split=arguments.split)
    splitter = load_splitter(settings.sentences.splitter)
    clozes = draw_clozes(texts, arguments.count, limits, splitter, load_offsets(arguments.tokenizer))
    wanted = pl.col("doc_id").is_in(clozes.pairs["doc_id"].unique().implode())
    dates = dict(select_rows(arguments.index, ["doc_id", "date"], wanted).iter_rows())
    pairs = clozes.pairs.with_columns(date=pl.col("doc_id").replace_strict(dates, return_dtype=pl.String))
    write_pairs(pairs, arguments.output, arguments.json_lines)
    write_json(arguments.report, {**clozes.report, "split": arguments.split})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="texts of a domain (parquet)")
    parser.add_argument(
        "--split",
        choices=("adapt-valid", "adapt-test"),
        default="adapt-valid",
        help="documents to draw from; perplexity is measured on adapt-test",
    )
    parser.add_argument("--count", type=int, required=True, help="clozes, if there are as many sentences")
    parser.add_argument("--index", type=Path, required=True, help="index of the corpus, for dates")
    parser.add_argument(
        "--tokenizer", type=Path, required=True, help="folder of the smallest model's tokenizer"
    )
    parser.add_argument("--wordlists", type=Path, required=True, help="folder of word lists")
    parser.add_argument("--output", type=Path, required=True, help="pairs.parquet to write")
    parser.add_argument("--json-lines", type=Path, required=True, help="pairs.jsonl to write")
    parser.add_argument("--report", type=Path, required=True, help="pairs.json to write (counts)")
    add_settings(parser, Settings)
    run_program(parser, main)
