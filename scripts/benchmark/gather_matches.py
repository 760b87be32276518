"""Gather the matches of all slices of a domain, each clean sentence once per keyword.

Cosines so near a border that rounding could decide are computed again in float64; the embedding model is
loaded only if there are any.
"""

import argparse
from functools import cache
from pathlib import Path

import polars as pl

from fathom.config.benchmark import Embedding, Matches
from fathom.config.section import Section
from fathom.io.contracts.benchmark import MATCHES
from fathom.io.files import read_delimited, write_json
from fathom.io.tables import write_table_in_batches
from fathom.jobs.program import add_settings, log, read_settings, run_program


class Settings(Section):
    """Sections of the configuration that this program reads."""

    embedding: Embedding = Embedding()
    matches: Matches = Matches()


def main(arguments: argparse.Namespace) -> None:
    """Read the candidates of all slices side by side; write the matches and a report."""
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.benchmark.gathered_matches import gather_matches
    from fathom.benchmark.matches import decide_matches, load_keyword_vectors

    settings = read_settings(arguments.settings, Settings)
    keywords = [row["keyword"] for row in read_delimited(arguments.keywords)]
    vectors = dict(zip(keywords, load_keyword_vectors(arguments.vectors, keywords), strict=True))
    load_encoder = cache(lambda: SentenceEncoder(settings.embedding))

    def decide(keyword: str, candidates: pl.DataFrame) -> pl.DataFrame:
        return decide_matches(
            candidates,
            vectors[keyword],
            lambda sentences: load_encoder().encode_exactly(sentences),
            settings.matches.min_cosine,
        )

    with write_table_in_batches(arguments.output, MATCHES) as writer:
        report = gather_matches(arguments.matches, keywords, decide, writer.write)
    log.info(
        "%s matches of %s keywords, %s duplicates dropped",
        f"{report['matches']:,}",
        report["keywords_with_matches"],
        f"{report['dropped_duplicates']:,}",
    )
    write_json(arguments.report, report)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=Path, nargs="+", required=True, help="candidates of all slices")
    parser.add_argument("--keywords", type=Path, required=True, help="keywords.tsv of the domain")
    parser.add_argument("--vectors", type=Path, required=True, help="keywords.npy, written with keywords.tsv")
    add_settings(parser, Settings)
    parser.add_argument("--output", type=Path, required=True, help="table of matches")
    parser.add_argument("--report", type=Path, required=True, help="counts to write (JSON)")
    run_program(parser, main)
