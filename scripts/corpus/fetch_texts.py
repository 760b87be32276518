"""Write the training text of a domain, from a data set of the Hugging Face hub or from files."""

import argparse
from pathlib import Path

from fathom.config.corpus import TextSource
from fathom.io.contracts.corpus import TEXTS
from fathom.io.tables import write_table
from fathom.jobs.program import add_settings, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read documents up to the limit, draw those to validate on, write the table."""
    from fathom.corpus.text_sources import gather_texts, read_source

    source = read_settings(arguments.settings, TextSource)
    where = f"models.texts.{arguments.domain}"
    texts = gather_texts(read_source(source, where), source.valid, arguments.max_characters, where)
    write_table(arguments.output, texts, TEXTS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--max-characters", type=int, required=True, help="most characters of training text")
    parser.add_argument("--output", type=Path, required=True, help="table of texts to write")
    add_settings(parser, TextSource)
    run_program(parser, main)
