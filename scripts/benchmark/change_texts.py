"""Make a control of a domain's training text: its terms exchanged, or only the sentences with terms."""

import argparse
from pathlib import Path

from fathom.config.benchmark import Sentences
from fathom.config.model_names import CONTROLS
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import read_delimited
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import add_settings, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read texts and the terms of all vocabularies, change the texts, write them."""
    from fathom.benchmark.control_texts import exchange_terms, keep_term_sentences
    from fathom.corpus.sentences import load_splitter

    settings = read_settings(arguments.settings, Sentences)
    texts = read_table(arguments.texts, TEXTS)
    tables = [read_delimited(path, "\t", ("keyword", "term")) for path in arguments.vocabularies]
    terms = {row["term"].strip() for table in tables for row in table}
    if arguments.text == "terms-only":
        changed = keep_term_sentences(texts, terms, load_splitter(settings.splitter))
    else:
        changed = exchange_terms(texts, terms)
    write_table(arguments.output, changed, TEXTS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="texts of a domain (parquet)")
    parser.add_argument(
        "--vocabularies", type=Path, nargs="+", required=True, help="vocabularies of its benchmarks (TSV)"
    )
    parser.add_argument("--text", choices=CONTROLS, required=True, help="what is made of them")
    parser.add_argument("--output", type=Path, required=True, help="table of texts to write")
    add_settings(parser, Sentences)
    run_program(parser, main)
