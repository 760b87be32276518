"""Write examples of keywords, vocabularies, tokens and pairs [RawCorpora, Tables 1-5, 7, 8].

Each table is a CSV; one page of Markdown holds them all.
"""

import argparse
from pathlib import Path

from fathom.figures.example_tables import list_keywords, list_pairs, list_terms, read_examples, render_page
from fathom.io.contracts.benchmark import EXAMPLE_KEYWORDS, EXAMPLE_PAIRS, EXAMPLE_VOCABULARIES
from fathom.io.delimited import write_rows
from fathom.io.files import write_text
from fathom.jobs.program import add_tables, log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read all domains, write three tables and a page."""
    examples = read_examples(arguments.domain, arguments.vocabulary, arguments.tokens, arguments.pairs)
    tables = [
        (arguments.keywords, EXAMPLE_KEYWORDS, list_keywords(examples)),
        (arguments.terms, EXAMPLE_VOCABULARIES, list_terms(examples)),
        (arguments.chosen, EXAMPLE_PAIRS, list_pairs(examples)),
    ]
    for path, contract, rows in tables:
        write_rows(path, rows, contract)
        log.info("%s: %s rows", path.name, f"{len(rows):,}")
    write_text(arguments.output, render_page(examples))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_tables(parser, "--domain", ("NAME", "TITLE"), "keywords of one domain (TSV)", required=True)
    add_tables(parser, "--vocabulary", ("DOMAIN", "VARIANT"), "terms of its keywords (TSV)")
    add_tables(parser, "--pairs", ("DOMAIN", "VARIANT"), "pairs of one benchmark (parquet)")
    add_tables(parser, "--tokens", ("DOMAIN", "MODEL"), "tokens of its keywords (parquet)")
    parser.add_argument("--output", type=Path, required=True, help="all tables (Markdown)")
    parser.add_argument("--keywords", type=Path, required=True, help="keywords (CSV)")
    parser.add_argument("--terms", type=Path, required=True, help="target vocabularies and tokens (CSV)")
    parser.add_argument("--chosen", type=Path, required=True, help="pairs (CSV)")
    run_program(parser, main)
